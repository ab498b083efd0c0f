// Package agentwire is what harvest-agent and the server say to each other: the messages of
// the contract that plain agents speak, and the additions that an agent announces. The page
// docs/agent-wire.md tells it in words. It stands on the standard library alone, for it is a
// part of the small agent.
package agentwire

import "time"

// Capability is an addition to the wire that an agent announces as it connects, in the query
// parameter "capabilities" of GET /agent/events, joined by commas.
type Capability string

// The capabilities.
const (
	// Ack: what was delivered is kept on the agent's disk, is answered from there when it is
	// delivered again, and is posted again until the server has it.
	Ack Capability = "ack"
	// Bytes: output travels as base64, so that no byte is lost.
	Bytes Capability = "bytes"
	// Batch: output travels in chunks with their place in the stream.
	Batch Capability = "batch"
	// Cancel: a command that runs can be canceled.
	Cancel Capability = "cancel"
	// Env: variables are set in the environment of a command.
	Env Capability = "env"
)

// All lists the capabilities of this version's agent.
func All() []Capability { return []Capability{Ack, Bytes, Batch, Cancel, Env} }

// The query parameters of GET /agent/events.
const (
	ParamHostname     = "hostname"
	ParamMachine      = "machine" // an id that the agent made once, on its disk; absent of plain agents
	ParamVersion      = "version"
	ParamCapabilities = "capabilities"
)

// The bounds of the wire.
const (
	KeepAlive   = 25 * time.Second // between comments of the event stream
	PingEvery   = 30 * time.Second // between POST /agent/ping
	DeadAfter   = 45 * time.Second // a connection on which nothing came for so long is dead, seen from either end
	GoodAfter   = KeepAlive        // a connection that lasted for so long is a good one: it was more than a greeting
	HeadBytes   = 1 << 20          // of each stream, kept from its beginning
	TailBytes   = 1 << 20          // of each stream, kept from its end, behind the cut
	MaxChunks   = 256 << 10        // bytes of output in one POST /agent/output, decoded
	MaxResult   = 8 << 20          // bytes of the body of POST /agent/results, without stdout and stderr of plain agents
	MaxPlain    = 256 << 20        // bytes of that body with these, of which beginning and end are kept
	MaxFrame    = 64 << 10         // bytes of a frame of a console or a tunnel
	ClaimWithin = 15 * time.Second // for the agent to claim a session that it was told to open
)

// MessageType names a message to the agent.
type MessageType string

// The messages to the agent. Agents ignore types that they don't know.
const (
	Registered  MessageType = "registered"  // {agent_token, agent_id}: the permanent token, to be stored before it is used
	HelloAck    MessageType = "hello_ack"   // {agent_id}
	Execute     MessageType = "execute"     // {request_id, command, timeout_secs, env, begun}
	CancelRun   MessageType = "cancel"      // {request_id, begun}: to agents with Cancel
	OpenShell   MessageType = "open_shell"  // {session_id, cols, rows}
	OpenTunnel  MessageType = "open_tunnel" // {session_id, port}
	Uninstall   MessageType = "uninstall"
	ErrorNotice MessageType = "error" // {message}
)

// Message is one message to the agent: the JSON of an event's data.
type Message struct {
	Type        MessageType       `json:"type"`
	AgentToken  string            `json:"agent_token,omitempty"`
	AgentID     string            `json:"agent_id,omitempty"`
	RequestID   string            `json:"request_id,omitempty"`
	Command     string            `json:"command,omitempty"` // a line for bash -c
	TimeoutSecs int               `json:"timeout_secs,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	Begun       bool              `json:"begun,omitempty"` // an agent of this machine has said that it began
	SessionID   string            `json:"session_id,omitempty"`
	Cols        int               `json:"cols,omitempty"`
	Rows        int               `json:"rows,omitempty"`
	Port        int               `json:"port,omitempty"`
	Message     string            `json:"message,omitempty"`
}

// Stream names an output of a command.
type Stream string

// The streams.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Started is the body of POST /agent/started, of agents with Ack: the command is in the
// journal, and is about to run or has run.
type Started struct {
	RequestID string `json:"request_id"`
}

// Output is the body of POST /agent/output: a line of a plain agent, or the chunks of one
// with Batch, in the order in which they were read.
type Output struct {
	RequestID string  `json:"request_id"`
	Stream    Stream  `json:"stream,omitempty"`
	Line      string  `json:"line,omitempty"`
	Chunks    []Chunk `json:"chunks,omitempty"`
	// StdoutBytes and StderrBytes are what the command has written so far: more than the
	// chunks reach to where the head is full.
	StdoutBytes int64 `json:"stdout_bytes,omitempty"`
	StderrBytes int64 `json:"stderr_bytes,omitempty"`
}

// Chunk is a piece of the head of a stream.
type Chunk struct {
	Stream Stream `json:"stream"`
	Offset int64  `json:"offset"` // bytes of the stream before it
	Data   []byte `json:"data"`   // in base64
}

// OutputTaken answers POST /agent/output: how much of each stream the server has. It may be
// less than was sent, and the agent goes on from there, or more than the agent thought.
type OutputTaken struct {
	OK     bool  `json:"ok"`
	Stdout int64 `json:"stdout"`
	Stderr int64 `json:"stderr"`
	Over   bool  `json:"over,omitempty"` // the command has ended for the server: no more output is wanted
}

// Outcome says how a command ended.
type Outcome string

// The outcomes that an agent reports. A plain agent reports none, which is Exited.
const (
	Exited     Outcome = "exited"
	TimedOut   Outcome = "timed_out"   // it and all its descendants were ended at its time limit
	Canceled   Outcome = "canceled"    // likewise, when it was asked for
	NotStarted Outcome = "not_started" // it never ran, and never will; Error says why
	Unknown    Outcome = "unknown"     // it ran, and how it ended can't be told; Error says why
)

// Result is the body of POST /agent/results. It is whole: the server needs no earlier post.
type Result struct {
	RequestID string `json:"request_id"`
	Stdout    string `json:"stdout"` // of plain agents
	Stderr    string `json:"stderr"`
	ExitCode  *int   `json:"exit_code"` // null where there is none; 128 + n for a signal n, as shells have it

	// Of agents with Bytes.
	Outcome     Outcome `json:"outcome,omitempty"`
	Error       string  `json:"error,omitempty"`
	StdoutHead  []byte  `json:"stdout_head,omitempty"` // in base64; the first HeadBytes
	StdoutTail  []byte  `json:"stdout_tail,omitempty"` // the last TailBytes behind the head
	StdoutBytes int64   `json:"stdout_bytes,omitempty"`
	StderrHead  []byte  `json:"stderr_head,omitempty"`
	StderrTail  []byte  `json:"stderr_tail,omitempty"`
	StderrBytes int64   `json:"stderr_bytes,omitempty"`
	DurationMS  int64   `json:"duration_ms,omitempty"`
	// Swept is how many processes that the command left behind were ended with it.
	Swept int `json:"swept,omitempty"`
}

// ResultTaken answers POST /agent/results once the result is committed: the agent may forget
// all but the id.
type ResultTaken struct {
	OK bool `json:"ok"`
}

// FrameType names a text frame of a console or a tunnel. Binary frames are bytes.
type FrameType string

// The text frames.
const (
	Ready      FrameType = "ready"     // agent → browser
	ExitedWith FrameType = "exited"    // {code}, agent → browser; null where it has none
	Resize     FrameType = "resize"    // {cols, rows}, browser → agent
	Connected  FrameType = "connected" // agent → server, of a tunnel
	FrameError FrameType = "error"     // {message}
)

// Frame is a text frame.
type Frame struct {
	Type    FrameType `json:"type"`
	Code    *int      `json:"code,omitempty"`
	Cols    int       `json:"cols,omitempty"`
	Rows    int       `json:"rows,omitempty"`
	Message string    `json:"message,omitempty"`
}

package domain

import "time"

// CommandStatus is the state of a command on a machine.
type CommandStatus string

// The states of a command. Those after running are final.
const (
	CommandPending   CommandStatus = "pending"   // waits for a person's approval
	CommandQueued    CommandStatus = "queued"    // waits for its agent to connect
	CommandDelivered CommandStatus = "delivered" // was sent, or is being sent; it may run from here on
	CommandRunning   CommandStatus = "running"   // the agent said so
	CommandDone      CommandStatus = "done"      // ended by itself, with an exit code
	CommandTimedOut  CommandStatus = "timed_out" // ended at its time limit
	CommandCanceled  CommandStatus = "canceled"
	CommandFailed    CommandStatus = "failed"   // the agent could not start it: it never ran
	CommandExpired   CommandStatus = "expired"  // its agent was away too long: it never ran
	CommandRejected  CommandStatus = "rejected" // nobody approved it: it never ran
	CommandUnknown   CommandStatus = "unknown"  // it was delivered, and how it ended can't be known
)

// Over reports whether s is final.
func (s CommandStatus) Over() bool {
	switch s {
	case CommandPending, CommandQueued, CommandDelivered, CommandRunning:
		return false
	}
	return true
}

// Known reports whether s is one of the states.
func (s CommandStatus) Known() bool {
	switch s {
	case CommandPending, CommandQueued, CommandDelivered, CommandRunning, CommandDone, CommandTimedOut,
		CommandCanceled, CommandFailed, CommandExpired, CommandRejected, CommandUnknown:
		return true
	}
	return false
}

// The bounds of a command.
const (
	DefaultCommandTimeout = 30 * time.Second // as the contract has it
	MaxCommandTimeout     = 300 * time.Second
	MaxToolTimeout        = 30 * time.Minute // of run_command
	DefaultCommandWait    = 60 * time.Second // for an agent that is away
	MaxCommandWait        = 24 * time.Hour
	MaxCommandBytes       = 128 << 10 // of the command line: what Linux takes as one argument
)

// CommandOrder asks for a command. Its ID makes it one and the same however often it is asked.
type CommandOrder struct {
	ID          string
	ProjectID   string
	AgentID     string
	Command     string // a line for bash
	Description string // what it is for, in the asker's words
	// Env holds variables for its environment; values may be handles of secrets, which are
	// replaced as it is delivered and stored nowhere.
	Env     map[string]string
	Timeout time.Duration // of its run
	Wait    time.Duration // for its agent to connect
	UserID  string        // who asked, or whose turn did
	TurnID  string        // "" for a person's own
	CallID  string
	Pending bool // it waits for approval, as an action of the same id
}

// Command is a command on a machine, as it stands.
type Command struct {
	CommandOrder
	Hostname    string
	Status      CommandStatus
	ExitCode    *int
	Error       string // why there is no exit code
	Stdout      CommandOutput
	Stderr      CommandOutput
	Swept       int // processes that it left behind and that were ended with it
	CreatedAt   time.Time
	DeliverBy   time.Time  // where it is queued still then, it expires
	DeliveredAt *time.Time // when it was sent first
	StartedAt   *time.Time
	ResultBy    *time.Time // where it has not ended then, it is unknown
	EndedAt     *time.Time

	CancelRequested bool
	Launched        bool // its workflow was started

	// Taken is how much of each stream the log of the command has, in bytes as the agent counts
	// them: the next chunk begins there.
	Taken map[string]int64
	Late  *CommandLate // nil where nothing came after its end
}

// CommandLate is what an agent told of a command that had ended otherwise by then. Its output
// stands with the command; its status changes nothing any more.
type CommandLate struct {
	Status   CommandStatus `json:"status"`
	ExitCode *int          `json:"exit_code"`
	Error    string        `json:"error,omitempty"`
	At       time.Time     `json:"at"`
}

// CommandOutput is what is kept of an output: its beginning, and behind a cut its end.
type CommandOutput struct {
	Head  []byte
	Tail  []byte
	Bytes int64 // that the command wrote
}

// Cut gives the bytes that are missing between head and tail.
func (o CommandOutput) Cut() int64 {
	return max(0, o.Bytes-int64(len(o.Head))-int64(len(o.Tail)))
}

// CommandEnd is how an agent says that a command ended.
type CommandEnd struct {
	CommandID string
	Status    CommandStatus
	ExitCode  *int
	Error     string
	Stdout    CommandOutput
	Stderr    CommandOutput
	Swept     int
	// Rest is what the log lacks of the heads. The first chunk of a stream begins where the
	// log of the command ends; where the log has grown since Command.Taken was read, that is
	// superseded, and is read again.
	Rest []CommandChunk
}

// The streams of a command's output.
const (
	StreamStdout = "stdout"
	StreamStderr = "stderr"
)

// CommandHeadBytes is how much of each stream the log of a command takes: its beginning.
const CommandHeadBytes = 1 << 20

// CommandChunk is a piece of a stream of a command's output.
type CommandChunk struct {
	Stream string // stdout or stderr
	Offset int64  // bytes of the stream before it, as the agent counts them, whatever was scrubbed
	Data   []byte
}

// CommandDelivery is a command on its way to its agent.
type CommandDelivery struct {
	Command
	Again bool // it was delivered before: the agent answers from its journal
	// Cancel says that it is to be canceled, and nothing else: an agent that does not know it
	// must not begin it.
	Cancel bool
	// Barred says what keeps the person out who asked for it; "" for nothing.
	Barred string
}

// Page asks for a part of a list, the newest first.
type Page struct {
	Before string // the id after which the part begins; "": at the newest
	Limit  int    // 0 for the standard
}

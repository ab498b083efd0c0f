package domain

import "time"

// CommandInfo is a command as people and programs are told of it.
type CommandInfo struct {
	ID              string            `json:"id"`
	ProjectID       string            `json:"project_id"`
	AgentID         string            `json:"agent_id"`
	Hostname        string            `json:"hostname"`
	Command         string            `json:"command"`
	Description     string            `json:"description"`
	Env             map[string]string `json:"env,omitempty"` // handles of secrets, never their values
	Status          CommandStatus     `json:"status"`
	ExitCode        *int              `json:"exit_code"`
	Error           string            `json:"error"`
	UserID          string            `json:"user_id"`
	TurnID          string            `json:"turn_id"` // "" for a person's own
	CallID          string            `json:"call_id"`
	TimeoutSecs     int               `json:"timeout_secs"`
	CancelRequested bool              `json:"cancel_requested"`
	Swept           int               `json:"swept"` // processes that it left behind, which were ended
	StdoutBytes     int64             `json:"stdout_bytes"`
	StderrBytes     int64             `json:"stderr_bytes"`
	CreatedAt       time.Time         `json:"created_at"`
	DeliverBy       time.Time         `json:"deliver_by"`
	DeliveredAt     *time.Time        `json:"delivered_at"`
	StartedAt       *time.Time        `json:"started_at"`
	ResultBy        *time.Time        `json:"result_by"`
	EndedAt         *time.Time        `json:"ended_at"`
}

// Info gives what is told of c.
func (c Command) Info() CommandInfo {
	return CommandInfo{
		ID: c.ID, ProjectID: c.ProjectID, AgentID: c.AgentID, Hostname: c.Hostname, Command: c.Command, Description: c.Description, Env: c.Env,
		Status: c.Status, ExitCode: c.ExitCode, Error: c.Error, UserID: c.UserID, TurnID: c.TurnID, CallID: c.CallID,
		TimeoutSecs: int(c.Timeout / time.Second), CancelRequested: c.CancelRequested, Swept: c.Swept,
		StdoutBytes: c.Stdout.Bytes, StderrBytes: c.Stderr.Bytes, CreatedAt: c.CreatedAt, DeliverBy: c.DeliverBy,
		DeliveredAt: c.DeliveredAt, StartedAt: c.StartedAt, ResultBy: c.ResultBy, EndedAt: c.EndedAt,
	}
}

// CommandDetail is a command with what is kept of its output.
type CommandDetail struct {
	CommandInfo
	Stdout CommandKept  `json:"stdout"`
	Stderr CommandKept  `json:"stderr"`
	Late   *CommandLate `json:"late,omitempty"` // what its machine told after its end; nil for nothing
}

// Detail gives what is told of c, with its output.
func (c Command) Detail() CommandDetail {
	return CommandDetail{c.Info(), c.Stdout.kept(), c.Stderr.kept(), c.Late}
}

// CommandKept is what is kept of an output, in base64: its beginning, and behind a cut its end.
type CommandKept struct {
	Head  []byte `json:"head"`
	Tail  []byte `json:"tail"`
	Bytes int64  `json:"bytes"` // that the command wrote
	Cut   int64  `json:"cut"`   // bytes that are missing between head and tail
}

func (o CommandOutput) kept() CommandKept {
	return CommandKept{Head: append([]byte{}, o.Head...), Tail: append([]byte{}, o.Tail...), Bytes: o.Bytes, Cut: o.Cut()}
}

package api

import (
	"context"
	"iter"
	"net/http"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// commandRoutes are those of the commands that run on machines.
func (s *Server) commandRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	const under = "/projects/:pid/agents/:aid"
	return []route{
		{post, under + "/execute", member.acts(domain.ToolRunCommand).audited(), commandBody, endpoint(s, http.StatusOK, s.execute)},
		{get, under + "/commands", member, noBody, endpoint(s, http.StatusOK, s.agentCommands)},
		{get, under + "/commands/:id", member, noBody, endpoint(s, http.StatusOK, s.agentCommand)},
		{get, under + "/commands/:id/events", member, noBody, stream(s, s.commandEvents)},
		{post, under + "/commands/:id/cancel", member.audited(), noBody, endpoint(s, http.StatusAccepted, s.cancelCommand)},
		{get, "/commands/:id", person, noBody, endpoint(s, http.StatusOK, s.command)},
	}
}

// commandInfo is a command as clients see it.
type commandInfo struct {
	ID              string               `json:"id"`
	ProjectID       string               `json:"project_id"`
	AgentID         string               `json:"agent_id"`
	Hostname        string               `json:"hostname"`
	Command         string               `json:"command"`
	Description     string               `json:"description"`
	Env             map[string]string    `json:"env,omitempty"` // handles of secrets, never their values
	Status          domain.CommandStatus `json:"status"`
	ExitCode        *int                 `json:"exit_code"`
	Error           string               `json:"error"`
	UserID          string               `json:"user_id"`
	TurnID          string               `json:"turn_id"`
	CallID          string               `json:"call_id"`
	TimeoutSecs     int                  `json:"timeout_secs"`
	CancelRequested bool                 `json:"cancel_requested"`
	Swept           int                  `json:"swept"` // processes that it left behind, which were ended
	StdoutBytes     int64                `json:"stdout_bytes"`
	StderrBytes     int64                `json:"stderr_bytes"`
	CreatedAt       time.Time            `json:"created_at"`
	DeliverBy       time.Time            `json:"deliver_by"`
	DeliveredAt     *time.Time           `json:"delivered_at"`
	StartedAt       *time.Time           `json:"started_at"`
	ResultBy        *time.Time           `json:"result_by"`
	EndedAt         *time.Time           `json:"ended_at"`
}

func commandInfoOf(c domain.Command) commandInfo {
	return commandInfo{
		ID: c.ID, ProjectID: c.ProjectID, AgentID: c.AgentID, Hostname: c.Hostname, Command: c.Command, Description: c.Description, Env: c.Env,
		Status: c.Status, ExitCode: c.ExitCode, Error: c.Error, UserID: c.UserID, TurnID: c.TurnID, CallID: c.CallID,
		TimeoutSecs: int(c.Timeout / time.Second), CancelRequested: c.CancelRequested, Swept: c.Swept,
		StdoutBytes: c.Stdout.Bytes, StderrBytes: c.Stderr.Bytes, CreatedAt: c.CreatedAt, DeliverBy: c.DeliverBy,
		DeliveredAt: c.DeliveredAt, StartedAt: c.StartedAt, ResultBy: c.ResultBy, EndedAt: c.EndedAt,
	}
}

// commandDetail is a command with what is kept of its output.
type commandDetail struct {
	commandInfo
	Stdout commandOutput       `json:"stdout"`
	Stderr commandOutput       `json:"stderr"`
	Late   *domain.CommandLate `json:"late,omitempty"`
}

// commandOutput is what is kept of an output, in base64.
type commandOutput struct {
	Head  []byte `json:"head"`
	Tail  []byte `json:"tail"`
	Bytes int64  `json:"bytes"`
	Cut   int64  `json:"cut"`
}

func commandOutputOf(o domain.CommandOutput) commandOutput {
	return commandOutput{Head: listed(o.Head), Tail: listed(o.Tail), Bytes: o.Bytes, Cut: o.Cut()}
}

// commandPage is a part of a list of commands.
type commandPage struct {
	Commands   []commandInfo `json:"commands"`
	NextCursor string        `json:"next_cursor,omitempty"` // absent on the last page
}

// agentCommands answers GET …/agents/:aid/commands.
func (s *Server) agentCommands(ctx context.Context, r request[none]) (commandPage, error) {
	size, err := readLimit(r.query.Get("limit"), defaultPage, maxPage)
	if err != nil {
		return commandPage{}, err
	}
	if _, err := s.Agents.Agent(ctx, r.project.ID, r.path["aid"]); err != nil {
		return commandPage{}, err
	}
	list, err := s.Commands.AgentCommands(ctx, r.project.ID, r.path["aid"], domain.Page{Before: r.query.Get("cursor"), Limit: size + 1})
	if err != nil {
		return commandPage{}, err
	}
	page := commandPage{Commands: []commandInfo{}}
	for i, c := range list {
		if i == size { // one more tells whether there is more
			page.NextCursor = list[size-1].ID
			break
		}
		page.Commands = append(page.Commands, commandInfoOf(c))
	}
	return page, nil
}

// pathCommand loads the command that a path names: of the project, and of the agent.
func (s *Server) pathCommand(ctx context.Context, r request[none]) (domain.Command, error) {
	c, err := s.Commands.Command(ctx, r.project.ID, r.path["id"])
	if err != nil || c.AgentID == r.path["aid"] {
		return c, err
	}
	if _, err := s.Agents.Agent(ctx, r.project.ID, r.path["aid"]); err != nil {
		return domain.Command{}, err // another project's, maybe
	}
	return domain.Command{}, domain.NotFound("this machine has no command %q", r.path["id"])
}

// agentCommand answers GET …/agents/:aid/commands/:id.
func (s *Server) agentCommand(ctx context.Context, r request[none]) (commandDetail, error) {
	return commandDetailOf(s.pathCommand(ctx, r))
}

func commandDetailOf(c domain.Command, err error) (commandDetail, error) {
	return commandDetail{commandInfoOf(c), commandOutputOf(c.Stdout), commandOutputOf(c.Stderr), c.Late}, err
}

// command answers GET /commands/:id, of a project that the caller may see.
func (s *Server) command(ctx context.Context, r request[none]) (commandDetail, error) {
	c, err := s.Commands.CommandByID(ctx, r.path["id"])
	if err != nil {
		return commandDetail{}, err
	}
	project, err := s.Projects.Project(ctx, c.ProjectID)
	if err == nil && !project.VisibleTo(r.caller.Actor) || domain.CodeOf(err) == domain.CodeNotFound {
		err = domain.Hidden("there is no command %q", c.ID)
	}
	if err != nil {
		return commandDetail{}, err
	}
	return commandDetailOf(s.Commands.Command(ctx, c.ProjectID, c.ID))
}

// commandEvents answers GET …/agents/:aid/commands/:id/events.
func (s *Server) commandEvents(ctx context.Context, r request[none]) (followed, error) {
	c, err := s.pathCommand(ctx, r)
	return followed{
		over: c.Status.Over(),
		events: func(ctx context.Context, after domain.Cursor) iter.Seq2[domain.Event, error] {
			return s.Commands.FollowCommand(ctx, c.ID, after)
		},
	}, err
}

// cancelCommand answers POST …/agents/:aid/commands/:id/cancel with the command as it stands.
func (s *Server) cancelCommand(ctx context.Context, r request[none]) (commandInfo, error) {
	c, err := s.pathCommand(ctx, r)
	if err != nil {
		return commandInfo{}, err
	}
	c, err = s.Commands.CancelCommand(ctx, r.project.ID, c.ID, r.caller.Actor)
	return commandInfoOf(c), err
}

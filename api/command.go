package api

import (
	"context"
	"iter"
	"net/http"

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

// commandPage is a part of a list of commands.
type commandPage struct {
	Commands   []domain.CommandInfo `json:"commands"`
	NextCursor string               `json:"next_cursor,omitempty"` // absent on the last page
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
	page := commandPage{Commands: []domain.CommandInfo{}}
	for i, c := range list {
		if i == size { // one more tells whether there is more
			page.NextCursor = list[size-1].ID
			break
		}
		page.Commands = append(page.Commands, c.Info())
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
func (s *Server) agentCommand(ctx context.Context, r request[none]) (domain.CommandDetail, error) {
	c, err := s.pathCommand(ctx, r)
	return c.Detail(), err
}

// command answers GET /commands/:id, of a project that the caller may see.
func (s *Server) command(ctx context.Context, r request[none]) (domain.CommandDetail, error) {
	c, err := s.Commands.CommandByID(ctx, r.path["id"])
	if err != nil {
		return domain.CommandDetail{}, err
	}
	project, err := s.Projects.Project(ctx, c.ProjectID)
	if err == nil && !project.VisibleTo(r.caller.Actor) || domain.CodeOf(err) == domain.CodeNotFound {
		err = domain.Hidden("there is no command %q", c.ID)
	}
	if err != nil {
		return domain.CommandDetail{}, err
	}
	c, err = s.Commands.Command(ctx, c.ProjectID, c.ID)
	return c.Detail(), err
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
func (s *Server) cancelCommand(ctx context.Context, r request[none]) (domain.CommandInfo, error) {
	c, err := s.pathCommand(ctx, r)
	if err != nil {
		return domain.CommandInfo{}, err
	}
	c, err = s.Commands.CancelCommand(ctx, r.project.ID, c.ID, r.caller.Actor)
	return c.Info(), err
}

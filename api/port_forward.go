package api

import (
	"context"
	"maps"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// portForwards answers GET /projects/:pid/agents/:aid/port-forwards.
func (s *Server) portForwards(ctx context.Context, r request[none]) ([]domain.PortForward, error) {
	list, err := listing(s.Forwards.PortForwards(ctx, r.project.ID, r.path["aid"]))
	for i := range list {
		list[i] = s.reached(list[i])
	}
	return list, err
}

// portForwardBody is the body of a change, which leaves out what stays.
type portForwardBody struct {
	Port      *int    `json:"port"`
	RouteName *string `json:"route_name"`
}

// newPortForward is the body of POST …/port-forwards.
type newPortForward struct {
	Port      *int    `json:"port"`
	RouteName *string `json:"route_name"`
}

func (b *newPortForward) validate() error {
	switch {
	case b.Port == nil:
		return domain.Invalid("port", "is missing; give the port of the machine")
	case b.RouteName == nil:
		return domain.Invalid("route_name", "is missing; give the name under which it is reached")
	}
	return domain.PortForward{Port: *b.Port, RouteName: *b.RouteName}.Check()
}

// createPortForward answers POST …/port-forwards.
func (s *Server) createPortForward(ctx context.Context, r request[newPortForward]) (domain.PortForward, error) {
	f := domain.PortForward{ProjectID: r.project.ID, AgentID: r.path["aid"], Port: *r.body.Port, RouteName: *r.body.RouteName}
	made, err := s.Forwards.CreatePortForward(ctx, f, domain.Author{UserID: r.caller.UserID})
	if err == nil {
		input := map[string]any{"agent_id": f.AgentID, "port": f.Port, "route_name": f.RouteName}
		acted(ctx, input, with(input, map[string]any{"hostname": made.Hostname}))
	}
	return s.reached(made), err
}

// changedPortForward is the answer to a changed port forward.
type changedPortForward struct {
	OK bool `json:"ok"`
	domain.PortForward
}

// updatePortForward answers PUT …/port-forwards/:fid.
func (s *Server) updatePortForward(ctx context.Context, r request[portForwardBody]) (changedPortForward, error) {
	at := domain.PortForward{ID: r.path["fid"], AgentID: r.path["aid"], ProjectID: r.project.ID}
	shown := s.shownForward(ctx, at)
	now, err := s.Forwards.UpdatePortForward(ctx, at, domain.PortForwardChange{Port: r.body.Port, RouteName: r.body.RouteName})
	if err == nil {
		input := map[string]any{"agent_id": at.AgentID, "id": at.ID}
		if r.body.Port != nil {
			input["port"] = *r.body.Port
		}
		if r.body.RouteName != nil {
			input["route_name"] = *r.body.RouteName
		}
		acted(ctx, input, with(input, shown))
	}
	return changedPortForward{err == nil, s.reached(now)}, err
}

// deletePortForward answers DELETE …/port-forwards/:fid.
func (s *Server) deletePortForward(ctx context.Context, r request[none]) (done, error) {
	shown := s.shownForward(ctx, domain.PortForward{ID: r.path["fid"], AgentID: r.path["aid"], ProjectID: r.project.ID})
	err := s.Forwards.DeletePortForward(ctx, r.project.ID, r.path["aid"], r.path["fid"])
	if err == nil {
		input := map[string]any{"agent_id": r.path["aid"], "id": r.path["fid"]}
		acted(ctx, input, with(input, shown))
	}
	return done{err == nil}, err
}

// shownForward gives what the input of a call that asked says of a port forward as it is now;
// nothing where it can't be told.
func (s *Server) shownForward(ctx context.Context, at domain.PortForward) map[string]any {
	list, _ := s.Forwards.PortForwards(ctx, at.ProjectID, at.AgentID) // what is wrong is said by who changes it
	for _, f := range list {
		if f.ID == at.ID {
			return map[string]any{"hostname": f.Hostname, "was_port": f.Port, "was_route_name": f.RouteName}
		}
	}
	return nil
}

// with gives an input with more fields.
func with(input, more map[string]any) map[string]any {
	all := maps.Clone(input)
	maps.Copy(all, more)
	return all
}

// reached says where a port forward is reached: at the server's own address, where that is known.
func (s *Server) reached(f domain.PortForward) domain.PortForward {
	if f.ID != "" {
		f.URL = strings.TrimSuffix(s.PublicURL, "/") + domain.ForwardPath(f.AgentID, f.RouteName)
	}
	return f
}

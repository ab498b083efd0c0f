package api

import (
	"context"
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
		acted(ctx, map[string]any{"agent_id": f.AgentID, "port": f.Port, "route_name": f.RouteName})
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
	now, err := s.Forwards.UpdatePortForward(ctx, at, domain.PortForwardChange{Port: r.body.Port, RouteName: r.body.RouteName})
	if err == nil {
		input := map[string]any{"agent_id": at.AgentID, "id": at.ID}
		if r.body.Port != nil {
			input["port"] = *r.body.Port
		}
		if r.body.RouteName != nil {
			input["route_name"] = *r.body.RouteName
		}
		acted(ctx, input)
	}
	return changedPortForward{err == nil, s.reached(now)}, err
}

// deletePortForward answers DELETE …/port-forwards/:fid.
func (s *Server) deletePortForward(ctx context.Context, r request[none]) (done, error) {
	err := s.Forwards.DeletePortForward(ctx, r.project.ID, r.path["aid"], r.path["fid"])
	if err == nil {
		acted(ctx, map[string]any{"agent_id": r.path["aid"], "id": r.path["fid"]})
	}
	return done{err == nil}, err
}

// reached says where a port forward is reached: at the server's own address, where that is known.
func (s *Server) reached(f domain.PortForward) domain.PortForward {
	if f.ID != "" {
		f.URL = strings.TrimSuffix(s.PublicURL, "/") + domain.ForwardPath(f.AgentID, f.RouteName)
	}
	return f
}

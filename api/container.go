package api

import (
	"context"
	"iter"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

// The tools that routes of machines act as.
const (
	toolCreateLXDAgent = "create_lxd_agent"
	toolDeleteAgent    = "delete_agent"
)

// Machines makes agents in containers, and changes and removes agents.
type Machines interface {
	// MakesContainers reports whether there is an LXD server that can be used now.
	MakesContainers() bool
	// JoinLXD makes the LXD server trust this installation: invalid, conflict, or unavailable
	// with what is in the way.
	JoinLXD(ctx context.Context, token string) error
	// Flavors lists the sizes of containers, or gives unavailable where none are made.
	Flavors() ([]domain.Flavor, error)
	// StartProvision begins to make an agent in a container, or gives what the same id or key
	// began. Errors: invalid; unavailable without an LXD server; unprocessable for a key that
	// came with another order.
	StartProvision(ctx context.Context, order domain.ProvisionOrder) (domain.Provision, error)
	// Provision gives one of a project, or not_found.
	Provision(ctx context.Context, projectID, id string) (domain.Provision, error)
	// AwaitProvision waits for its end; an end of ctx ends the wait alone.
	AwaitProvision(ctx context.Context, projectID, id string) (domain.Provision, error)
	// FollowProvision gives its events after the cursor, like Turns.Follow.
	FollowProvision(ctx context.Context, id string, after domain.Cursor) iter.Seq2[domain.Event, error]
	// CancelProvision asks it to stop; conflict where it has ended.
	CancelProvision(ctx context.Context, projectID, id string) (domain.Provision, error)
	// ChangeAgent starts, stops or restarts the container of an agent: invalid for one in none.
	ChangeAgent(ctx context.Context, projectID, agentID string, action domain.ContainerAction) error
	// RemoveAgent removes an agent, and the container that it is in first.
	RemoveAgent(ctx context.Context, projectID, agentID string) error
}

// containerRoutes are those of agents in containers.
func (s *Server) containerRoutes() []route {
	get, post := http.MethodGet, http.MethodPost
	const under = "/projects/:pid/agents"
	return []route{
		{post, "/admin/lxd/token", admin, defaultBody, endpoint(s, http.StatusOK, s.joinLXD)},
		{get, under + "/flavors", member, noBody, endpoint(s, http.StatusOK, s.flavors)},
		{post, under + "/lxd", member.audited().acts(toolCreateLXDAgent), defaultBody, s.provisionAgent()},
		{get, under + "/lxd/:provision_id", member, noBody, endpoint(s, http.StatusOK, s.provision)},
		{get, under + "/lxd/:provision_id/events", member, noBody, stream(s, s.provisionEvents)},
		{post, under + "/lxd/:provision_id/cancel", member.audited(), noBody, endpoint(s, http.StatusAccepted, s.cancelProvision)},
		{post, under + "/:aid/start", member.audited(), noBody, endpoint(s, http.StatusOK, s.changeAgent(domain.ContainerStart))},
		{post, under + "/:aid/stop", member.audited(), noBody, endpoint(s, http.StatusOK, s.changeAgent(domain.ContainerStop))},
		{post, under + "/:aid/restart", member.audited(), noBody, endpoint(s, http.StatusOK, s.changeAgent(domain.ContainerRestart))},
	}
}

// trustToken is the body of POST /admin/lxd/token.
type trustToken struct {
	TrustToken string `json:"trust_token"`
}

// joinLXD answers POST /admin/lxd/token.
func (s *Server) joinLXD(ctx context.Context, r request[trustToken]) (done, error) {
	err := s.Machines.JoinLXD(ctx, r.body.TrustToken)
	return done{err == nil}, err
}

// flavors answers GET /projects/:pid/agents/flavors.
func (s *Server) flavors(context.Context, request[none]) ([]domain.Flavor, error) {
	return s.Machines.Flavors()
}

// newContainer is the body of POST /projects/:pid/agents/lxd.
type newContainer struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Flavor      string `json:"flavor"`
}

// provisionInfo is the making of an agent as clients see it.
type provisionInfo struct {
	ID          string                 `json:"provision_id"`
	Name        string                 `json:"name"`
	Description string                 `json:"description"`
	Flavor      string                 `json:"flavor"`
	Instance    string                 `json:"instance"`
	Status      domain.ProvisionStatus `json:"status"`
	Phase       domain.ProvisionPhase  `json:"phase"`          // "" before the first
	Note        string                 `json:"note,omitempty"` // what goes on in it
	Error       string                 `json:"error,omitempty"`
	CreatedAt   time.Time              `json:"created_at"`
	EndedAt     *time.Time             `json:"ended_at"`
}

func provisionOf(p domain.Provision) provisionInfo {
	return provisionInfo{
		ID: p.ID, Name: p.Name, Description: p.Description, Flavor: p.Flavor, Instance: p.Instance,
		Status: p.Status, Phase: p.Phase, Note: p.Note, Error: p.Error, CreatedAt: p.CreatedAt, EndedAt: p.EndedAt,
	}
}

// provisionAgent answers POST /projects/:pid/agents/lxd: with the events of what it begins, or
// where JSON is asked for, with how that ended. Who leaves does not stop it.
func (s *Server) provisionAgent() gin.HandlerFunc {
	whole := endpoint(s, http.StatusOK, s.provisionWhole)
	return func(c *gin.Context) {
		if wantsJSON(c.Request.Header) {
			whole(c)
			return
		}
		stream(s, func(ctx context.Context, r request[newContainer]) (followed, error) {
			p, err := s.beginProvision(ctx, r)
			if err != nil {
				return followed{}, err
			}
			return followed{over: p.Status.Final(), events: func(ctx context.Context, after domain.Cursor) iter.Seq2[domain.Event, error] {
				return s.notingEnd(c, s.Machines.FollowProvision(ctx, p.ID, after))
			}}, nil
		})(c)
	}
}

// wantsJSON reports whether a client asks for JSON rather than for events.
func wantsJSON(header http.Header) bool {
	for part := range strings.SplitSeq(header.Get("Accept"), ",") {
		switch kind, _, _ := mime.ParseMediaType(part); kind {
		case "application/json":
			return true
		case "text/event-stream":
			return false
		}
	}
	return false
}

// notingEnd records what the request did, once that is done.
func (s *Server) notingEnd(c *gin.Context, events iter.Seq2[domain.Event, error]) iter.Seq2[domain.Event, error] {
	return func(yield func(domain.Event, error) bool) {
		for e, err := range events {
			if err == nil && e.Type == domain.EventDone {
				s.noteAct(c)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// beginProvision begins what a request asks for, and says where it is found.
func (s *Server) beginProvision(ctx context.Context, r request[newContainer]) (domain.Provision, error) {
	key, err := idempotencyKey(r.header)
	if err != nil {
		return domain.Provision{}, err
	}
	acted(ctx, map[string]any{"name": r.body.Name, "flavor": r.body.Flavor},
		map[string]any{"name": r.body.Name, "flavor": r.body.Flavor, "description": r.body.Description})
	order := domain.ProvisionOrder{
		ProjectID: r.project.ID, UserID: r.caller.UserID, Key: key,
		Name: r.body.Name, Description: r.body.Description, Flavor: r.body.Flavor,
	}
	if err := s.scrubNames(ctx, r.project.ID, &order.Name, &order.Description); err != nil {
		return domain.Provision{}, err
	}
	p, err := s.Machines.StartProvision(ctx, order)
	if err == nil {
		r.reply.Set("Location", "/projects/"+r.project.ID+"/agents/lxd/"+p.ID)
	}
	return p, err
}

// provisionWhole begins to make an agent, and waits for the end.
func (s *Server) provisionWhole(ctx context.Context, r request[newContainer]) (provisionInfo, error) {
	p, err := s.beginProvision(ctx, r)
	if err != nil {
		return provisionInfo{}, err
	}
	waiting, stop := s.untilDrain(ctx)
	defer stop()
	p, err = s.Machines.AwaitProvision(waiting, r.project.ID, p.ID)
	switch {
	case err != nil && waiting.Err() != nil:
		return provisionInfo{}, context.Cause(waiting)
	case err != nil:
		return provisionInfo{}, err
	case p.Status == domain.ProvisionCanceled:
		return provisionInfo{}, domain.Errorf(domain.CodeCanceled, "%s", p.Error)
	case p.Status != domain.ProvisionDone:
		return provisionInfo{}, domain.Errorf(domain.CodeUpstream, "%s: %s", p.Phase, p.Error)
	}
	return provisionOf(p), nil
}

// provision answers GET /projects/:pid/agents/lxd/:provision_id.
func (s *Server) provision(ctx context.Context, r request[none]) (provisionInfo, error) {
	p, err := s.Machines.Provision(ctx, r.project.ID, r.path["provision_id"])
	return provisionOf(p), err
}

// provisionEvents answers GET /projects/:pid/agents/lxd/:provision_id/events.
func (s *Server) provisionEvents(ctx context.Context, r request[none]) (followed, error) {
	p, err := s.Machines.Provision(ctx, r.project.ID, r.path["provision_id"])
	if err != nil {
		return followed{}, err
	}
	return followed{over: p.Status.Final(), events: func(ctx context.Context, after domain.Cursor) iter.Seq2[domain.Event, error] {
		return s.Machines.FollowProvision(ctx, p.ID, after)
	}}, nil
}

// cancelProvision answers POST /projects/:pid/agents/lxd/:provision_id/cancel.
func (s *Server) cancelProvision(ctx context.Context, r request[none]) (provisionInfo, error) {
	p, err := s.Machines.CancelProvision(ctx, r.project.ID, r.path["provision_id"])
	return provisionOf(p), err
}

// changeAgent answers POST /projects/:pid/agents/:aid/start and its like. Once begun a change
// goes on without the caller.
func (s *Server) changeAgent(action domain.ContainerAction) func(context.Context, request[none]) (done, error) {
	return func(ctx context.Context, r request[none]) (done, error) {
		err := s.Machines.ChangeAgent(context.WithoutCancel(ctx), r.project.ID, r.path["aid"], action)
		return done{err == nil}, err
	}
}

package api

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// actionPage is a list of actions that was asked for in pages.
type actionPage struct {
	Actions    []domain.Action `json:"actions"`
	NextCursor string          `json:"next_cursor,omitempty"` // absent on the last page
}

// actions answers GET /actions: those of the caller's own turns outside projects.
func (s *Server) actions(ctx context.Context, r request[none]) (any, error) {
	return s.listActions(ctx, r, domain.ActionQuery{UserID: r.caller.UserID})
}

// projectActions answers GET /projects/:pid/actions.
func (s *Server) projectActions(ctx context.Context, r request[none]) (any, error) {
	return s.listActions(ctx, r, domain.ActionQuery{ProjectID: r.project.ID})
}

// listActions gives the newest actions, or with ?limit= or ?cursor= a page.
func (s *Server) listActions(ctx context.Context, r request[none], q domain.ActionQuery) (any, error) {
	q.Status, q.Tool, q.ConversationID = domain.ActionStatus(r.query.Get("status")), r.query.Get("tool"), r.query.Get("conversation_id")
	if q.Status != "" && !q.Status.Known() {
		return nil, domain.Invalid("status", "%q is not a status of actions: ask for pending, approved, rejected, expired, applying, applied, failed or unknown", q.Status)
	}
	if !r.query.Has("limit") && !r.query.Has("cursor") {
		return listing(s.Actions.Actions(ctx, q))
	}
	size, err := readLimit(r.query.Get("limit"), defaultPage, maxPage)
	if err != nil {
		return nil, err
	}
	q.Before, q.Limit = r.query.Get("cursor"), size+1 // one more tells whether there is more
	list, err := listing(s.Actions.Actions(ctx, q))
	if err != nil || len(list) <= size {
		return actionPage{Actions: list}, err
	}
	return actionPage{Actions: list[:size], NextCursor: list[size-1].ID}, nil
}

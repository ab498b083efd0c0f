package api

import (
	"context"
	"iter"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

const usageDays = 30 // the days that a usage covers where none are given

// projectEvents answers GET /projects/:pid/events: all that happens in the project. ?conv= says
// which conversation the reader looks at, and is told to the others; it leaves nothing out. One
// that is not there (any more) is told as none: the feed is the project's, and a browser whose
// EventSource comes back after the deletion would not try again after a refusal.
func (s *Server) projectEvents(c *gin.Context) {
	req, err := decode[none](c)
	if err != nil {
		s.fail(c, err)
		return
	}
	after := req.query.Get("after")
	if last := req.header.Get("Last-Event-ID"); last != "" {
		after = last
	}
	if after != "" {
		if _, err := domain.ParseFeedCursor(after); err != nil {
			s.fail(c, err)
			return
		}
	}
	conv := req.query.Get("conv")
	if conv != "" {
		switch _, err := s.theConversation(c.Request.Context(), req.caller, req.project, conv); {
		case domain.CodeOf(err) == domain.CodeNotFound:
			conv = ""
		case err != nil:
			s.fail(c, err)
			return
		}
	}
	query := domain.FeedQuery{
		ProjectID: req.project.ID, After: after,
		Visitor: domain.Visitor{UserID: req.caller.UserID, Name: req.caller.Name, ConvID: conv},
	}
	s.follow(c, following{waits: true, events: func(ctx context.Context) iter.Seq2[domain.FeedEvent, error] {
		return s.Conversations.FollowProject(ctx, query)
	}})
}

// projectQueryStream answers POST /projects/:pid/query/stream: it starts the turn, whose events
// come by the project's feed.
func (s *Server) projectQueryStream(ctx context.Context, r request[queryRequest]) (turnStarted, error) {
	turn, err := s.start(ctx, r)
	if err != nil {
		return turnStarted{}, err
	}
	return turnStarted{true, turn.ID}, nil
}

// removedProject is the answer of DELETE /projects/:pid.
type removedProject struct {
	OK      bool           `json:"ok"`
	Removed domain.Removed `json:"removed"`
}

// deleteProject answers DELETE /projects/:pid: its work ends first.
func (s *Server) deleteProject(ctx context.Context, r request[none]) (removedProject, error) {
	removed, err := s.Workspaces.DeleteProject(ctx, r.project.ID)
	return removedProject{err == nil, removed}, err
}

// projectUsage answers GET /projects/:pid/usage?from=&to=, days of UTC with both included.
func (s *Server) projectUsage(ctx context.Context, r request[none]) (domain.ProjectUsage, error) {
	to := s.now().UTC().Truncate(24 * time.Hour)
	var err error
	if text := r.query.Get("to"); text != "" {
		if to, err = time.Parse(time.DateOnly, text); err != nil {
			return domain.ProjectUsage{}, domain.Invalid("to", "%q is not a day such as 2026-11-30", text)
		}
	}
	from := to.AddDate(0, 0, 1-usageDays)
	if text := r.query.Get("from"); text != "" {
		if from, err = time.Parse(time.DateOnly, text); err != nil {
			return domain.ProjectUsage{}, domain.Invalid("from", "%q is not a day such as 2026-11-30", text)
		}
	}
	if to.Before(from) {
		return domain.ProjectUsage{}, domain.Invalid("from", "must not be after to")
	}
	return s.Conversations.ProjectUsage(ctx, r.project.ID, from, to)
}

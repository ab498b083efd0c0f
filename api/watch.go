package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

// accessEvery is how long an open request goes on before its caller is looked at again.
const accessEvery = 30 * time.Second

var errAccessEnded = domain.Errorf(domain.CodeUnauthorized, "the access to this has ended; sign in again, or ask who shared it")

// watches are the open requests, each by the timer that looks at it again.
type watches struct {
	mu   sync.Mutex
	open map[*time.Timer]bool
}

// begin calls look after a while, until it is false or the timer is ended.
func (w *watches) begin(after time.Duration, look func() (more bool)) *time.Timer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[*time.Timer]bool{}
	}
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		if !look() {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.open[timer] {
			timer.Reset(after)
		}
	})
	w.open[timer] = true
	return timer
}

func (w *watches) end(timer *time.Timer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	timer.Stop()
	delete(w.open, timer)
}

// lookAgain looks at all open requests now: what somebody may do may have changed.
func (w *watches) lookAgain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for timer := range w.open {
		timer.Reset(0)
	}
}

// whileAllowed handles a request, and ends it when its caller loses the right to it.
func (s *Server) whileAllowed(c *gin.Context, policy access, who caller) {
	id := policy.subject(c)
	s.whileRight(c, who, func(r *http.Request) error { return s.stillAllowed(r, policy, who, id) }, c.Next)
}

// whileRight handles a request, and ends it when still finds that its caller has lost the right
// to it.
func (s *Server) whileRight(c *gin.Context, who caller, still func(*http.Request) error, handle func()) {
	ctx, cancel := context.WithCancelCause(c.Request.Context())
	outer := c.Request
	defer func() {
		c.Request = outer // a handler that panicked is answered for below
		cancel(nil)
	}()
	request := outer.WithContext(ctx)
	timer := s.watches.begin(s.accessEvery, func() bool {
		err := still(request)
		if err != nil && ctx.Err() == nil {
			s.Log.Info().Ctx(ctx).Str("user", who.UserID).Str("reason", domain.PublicMessage(err)).Msg("access_ended")
			cancel(errAccessEnded)
		}
		return ctx.Err() == nil
	})
	defer s.watches.end(timer)
	c.Request = request
	handle()
}

// stillAllowed judges an open request as if it came now. What can't be asked now is asked the
// next time.
func (s *Server) stillAllowed(r *http.Request, policy access, who caller, id string) error {
	if who.Nobody() {
		return nil
	}
	now, err := s.identifyCaller(r, policy)
	if err == nil && now.UserID != who.UserID {
		err = errAccessEnded
	}
	if err == nil {
		_, err = s.allow(r.Context(), policy, now, r.Method, id)
	}
	return refusal(err)
}

// refusal gives an error that says that somebody may not, and nil for any other: what can't be
// told now is asked the next time.
func refusal(err error) error {
	switch domain.CodeOf(err) {
	case domain.CodeUnauthorized, domain.CodeForbidden, domain.CodeNotFound:
		return err
	}
	return nil
}

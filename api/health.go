package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	checkLimit = 3 * time.Second
	// Anyone may ask whether the server is ready: the answer is reused for a moment, so that
	// asking often costs the dependencies nothing.
	readyLife = time.Second
)

type status struct {
	Status string `json:"status"` // ok, or unavailable
}

// health answers GET /health: the process answers.
func (s *Server) health(context.Context, request[none]) (status, error) { return status{"ok"}, nil }

type checkResult struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
	MS    int64  `json:"ms"`
	// Beside tells that the server is ready without it.
	Beside bool `json:"beside,omitempty"`
}

type readyCache struct {
	mu      sync.Mutex
	results []checkResult
	at      time.Time
}

// readiness answers GET /ready: whether every dependency answers, and to the owner which.
func (s *Server) readiness(ctx context.Context, r request[none]) (raw, error) {
	checks, err := share(ctx, s, "ready", checkLimit, s.checkAll)
	if err != nil {
		return raw{}, err
	}
	code, word := http.StatusOK, "ok"
	if s.stopping.Err() != nil {
		code, word = http.StatusServiceUnavailable, "stopping"
	}
	for _, c := range checks {
		if !c.OK && !c.Beside {
			code, word = http.StatusServiceUnavailable, "unavailable"
		}
	}
	var body any = status{word}
	if r.caller.Admin() {
		body = struct {
			Status string        `json:"status"`
			Checks []checkResult `json:"checks"`
		}{word, checks}
	}
	return raw{status: code, json: encode(body)}, nil
}

func (s *Server) checkAll(ctx context.Context) ([]checkResult, error) {
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	if s.ready.results != nil && s.now().Sub(s.ready.at) < readyLife {
		return s.ready.results, nil
	}
	results := make([]checkResult, len(s.Checks))
	var all sync.WaitGroup
	for i, check := range s.Checks {
		all.Go(func() { results[i] = s.check(ctx, check) })
	}
	all.Wait()
	s.ready.results, s.ready.at = results, s.now()
	return results, nil
}

func (s *Server) test(ctx context.Context, check Check) (err error) {
	defer s.contain(ctx, &err)
	return check.Test(ctx)
}

func (s *Server) check(ctx context.Context, check Check) checkResult {
	start := s.now()
	err := s.test(ctx, check)
	result := checkResult{Name: check.Name, OK: err == nil, MS: s.now().Sub(start).Milliseconds(), Beside: check.Beside}
	if err == nil {
		return result
	}
	s.Log.Warn().Ctx(ctx).Str("dependency", check.Name).Err(err).Msg("dependency_down")
	result.Error = "does not answer; the log says why"
	var e *domain.Error
	switch {
	case errors.As(err, &e):
		result.Error = domain.PublicMessage(err)
	case ctx.Err() != nil:
		result.Error = "did not answer in time"
	}
	return result
}

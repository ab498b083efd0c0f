package api

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// share runs work once for all callers that ask for key at the same time. It goes on within
// limit when one of them leaves: the others still want the answer.
func share[T any](ctx context.Context, s *Server, key string, limit time.Duration, work func(context.Context) (T, error)) (T, error) {
	result := s.flight.DoChan(key, func() (value any, err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		defer s.contain(ctx, &err)
		return work(ctx)
	})
	select {
	case r := <-result:
		value, _ := r.Val.(T)
		return value, r.Err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

// contain, deferred in a goroutine of its own, turns a panic into an error.
func (s *Server) contain(ctx context.Context, err *error) {
	cause := recover()
	if cause == nil {
		return
	}
	s.Log.Error().Ctx(ctx).Str("panic", fmt.Sprint(cause)).Bytes("stack", debug.Stack()).Msg("handler_panicked")
	*err = domain.Errorf(domain.CodeInternal, "panic: %v", cause)
}

package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/embedded"
)

// A server that ends while it starts may find its port free the next time; what can't change by
// itself is told at once.
func TestFirstStartIsTriedAgain(t *testing.T) {
	t.Parallel()
	gone := domain.Errorf(domain.CodeUnavailable, "the server ended while it started")
	taken := domain.Errorf(domain.CodeConflict, "the port is taken")
	cases := map[string]struct {
		fails error
		times int // the start fails
		want  int // starts
		err   error
	}{
		"at once":       {nil, 0, 1, nil},
		"once refused":  {gone, 1, 2, nil},
		"for good":      {gone, 9, 3, gone},
		"misconfigured": {taken, 9, 1, taken},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			starts := 0
			err := embedded.StartPatiently(context.Background(), zerolog.New(&log), "temporal", func(context.Context) error {
				if starts++; starts <= c.times {
					return c.fails
				}
				return nil
			})
			if starts != c.want || !errors.Is(err, c.err) {
				t.Errorf("%d starts, %v; want %d, %v", starts, err, c.want, c.err)
			}
			if told := strings.Count(log.String(), "server_start_tried_again"); told != c.want-1 {
				t.Errorf("told %d times, want %d:\n%s", told, c.want-1, &log)
			}
		})
	}
}

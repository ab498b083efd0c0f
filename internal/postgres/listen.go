package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// listenCheck is how long a silent connection is trusted before it is tried.
	listenCheck = 15 * time.Second
	listenRetry = 250 * time.Millisecond
)

// listen hears other processes on a session of its own, and comes back when it is cut.
func (s *Store) listen(ctx context.Context) error {
	for {
		_ = s.hear(ctx) // whatever ended it, readers reread and the session is made anew
		s.hub.Reset()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(listenRetry):
		}
	}
}

// hear listens until the connection or ctx ends.
func (s *Store) hear(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig.Copy())
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "listen "+channel+"; listen "+agentChannel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.hub.Reset() // what was said before is missed
	for {
		limited, cancel := context.WithTimeout(ctx, listenCheck)
		note, err := conn.WaitForNotification(limited)
		cancel()
		switch {
		case err == nil && note.Channel == agentChannel:
			s.heardAgent(note.Payload)
		case err == nil:
			if err := s.hub.Apply(s.notify.self, note.Payload); err != nil {
				s.hub.Reset()
			}
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			if err := ping(ctx, conn); err != nil {
				return err
			}
		default:
			return fmt.Errorf("wait for notifications: %w", err)
		}
	}
}

func ping(ctx context.Context, conn *pgx.Conn) error {
	limited, cancel := context.WithTimeout(ctx, listenRetry*20)
	defer cancel()
	if err := conn.Ping(limited); err != nil {
		return fmt.Errorf("try the connection: %w", err)
	}
	return nil
}

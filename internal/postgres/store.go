package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

// Store keeps turns, events, conversations and budgets.
type Store struct {
	pool   *pgxpool.Pool
	hub    *live.Hub
	notify *notifier
	agents agentHints
	seal   Sealer
	rooms  rooms
}

// Option changes a Store.
type Option func(*Store)

// WithSealer encrypts large values at rest.
func WithSealer(s Sealer) Option { return func(st *Store) { st.seal = s } }

// NewStore builds a store on a migrated database. Serve must run beside it.
func NewStore(pool *pgxpool.Pool, options ...Option) *Store {
	s := &Store{pool: pool, hub: live.NewHub(), notify: newNotifier(pool), seal: plain{}, rooms: rooms{open: map[string]*room{}}}
	for _, option := range options {
		option(s)
	}
	return s
}

// Serve tells other processes of what this one writes and hears what they write, until ctx
// ends. It survives the database going away.
func (s *Store) Serve(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.notify.run(ctx) })
	group.Go(func() error { return s.listen(ctx) })
	if err := group.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve events: %w", err)
	}
	return nil
}

// tell hands messages about what is committed to readers here and elsewhere.
func (s *Store) tell(messages ...live.Message) {
	for _, m := range messages {
		s.hub.Deliver(m)
	}
	s.notify.add(messages...)
}

// statements holds every SQL statement by its name, so that one test can prepare them all.
var statements = map[string]string{}

// statement registers SQL with named arguments (@name).
func statement(name, sql string) string {
	if statements[name] != "" {
		panic("two statements are named " + name)
	}
	statements[name] = sql
	return sql
}

// refused is what a writer gets that was overtaken by a later attempt, or whose turn ended.
func refused(what string) error {
	return domain.Errorf(domain.CodeSuperseded, "%s: a later attempt has taken over, or the turn has ended", what)
}

// failed wraps an error of the database with what was being done; that the database is away
// is an unavailable error.
func failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	if full(err) {
		return domain.Wrap(domain.CodeUnavailable, fmt.Errorf("%s: %w", doing, err),
			"the disk of the database is full; make room on it, and try again")
	}
	if away(err) {
		return domain.Wrap(domain.CodeUnavailable, fmt.Errorf("%s: %w", doing, err), "the database can't be reached")
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func noRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// full reports whether the database has no room left on its disk.
func full(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == "53100"
}

// away reports whether err comes from a server that is gone, starting or stopping, or from
// work that it asks to be tried again.
func away(err error) bool {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		switch server.Code {
		case "57P01", "57P02", "57P03", "53200", "53300", "53400", "40001", "40P01", "25006":
			return true
		}
		return server.Code[:2] == "08"
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, pgx.ErrTxClosed) ||
		pgconn.SafeToRetry(err) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrUnexpectedEOF)
}

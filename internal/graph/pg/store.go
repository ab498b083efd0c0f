// Package pg keeps sources and the code graph in PostgreSQL. It implements graph.Sources and
// graph.Backend, and graph.Snapshots for other backends.
//
// # Sharing
//
// A source file is a blob at a path; a resolution is a source file with the edges that its
// surroundings gave it; a version is a list of both. Symbols hang on source files and edges
// on resolutions, so two versions share all that is equal. An edge's target is a key, a hash
// of repository, path and local name: which symbol that is follows from the version that is
// asked about.
//
// # Publication
//
// A version is written under a new id and made live in the same transaction that retires the
// one before it. A question about one version is one SQL statement, or one snapshot, so that
// it sees either. A search chooses its versions first and then asks for their ids, whose
// content never changes; where one was superseded and swept meanwhile, it begins anew.
// What nothing refers to any more is removed afterwards (sweep.go).
package pg

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// Store keeps sources and graphs. It is safe for concurrent use.
type Store struct {
	pool     *pgxpool.Pool
	warn     func(error)
	outlines *graph.OutlineCache
}

var (
	_ graph.Sources   = (*Store)(nil)
	_ graph.Backend   = (*Store)(nil)
	_ graph.Snapshots = (*Store)(nil)
)

// Option sets up a Store.
type Option func(*Store)

// OnSweepError is told when the removal of superseded data failed. Nothing is lost by that:
// the next publication tries again.
func OnSweepError(warn func(error)) Option { return func(s *Store) { s.warn = warn } }

// New gives a Store on a migrated database.
func New(pool *pgxpool.Pool, options ...Option) *Store {
	s := &Store{pool: pool, warn: func(error) {}, outlines: graph.NewOutlineCache(graph.OutlineCacheBytes)}
	for _, option := range options {
		option(s)
	}
	return s
}

// Check reports whether the database answers; unavailable where it doesn't.
func (s *Store) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.pool.Ping(ctx); err != nil {
		return domain.Wrap(domain.CodeUnavailable, err, "the graph's database does not answer")
	}
	return nil
}

// inTx runs f in a transaction.
func (s *Store) inTx(ctx context.Context, f func(tx pgx.Tx) error) error {
	return fault(pgx.BeginFunc(ctx, s.pool, f))
}

// reading runs f on one snapshot, for questions that take several statements.
func (s *Store) reading(ctx context.Context, f func(tx pgx.Tx) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return fault(pgx.BeginTxFunc(ctx, s.pool, options, f))
}

// querier is what a pool and a transaction have in common.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// collect runs a query and scans each row; doing completes the error "doing: …".
func collect[T any](ctx context.Context, q querier, doing string, scan pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, fault(fmt.Errorf("%s: %w", doing, err))
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fault(fmt.Errorf("%s: %w", doing, err))
	}
	return found, nil
}

// Package testkit gives tests the real servers they need. Each test binary has its own,
// started by the first test that asks and ended with the binary, however that ends.
package testkit

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/embedded"
	"github.com/harvest-engine/harvest/internal/postgres"
)

// template is the migrated database that each test's own is a copy of.
const template = "harvest_template"

// server is the binary's PostgreSQL.
var server = sync.OnceValues(func() (*embedded.Scratch, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	s, err := embedded.StartScratch(ctx, embedded.DefaultCacheDir(), printProgress)
	if err != nil {
		return nil, err
	}
	if err := s.EnsureDatabase(ctx, template); err != nil {
		return nil, err
	}
	return s, postgres.Migrate(ctx, s.DSN(template))
})

var (
	copies   atomic.Int64
	copyLock sync.Mutex // a template is copied by one session at a time
)

// Postgres gives a pool on a fresh, migrated database of a real server. The database is
// the test's own: extensions, notifications and advisory locks are not shared with others.
func Postgres(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(context.Background(), DSN(t))
	if err != nil {
		t.Fatalf("open the test's database: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// DSN addresses a fresh, migrated database, as Postgres gives it, for tests that open
// their own connections.
func DSN(t testing.TB) string {
	t.Helper()
	s, err := server()
	if err != nil {
		t.Fatalf("PostgreSQL for tests: %v", err)
	}
	name := fmt.Sprintf("test_%d", copies.Add(1))
	if err := copyTemplate(s, name); err != nil {
		t.Fatal(err)
	}
	return s.DSN(name)
}

func copyTemplate(s *embedded.Scratch, name string) error {
	copyLock.Lock()
	defer copyLock.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return fmt.Errorf("connect to the server of the tests: %w", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "create database "+name+" template "+template); err != nil {
		return fmt.Errorf("make the test's database: %w", err)
	}
	return nil
}

// printProgress shows the steps of a start that may take long: a first fetch or build.
func printProgress(p embedded.Progress) {
	if p.Elapsed < 5*time.Second && !p.Ended || p.Ended && p.Elapsed < 5*time.Second {
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", p.Step, p.Elapsed.Round(time.Second))
}

// Package neo4j keeps the code graph in Neo4j, in the schema that existing users query, and
// implements graph.Backend and graph.Cypher. Contents, versions and facts stay with the
// sources in PostgreSQL.
//
// # Nodes
//
// Repository, Version, File, Function, Class and Import carry the properties, relationships
// and full-text indexes of that schema. Other kinds of symbols are Symbol nodes, and every
// function and class is one as well. Two symbols of one name in a file differ in local.
// Relationships carry line and how; CONTAINS stands beside the others.
//
// # Publication
//
// Nodes are shared by no two versions. A load writes its nodes under a snapshot id, with the
// labels HarvestSnapshot, HarvestFile and HarvestSymbol and without a version, so that no
// query by {repo, version} or by label sees them. Publication gives them their labels and
// version, and takes those of the version before away, in one transaction; PostgreSQL makes
// the snapshot live within it. The readers of this package ask by snapshot id, and ask again
// when their snapshot was removed meanwhile.
//
// # Owners
//
// Several installations may keep their graphs in one Neo4j database, of repositories of the same
// names too. A snapshot bears the id of the sources that put it there; a store reads, supersedes
// and removes none but its own.
package neo4j

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// Config says where the server is.
type Config struct {
	URI      string // bolt:// or neo4j://
	User     string
	Password string
	Database string // "" for the user's default

	// OnSweepError is told when the removal of superseded snapshots failed; nil: nobody is.
	// Nothing is lost by that: the next publication tries again.
	OnSweepError func(error)
}

// Sources is what the graph asks of the store of contents and versions.
type Sources interface {
	graph.Snapshots
	Version(ctx context.Context, repo, tag string) (domain.VersionDetail, error)
	Repository(ctx context.Context, name string) (domain.Repository, error)
	Files(ctx context.Context, repo, version, glob string, limit int) ([]graph.VersionFile, error)
}

// Store keeps graphs. It is safe for concurrent use.
type Store struct {
	driver   neo4j.DriverWithContext
	database string
	sources  Sources
	owner    string // of our snapshots: the sources, by their id
	warn     func(error)
	outlines *graph.OutlineCache
}

var (
	_ graph.Backend = (*Store)(nil)
	_ graph.Cypher  = (*Store)(nil)
)

// Open connects to the server and makes the indexes that are missing.
func Open(ctx context.Context, config Config, sources Sources) (*Store, error) {
	driver, err := neo4j.NewDriverWithContext(config.URI, neo4j.BasicAuth(config.User, config.Password, ""))
	if err != nil {
		return nil, domain.Wrap(domain.CodeInvalid, err, "%q is not the address of a Neo4j server", config.URI)
	}
	s := &Store{driver: driver, database: config.Database, sources: sources, warn: config.OnSweepError,
		outlines: graph.NewOutlineCache(graph.OutlineCacheBytes)}
	if s.warn == nil {
		s.warn = func(error) {}
	}
	err = s.prepare(ctx)
	if err == nil {
		err = s.claim(ctx)
	}
	if err != nil {
		_ = driver.Close(ctx) // the first error is the one to tell
		return nil, err
	}
	return s, nil
}

// Close ends the connections.
func (s *Store) Close(ctx context.Context) error { return s.driver.Close(ctx) }

// Check reports whether the server answers; unavailable where it doesn't.
func (s *Store) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err := s.driver.VerifyConnectivity(ctx)
	var fault *neo4j.Neo4jError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &fault) && strings.HasPrefix(fault.Code, "Neo.ClientError.Security."):
		return domain.Wrap(domain.CodeForbidden, err, "the Neo4j server refuses the user or the password")
	}
	return domain.Wrap(domain.CodeUnavailable, err, "the Neo4j server does not answer")
}

// schema is what the readers and existing users look nodes up by.
var schema = []string{
	`CREATE FULLTEXT INDEX symbol_names IF NOT EXISTS FOR (n:Function|Class) ON EACH [n.name]`,
	`CREATE FULLTEXT INDEX file_paths IF NOT EXISTS FOR (n:File) ON EACH [n.path]`,
	`CREATE RANGE INDEX harvest_repository IF NOT EXISTS FOR (n:Repository) ON (n.name)`,
	`DROP INDEX harvest_snapshot IF EXISTS`, // of earlier programs; the constraint has its own
	// Two of one number: the creation of a snapshot was repeated after its answer was lost.
	`MATCH (v:HarvestSnapshot) WITH v.snapshot AS number, collect(v) AS same UNWIND tail(same) AS v DETACH DELETE v`,
	`CREATE CONSTRAINT harvest_snapshot_once IF NOT EXISTS FOR (n:HarvestSnapshot) REQUIRE n.snapshot IS UNIQUE`,
	`CREATE RANGE INDEX harvest_snapshot_repo IF NOT EXISTS FOR (n:HarvestSnapshot) ON (n.of_repo)`,
	`CREATE RANGE INDEX harvest_file IF NOT EXISTS FOR (n:HarvestFile) ON (n.snapshot, n.path)`,
	`CREATE RANGE INDEX harvest_file_uid IF NOT EXISTS FOR (n:HarvestFile) ON (n.uid)`,
	`CREATE RANGE INDEX harvest_symbol_uid IF NOT EXISTS FOR (n:HarvestSymbol) ON (n.uid)`,
	`CREATE RANGE INDEX harvest_symbol_name IF NOT EXISTS FOR (n:HarvestSymbol) ON (n.snapshot, n.name)`,
	`CREATE RANGE INDEX harvest_symbol_class IF NOT EXISTS FOR (n:HarvestSymbol) ON (n.snapshot, n.class)`,
	`CREATE RANGE INDEX harvest_function IF NOT EXISTS FOR (n:Function) ON (n.repo, n.version, n.name)`,
	`CREATE RANGE INDEX harvest_class IF NOT EXISTS FOR (n:Class) ON (n.repo, n.version, n.name)`,
	`CREATE TEXT INDEX harvest_symbol_folded IF NOT EXISTS FOR (n:HarvestSymbol) ON (n.folded)`,
	"CREATE FULLTEXT INDEX harvest_alike IF NOT EXISTS FOR (n:HarvestSymbol) ON EACH [n.folded] OPTIONS {indexConfig: {`fulltext.analyzer`: 'keyword'}}",
	`CALL db.awaitIndexes(300)`,
}

// schemaExists are the codes of an index on the same properties under another name.
var schemaExists = []string{"Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists", "Neo.ClientError.Schema.IndexAlreadyExists",
	"Neo.ClientError.Schema.IndexWithNameAlreadyExists", "Neo.ClientError.Schema.ConstraintAlreadyExists"}

func (s *Store) prepare(ctx context.Context) error {
	if err := s.Check(ctx); err != nil {
		return err
	}
	session := s.session(ctx, neo4j.AccessModeWrite)
	defer closeSession(ctx, session)
	for _, statement := range schema {
		err := run(ctx, session, statement, nil)
		var fault *neo4j.Neo4jError
		if errors.As(err, &fault) && slices.Contains(schemaExists, fault.Code) {
			continue
		}
		if err != nil {
			return fmt.Errorf("prepare the graph's schema: %w", err)
		}
	}
	return nil
}

func (s *Store) session(ctx context.Context, mode neo4j.AccessMode) neo4j.SessionWithContext {
	return s.driver.NewSession(ctx, neo4j.SessionConfig{AccessMode: mode, DatabaseName: s.database})
}

// closeSession gives the session's connection back; what it could tell, the statements have told.
func closeSession(ctx context.Context, session neo4j.SessionWithContext) {
	_ = session.Close(context.WithoutCancel(ctx))
}

// runner is what sessions and transactions have in common.
type runner interface {
	Run(ctx context.Context, cypher string, params map[string]any) (neo4j.ResultWithContext, error)
}

// auto runs statements of a session outside of an explicit transaction.
type auto struct{ neo4j.SessionWithContext }

// Run starts a statement.
func (a auto) Run(ctx context.Context, cypher string, params map[string]any) (neo4j.ResultWithContext, error) {
	return a.SessionWithContext.Run(ctx, cypher, params)
}

// maxTries bounds how often a statement is tried that met a passing fault, such as a deadlock.
const maxTries = 8

// run runs a statement of its own transaction, or one that makes its transactions itself. It
// may run more than once.
func run(ctx context.Context, session neo4j.SessionWithContext, cypher string, params map[string]any) error {
	return again(ctx, func() error { return exec(ctx, auto{session}, cypher, params) })
}

// again repeats f while its fault is a passing one.
func again(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		if err == nil || !neo4j.IsRetryable(err) || try == maxTries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try) * 50 * time.Millisecond):
		}
	}
}

// exec runs a statement for its effect.
func exec(ctx context.Context, tx runner, cypher string, params map[string]any) error {
	result, err := tx.Run(ctx, cypher, params)
	if err != nil {
		return err
	}
	_, err = result.Consume(ctx)
	return err
}

// rows runs a statement and reads each record with scan.
func rows[T any](ctx context.Context, tx runner, scan func(*neo4j.Record) T, cypher string, params map[string]any) ([]T, error) {
	result, err := tx.Run(ctx, cypher, params)
	if err != nil {
		return nil, err
	}
	found := []T{}
	for result.Next(ctx) {
		found = append(found, scan(result.Record()))
	}
	return found, result.Err()
}

// field reads a value of a record; the zero value where it is null or of another type.
func field[T any](record *neo4j.Record, name string) T {
	value, _ := record.Get(name)
	v, _ := value.(T)
	return v
}

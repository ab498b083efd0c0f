package neo4j_test

import (
	"testing"

	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/graphtest"
	"github.com/harvest-engine/harvest/internal/graph/neo4j"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// TestStore runs all on one pair of stores.
func TestStore(t *testing.T) {
	t.Parallel()
	server := testkit.Neo4j(t)
	sources := pg.New(testkit.Postgres(t))
	config := neo4j.Config{URI: server.URI, User: server.User, Password: server.Password}
	store, err := neo4j.Open(t.Context(), config, sources)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("suite", func(t *testing.T) {
		graphtest.Run(t, func(testing.TB) (graph.Sources, graph.Backend) { return sources, store })
	})
	t.Run("the schema of existing users", func(t *testing.T) { testSchema(t, sources, store, server) })
	t.Run("publications with faults", func(t *testing.T) { testFaults(t, sources, server) })
	t.Run("queries by hand", func(t *testing.T) { testReads(t, store, server) })
	t.Run("queries that must not run", func(t *testing.T) { testRefusals(t, store, server) })
	t.Run("the read session", func(t *testing.T) { testReadSession(t, server) })
	t.Run("bounds", func(t *testing.T) { testBounds(t, store) })
	t.Run("no server", testUnreachable)
	t.Run("queries that nothing ends", func(t *testing.T) { testRunaways(t, store, config) })
}

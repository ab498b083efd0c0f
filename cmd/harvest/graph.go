package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/neo4j"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/tools"
)

// backendNeo4j is the other value of [graph] backend than "postgres"; the configuration is checked.
const backendNeo4j = "neo4j"

// openGraph opens the graph that the configuration selects, and gives the tools that read it.
// Only what stays in our own database is fast enough to be looked up inside a workflow task.
func (a *assembly) openGraph(ctx context.Context) (graph.Backend, *tools.Registry, error) {
	if a.cfg.Graph.Backend != backendNeo4j {
		return a.code, tools.All(tools.Code{Sources: a.code, Graph: a.code, Local: true}, nil, a.libraryTools()...), nil
	}
	config := neo4jConfig(a.cfg.Neo4j)
	config.OnSweepError = a.sweepFailed
	store, err := neo4j.Open(ctx, config, a.code)
	if err != nil {
		return nil, nil, err
	}
	a.closeGraph = store.Close
	return store, tools.All(tools.Code{Sources: a.code, Graph: store, OtherGraph: true}, store, a.libraryTools()...), nil
}

// sweepFailed logs that superseded versions are still there: the next publication tries again.
func (a *assembly) sweepFailed(err error) { a.log.Warn().Err(err).Msg("graph_sweep_postponed") }

func neo4jConfig(c *config.Neo4j) neo4j.Config {
	return neo4j.Config{URI: c.URI, User: c.User, Password: c.Password.Reveal(), Database: c.Database}
}

// examineGraph asks the configured graph whether it can be used.
func examineGraph(ctx context.Context, cfg *config.Config) []finding {
	if cfg.Graph.Backend != backendNeo4j {
		return append([]finding{{name: "graph", detail: "in PostgreSQL"}}, examineVersions(ctx, cfg)...)
	}
	c := neo4jConfig(cfg.Neo4j)
	seen, err := neo4j.Probe(ctx, c)
	if err != nil {
		return fail("graph", err, "check [neo4j] uri, user, password and database, and that the server runs; or set [graph] backend to \"postgres\"")
	}
	found := []finding{{name: "graph", detail: "Neo4j " + seen.Version + " at " + c.URI}}
	if len(seen.Open) > 0 {
		found = append(found, finding{name: "graph", detail: "LOAD CSV can reach files or addresses of the Neo4j server; run_cypher refuses it, and the server itself should too",
			remedy: "add these lines to its neo4j.conf and restart it:\n      " + strings.Join(seen.Open, "\n      ")})
	}
	if seen.Runaways > 0 {
		found = append(found, finding{name: "graph", detail: fmt.Sprintf("%d queries of run_cypher keep the Neo4j server busy, though they were ended", seen.Runaways),
			remedy: "restart the Neo4j server; run_cypher refuses while there are two or more"})
	}
	return append(found, examineVersions(ctx, cfg)...)
}

// examineVersions looks for versions that were read while another graph was in use. Where no
// database is known, or it was not migrated yet, there is nothing to tell.
func examineVersions(ctx context.Context, cfg *config.Config) []finding {
	dsn := knownServers(cfg).dsn
	if dsn == "" {
		return nil
	}
	pool, err := postgres.Open(ctx, dsn)
	if err != nil {
		return nil // told of by the line on postgres
	}
	defer pool.Close()
	repos, err := pg.New(pool).Repositories(ctx)
	if err != nil {
		return nil
	}
	var found []finding
	for _, r := range repos {
		var tags []string
		for _, v := range r.Versions {
			if v.OtherGraph != (cfg.Graph.Backend == backendNeo4j) {
				tags = append(tags, v.Tag)
			}
		}
		if len(tags) > 0 {
			found = append(found, finding{name: "graph", detail: fmt.Sprintf("%s: %d of %d versions were read while another graph was in use: %s",
				r.Name, len(tags), len(r.Versions), strings.Join(tags[:min(len(tags), 10)], ", ")), remedy: "read them again: harvest ingest " + r.URL + " --name " + r.Name})
		}
	}
	return found
}

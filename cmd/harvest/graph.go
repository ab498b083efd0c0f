package main

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/tools"
)

// openGraph opens the graph that the configuration selects, and gives the tools that read it.
func (a *assembly) openGraph(_ context.Context) (graph.Backend, *tools.Registry, error) {
	if a.cfg.Graph.Backend != backendPostgres {
		return nil, nil, domain.Errorf(domain.CodeUnprocessable,
			"this build keeps the graph in PostgreSQL only; remove [neo4j], or set [graph] backend to %q", backendPostgres)
	}
	return a.code, tools.All(tools.Code{Sources: a.code, Graph: a.code, Local: true}, nil), nil
}

const backendPostgres = "postgres"

package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// Cypher is a graph that answers read-only Cypher.
type Cypher interface {
	RunCypher(ctx context.Context, query string, params map[string]any) (graph.CypherResult, error)
}

type runCypher struct{ cypher Cypher }

func (t runCypher) Spec() Spec {
	return Spec{
		ToolSpec: domain.ToolSpec{
			Name: "run_cypher",
			Description: "Run a read-only Cypher query over the code graph, for what no other tool answers. Limit nodes by repo and version; add a LIMIT. " +
				"A query that could write, load files or administer the database is refused.",
			InputSchema: schema(
				field{name: "query", kind: "string", about: "The Cypher query, with $parameters rather than literals from the conversation.", required: true},
				field{name: "params", kind: "object", about: "Values of the query's parameters."}),
		},
		Policy: domain.PolicyNever, Timeout: normalTimeout, MaxResult: longResult, Phase: PhaseTrace, Activity: "Querying the graph",
	}
}

func (t runCypher) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[struct {
		Query  string `json:"query" need:""`
		Params map[string]any
	}](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	// A free query can't be limited to some repositories, so a scoped turn has none.
	if len(scope.Repositories)+len(scope.Versions) > 0 {
		return domain.ToolResult{}, domain.Errorf(domain.CodeForbidden, "this query is limited to some repositories or versions, which run_cypher can't honour; use the other tools")
	}
	res, err := t.cypher.RunCypher(ctx, in.Query, in.Params)
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("run cypher: %w", err)
	}
	var r report
	r.line("%s", strings.Join(res.Columns, " | "))
	for _, row := range res.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			text, err := json.Marshal(c)
			if err != nil {
				text = []byte(fmt.Sprint(c))
			}
			cells[i] = string(text)
		}
		r.line("%s", strings.Join(cells, " | "))
	}
	if res.Truncated {
		r.more("add conditions or aggregate in the query")
	}
	return r.result("%s", count(len(res.Rows), "row", "rows")), nil
}

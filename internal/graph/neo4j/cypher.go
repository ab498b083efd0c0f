package neo4j

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// The limits of a query by hand.
const (
	cypherTime  = 10 * time.Second
	cypherRows  = 200
	cypherBytes = 128 << 10 // of JSON
	cypherQuery = 20_000    // bytes of its text
	// cypherFetch is how many rows the driver holds at a time: a row may be large.
	cypherFetch = 20
)

// RunCypher runs a query that reads the graph, in a read session, and gives its rows, bounded
// in number, bytes of JSON and time. Properties and nodes that only serve this package are
// left out of nodes.
func (s *Store) RunCypher(ctx context.Context, query string, params map[string]any) (graph.CypherResult, error) {
	if len(query) > cypherQuery {
		return graph.CypherResult{}, domain.Errorf(domain.CodeTooLarge, "a query has at most %d bytes", cypherQuery)
	}
	timed, cancel := context.WithTimeout(ctx, cypherTime+2*time.Second) // the server's own limit comes first
	defer cancel()
	table, err := s.runCypher(timed, query, params)
	if err != nil && ctx.Err() != nil {
		return graph.CypherResult{}, fmt.Errorf("run Cypher: %w", ctx.Err())
	}
	if err != nil && timed.Err() != nil {
		err = refused(timed.Err())
	}
	return table, err
}

func (s *Store) runCypher(ctx context.Context, query string, params map[string]any) (graph.CypherResult, error) {
	session := s.driver.NewSession(ctx, neo4j.SessionConfig{AccessMode: neo4j.AccessModeRead, DatabaseName: s.database, FetchSize: cypherFetch})
	defer closeSession(ctx, session)
	if err := s.explain(ctx, session, query, params); err != nil {
		return graph.CypherResult{}, err
	}
	if err := mayRun(ctx, session); err != nil {
		return graph.CypherResult{}, err
	}
	result, err := session.Run(ctx, query, params, neo4j.WithTxTimeout(cypherTime), byHand)
	if err != nil {
		return graph.CypherResult{}, refused(err)
	}
	columns, err := result.Keys()
	if err != nil {
		return graph.CypherResult{}, refused(err)
	}
	table := graph.CypherResult{Columns: columns, Rows: [][]any{}}
	bytes := 0
	for result.Next(ctx) {
		row := make([]any, len(columns))
		for i, value := range result.Record().Values {
			row[i] = plain(value)
		}
		size, err := json.Marshal(row)
		if err != nil {
			return graph.CypherResult{}, fmt.Errorf("render a row: %w", err)
		}
		if bytes += len(size); bytes > cypherBytes || len(table.Rows) == cypherRows {
			table.Truncated = true
			return table, nil
		}
		table.Rows = append(table.Rows, row)
	}
	if err := result.Err(); err != nil {
		return graph.CypherResult{}, refused(err)
	}
	return table, nil
}

// refused turns what the server says of a query into an error for who wrote it.
func refused(err error) error {
	var fault *neo4j.Neo4jError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &fault) && strings.Contains(fault.Code, "TransactionTimedOut"):
		return domain.Wrap(domain.CodeUnprocessable, err, "the query took longer than %s; make it more specific, or limit it", cypherTime)
	case fault != nil && fault.Code == "Neo.ClientError.Statement.AccessMode":
		return domain.Wrap(domain.CodeForbidden, err, "only queries that read the graph may run")
	case fault != nil && strings.HasPrefix(fault.Code, "Neo.ClientError."):
		return &domain.Error{Code: domain.CodeInvalid, Field: "query", Message: fault.Msg, Err: err}
	case fault != nil && strings.Contains(fault.Code, "MemoryLimit"), fault != nil && strings.Contains(fault.Code, "OutOfMemory"):
		return domain.Wrap(domain.CodeUnprocessable, err, "the query needs too much memory; make it more specific")
	}
	return told(err, "run Cypher")
}

// internal are properties that serve this package alone.
var internal = set(`uid snapshot ord rank folded words class owner of_repo of_tag state seen publication`)

// plain gives a value as JSON knows it.
func plain(value any) any {
	switch v := value.(type) {
	case nil, bool, int64, string:
		return v
	case float64:
		if v != v || v > 1e308 || v < -1e308 {
			return fmt.Sprint(v)
		}
		return v
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = plain(element)
		}
		return list
	case map[string]any:
		return properties(v)
	case neo4j.Node:
		node := properties(shown(v.Props))
		node["_labels"] = shownLabels(v.Labels)
		return node
	case neo4j.Relationship:
		rel := properties(v.Props)
		rel["_type"] = v.Type
		return rel
	case neo4j.Path:
		var steps []any
		for i, n := range v.Nodes {
			steps = append(steps, plain(n))
			if i < len(v.Relationships) {
				steps = append(steps, plain(v.Relationships[i]))
			}
		}
		return steps
	}
	return fmt.Sprint(value)
}

func properties(props map[string]any) map[string]any {
	out := make(map[string]any, len(props)+1)
	for name, value := range props {
		out[name] = plain(value)
	}
	return out
}

func shown(props map[string]any) map[string]any {
	out := make(map[string]any, len(props))
	for name, value := range props {
		if !internal[name] {
			out[name] = value
		}
	}
	return out
}

func shownLabels(labels []string) []string {
	out := []string{}
	for _, label := range labels {
		if !strings.HasPrefix(label, "Harvest") {
			out = append(out, label)
		}
	}
	return out
}

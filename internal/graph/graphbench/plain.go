package graphbench

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/graph"
)

// plainCopy is the graph as it would be kept if there were one version of one repository:
// nodes and edges by integer ids, with the indexes that its questions want.
type plainCopy struct{ pool *pgxpool.Pool }

const plainTables = `
drop schema if exists graph_benchmark cascade;
create schema graph_benchmark;
create table graph_benchmark.nodes (
    id int primary key, path text not null, name text not null, folded text not null, words text not null,
    class boolean not null, rank int not null, exported boolean not null, kind text not null,
    signature text not null, start_line int not null, end_line int not null
);
create table graph_benchmark.edges (src int not null, dst int not null, line int not null)`

const plainIndexes = `
create index on graph_benchmark.nodes (name);
create index on graph_benchmark.nodes using gin (folded gin_trgm_ops);
create index on graph_benchmark.edges (src);
create index on graph_benchmark.edges (dst);
analyze graph_benchmark.nodes;
analyze graph_benchmark.edges`

func (p *plainCopy) load(ctx context.Context, d data) error {
	if _, err := p.pool.Exec(ctx, plainTables); err != nil {
		return err
	}
	columns := []string{"id", "path", "name", "folded", "words", "class", "rank", "exported", "kind", "signature", "start_line", "end_line"}
	nodes := pgx.CopyFromSlice(len(d.nodes), func(i int) ([]any, error) {
		n := d.nodes[i]
		words := ""
		for _, w := range graph.Words(n.Name) {
			words += " " + w
		}
		rank := 2
		if n.Kind.Class() {
			rank = 0
		}
		if !n.Exported {
			rank++
		}
		return []any{i, n.path, n.Name, graph.Fold(n.Name), words, n.Kind.Class(), rank, n.Exported, string(n.Kind), n.Signature, n.StartLine, n.EndLine}, nil
	})
	if _, err := p.pool.CopyFrom(ctx, pgx.Identifier{"graph_benchmark", "nodes"}, columns, nodes); err != nil {
		return fmt.Errorf("copy nodes: %w", err)
	}
	edges := pgx.CopyFromSlice(len(d.edges), func(i int) ([]any, error) {
		return []any{d.edges[i].src, d.edges[i].dst, d.edges[i].line}, nil
	})
	if _, err := p.pool.CopyFrom(ctx, pgx.Identifier{"graph_benchmark", "edges"}, []string{"src", "dst", "line"}, edges); err != nil {
		return fmt.Errorf("copy edges: %w", err)
	}
	if _, err := p.pool.Exec(ctx, plainIndexes); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	// As after our own load: pages are known to be visible to all.
	for _, table := range []string{"nodes", "edges"} {
		if _, err := p.pool.Exec(ctx, `vacuum graph_benchmark.`+table); err != nil {
			return fmt.Errorf("vacuum: %w", err)
		}
	}
	return nil
}

func (p *plainCopy) drop(ctx context.Context) error {
	if _, err := p.pool.Exec(ctx, `drop schema graph_benchmark cascade`); err != nil {
		return fmt.Errorf("remove the plain copy: %w", err)
	}
	return nil
}

const plainHit = `n.path, n.name, n.kind, n.signature, n.start_line, n.end_line, n.exported`

const plainCallersSQL = `
with recursive seeds as (
    select id from graph_benchmark.nodes where name = @name and path = @path
), walk(id, depth) as (
    select id, 0 from seeds
    union
    select e.src, w.depth + 1 from walk w join graph_benchmark.edges e on e.dst = w.id where w.depth + 1 < @depth
), reached as (
    select id, min(depth) as depth from walk group by id
), sites as (
    select r.depth, e.src, e.line from reached r join graph_benchmark.edges e on e.dst = r.id
    order by r.depth, e.src, e.line limit @limit
)
select s.depth, s.line, ` + plainHit + ` from sites s join graph_benchmark.nodes n on n.id = s.src`

// count runs a query, reads every value of every row, and gives the number of rows.
func (p *plainCopy) count(ctx context.Context, sql string, args pgx.NamedArgs) (int, error) {
	rows, err := p.pool.Query(ctx, sql, args)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		if _, err := rows.Values(); err != nil {
			return 0, err
		}
		n++
	}
	return n, rows.Err()
}

func (p *plainCopy) callers(ctx context.Context, n node, depth int) (int, error) {
	return p.count(ctx, plainCallersSQL, pgx.NamedArgs{"name": n.Name, "path": n.path, "depth": depth, "limit": siteLimit})
}

const plainSubstringSQL = `
select case when n.folded = @text then 0 when n.folded like @text || '%' then 1 when n.words like '% ' || @text || '%' then 2 else 3 end as tier, ` + plainHit + `
from graph_benchmark.nodes n
where n.folded like '%' || @text || '%'
order by tier, n.rank, length(n.folded), n.path collate "C", n.start_line
limit 20`

const plainFuzzySQL = `
select similarity(n.folded, @text) as likeness, ` + plainHit + `
from graph_benchmark.nodes n
where n.folded % @text
order by likeness desc, n.rank, length(n.folded), n.path collate "C", n.start_line
limit 20`

const (
	plainNodesSQL = `select n.id, ` + plainHit + ` from graph_benchmark.nodes n order by n.class desc, n.rank, n.path collate "C", n.start_line limit @limit`
	plainLinksSQL = `select e.src, e.dst from graph_benchmark.edges e where e.src = any(@ids) and e.dst = any(@ids) group by e.src, e.dst`
)

// subgraph gives the number of nodes and of links among them.
func (p *plainCopy) subgraph(ctx context.Context, limit int) (int, error) {
	rows, err := p.pool.Query(ctx, plainNodesSQL, pgx.NamedArgs{"limit": limit})
	if err != nil {
		return 0, err
	}
	ids, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (int32, error) {
		values, err := row.Values()
		if err != nil {
			return 0, err
		}
		return values[0].(int32), nil
	})
	if err != nil {
		return 0, err
	}
	links, err := p.count(ctx, plainLinksSQL, pgx.NamedArgs{"ids": ids})
	return len(ids) + links, err
}

// path gives the number of nodes on a shortest chain of calls, read with the places of the
// calls, 0 where there is none.
func (p *plainCopy) path(ctx context.Context, from, to node, depth int) (int, error) {
	find := `select id from graph_benchmark.nodes where name = @name and path = @path`
	ends := [2]int32{}
	for i, n := range []node{from, to} {
		rows, _ := p.pool.Query(ctx, find, pgx.NamedArgs{"name": n.Name, "path": n.path})
		var err error
		if ends[i], err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int32]); err != nil {
			return 0, err
		}
	}
	if ends[0] == ends[1] {
		return p.count(ctx, plainChainSQL, pgx.NamedArgs{"ids": ends[:1]})
	}
	sides := [2]map[int32]int32{{ends[0]: -1}, {ends[1]: -1}}
	fronts := [2][]int32{{ends[0]}, {ends[1]}}
	steps := [2]string{
		`select src, dst from graph_benchmark.edges where src = any($1)`,
		`select dst, src from graph_benchmark.edges where dst = any($1)`,
	}
	for step := 0; step < depth && len(fronts[0]) > 0 && len(fronts[1]) > 0; step++ {
		near := 0
		if len(fronts[1]) < len(fronts[0]) {
			near = 1
		}
		rows, _ := p.pool.Query(ctx, steps[near], fronts[near])
		calls, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Known, Next int32 }])
		if err != nil {
			return 0, err
		}
		fronts[near] = nil
		for _, call := range calls {
			if _, seen := sides[near][call.Next]; seen {
				continue
			}
			sides[near][call.Next] = call.Known
			if _, met := sides[1-near][call.Next]; met {
				return p.count(ctx, plainChainSQL, pgx.NamedArgs{"ids": chain(sides, call.Next)})
			}
			fronts[near] = append(fronts[near], call.Next)
		}
	}
	return 0, nil
}

// chain follows both halves of a search from where they met.
func chain(sides [2]map[int32]int32, at int32) []int32 {
	ids := []int32{at}
	for id := sides[0][at]; id >= 0; id = sides[0][id] {
		ids = append(ids, id)
	}
	slices.Reverse(ids)
	for id := sides[1][at]; id >= 0; id = sides[1][id] {
		ids = append(ids, id)
	}
	return ids
}

const plainChainSQL = `
select k.pos, e.line, ` + plainHit + `
from unnest(@ids::int[]) with ordinality k(id, pos) join graph_benchmark.nodes n on n.id = k.id
left join lateral (
    select e.line from graph_benchmark.edges e where e.dst = k.id and e.src = (@ids::int[])[k.pos - 1] order by e.line limit 1
) e on true
order by k.pos`

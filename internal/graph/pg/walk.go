package pg

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/graph"
)

// siteColumns are a site's end in seeds' version: the symbol, or the file alone, and the place.
const siteColumns = `
    coalesce(s.name, ''), coalesce(s.receiver, ''), coalesce(s.kind, 0::smallint), coalesce(s.signature, ''),
    coalesce(s.doc, ''), coalesce(s.start_line, 0), coalesce(s.end_line, 0), coalesce(s.exported, false),
    coalesce(s.dup, false), coalesce(s.nth, 0::smallint), f.path`

// callersSQL walks the calls (edges of kind 1) backwards from the seeds, level by level, each
// symbol once at its least depth and 5000 at most, then collects the calls of all that it
// went through.
const callersSQL = seedsSQL + `, recursive_walk as (
    with recursive walk(key_id, depth) as (
        select key_id, 0 from seeds
        union
        select e.src_key, w.depth + 1
        from walk w, v, lateral (
            select e.src_key from edges e
            where e.dst_key = w.key_id and e.kind = 1 and exists (
                select from version_files vf
                where vf.version_id = v.id and vf.file_id = e.file_id and vf.resolved_id = e.resolved_id)
            offset 0
        ) e
        where w.depth + 1 < (select depth from q)
    )
    select key_id, min(depth) as depth from (select * from walk limit 5000) w group by key_id
), sites as (
    select w.depth, e.*
    from recursive_walk w, v, lateral (
        select e.file_id, e.src_ord, e.line, e.kind, e.how from edges e
        where e.dst_key = w.key_id and e.kind = 1 and exists (
            select from version_files vf
            where vf.version_id = v.id and vf.file_id = e.file_id and vf.resolved_id = e.resolved_id)
        offset 0
    ) e
    order by w.depth, e.file_id, e.line, e.src_ord
    limit (select most from q)
)
select e.depth, e.kind, e.how, e.line, f.path, ` + siteColumns + `
from sites e
join lateral (select f.path from source_files f where f.id = e.file_id offset 0) f on true
left join lateral (select s.* from symbols s where s.file_id = e.file_id and s.ord = e.src_ord offset 0) s on true`

// Callers gives the calls of the symbols that ref means, the nearest first.
func (s *Store) Callers(ctx context.Context, ref graph.SymbolRef, depth, limit int) ([]graph.Site, bool, error) {
	return s.sites(ctx, ref, limit, callersSQL, pgx.NamedArgs{"depth": graph.CallersDepth(depth)})
}

const referencesSQL = seedsSQL + `, sites as (
    select e.*
    from seeds, v, lateral (
        select e.file_id, e.src_ord, e.line, e.kind, e.how from edges e
        where e.dst_key = seeds.key_id and exists (
            select from version_files vf
            where vf.version_id = v.id and vf.file_id = e.file_id and vf.resolved_id = e.resolved_id)
        offset 0
    ) e
    order by e.file_id, e.line, e.src_ord, e.kind
    limit (select most from q)
)
select 0, e.kind, e.how, e.line, f.path, ` + siteColumns + `
from sites e
join lateral (select f.path from source_files f where f.id = e.file_id offset 0) f on true
left join lateral (select s.* from symbols s where s.file_id = e.file_id and s.ord = e.src_ord offset 0) s on true`

// References gives edges of every kind that end in the symbols that ref means.
func (s *Store) References(ctx context.Context, ref graph.SymbolRef, limit int) ([]graph.Site, bool, error) {
	return s.sites(ctx, ref, limit, referencesSQL, pgx.NamedArgs{})
}

const calleesSQL = seedsSQL + `, sites as (
    select e.*
    from seeds, v, lateral (
        select e.dst_key, e.line, e.kind, e.how, seeds.path
        from version_files vf join edges e on e.resolved_id = vf.resolved_id and e.src_ord = seeds.ord
        where vf.version_id = v.id and vf.file_id = seeds.file_id and e.kind = 1
        offset 0
    ) e
    order by e.path, e.line, e.dst_key
    limit (select most from q)
)
select 0, e.kind, e.how, e.line, e.path, ` + siteColumns + `
from sites e, v, lateral (
    select s.*, f.path from symbols s
    join version_files vf on vf.version_id = v.id and vf.file_id = s.file_id
    join source_files f on f.id = s.file_id
    where s.key_id = e.dst_key
    offset 0
) s, lateral (select s.path) f`

// Callees gives the calls that the symbols that ref means make, in the order of the source.
func (s *Store) Callees(ctx context.Context, ref graph.SymbolRef, limit int) ([]graph.Site, bool, error) {
	return s.sites(ctx, ref, limit, calleesSQL, pgx.NamedArgs{})
}

// sites runs a statement of sites; not_found where ref means nothing.
func (s *Store) sites(ctx context.Context, ref graph.SymbolRef, limit int, sql string, more pgx.NamedArgs) ([]graph.Site, bool, error) {
	if err := ref.Check(); err != nil {
		return nil, false, err
	}
	limit = graph.SiteLimit(limit)
	args := seedArgs(ref)
	for name, value := range more {
		args[name] = value
	}
	args["limit"] = limit + 1
	type deep struct {
		graph.Site
		depth int
	}
	scan := func(row pgx.CollectableRow) (deep, error) {
		var d deep
		var h hitRow
		var kind, how int16
		err := row.Scan(append([]any{&d.depth, &kind, &how, &d.Line, &d.File}, h.targets()...)...)
		d.Hit = h.hit(ref.Repo, ref.Version)
		d.Kind, d.How = decoded(edgeKinds, kind), decoded(hows, how)
		return d, err
	}
	found, err := answer(ctx, s, func(q querier) ([]deep, error) {
		return collect(ctx, q, "follow edges", scan, sql, args)
	}, func(q querier) error {
		return needSymbol(ctx, q, ref)
	})
	if err != nil {
		return nil, false, err
	}
	truncated := len(found) > limit
	slices.SortStableFunc(found, func(a, b deep) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), graph.CompareSites(a.Site, b.Site))
	})
	found = found[:min(len(found), limit)]
	sites := make([]graph.Site, len(found))
	for i, d := range found {
		sites[i] = d.Site
	}
	return sites, truncated, nil
}

// needSymbol is nil where ref means a symbol, else the not_found of it.
func needSymbol(ctx context.Context, q querier, ref graph.SymbolRef) error {
	hits, err := findNamed(ctx, q, ref)
	if err != nil || len(hits) > 0 {
		return err
	}
	if err := needGraph(ctx, q, ref.Repo, ref.Version); err != nil {
		return err
	}
	return graph.NoSymbol(ref)
}

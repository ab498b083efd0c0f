package pg

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// seedsSQL is the common table expression "seeds": the symbols of version v that a reference
// may mean. A bare name means every symbol of that name; a qualified one those whose
// receiver, package folder or file matches best, by tier.
//
// Two habits of these statements keep them fast. The arguments come through q, so that the
// planner can't plan anew for each value: one plan is made and kept. And the fences (offset
// 0) make it look up a few rows by index instead of joining whole tables.
const seedsSQL = `
with q as materialized (
    select @repo::text as repo, @tag::text as tag, @path::text as path, @line::int as line, @start::int as start, @nth::int as nth,
        @place::text as place, @limit::int as most, @depth::int as depth
), v as materialized (
    select v.id, v.repo_id from q join repositories r on r.name = q.repo join versions v on v.repo_id = r.id and v.tag = q.tag
    where v.live and v.graph_here
), readings as (
    select * from unnest((select @folded::text[]), (select @names::text[]), (select @qualifiers::text[])) n(folded, name, qualifier)
), candidates as (
    select c.*, case
            when n.qualifier = '' then 0
            when c.receiver = n.qualifier then 0
            when right(c.receiver, length(n.qualifier) + 1) = '.' || n.qualifier then 1
            when c.receiver = '' and f.path ~ q.place then 2
            else 9
        end as tier, f.path
    from q, v, readings n, lateral (
        select s.* from symbols s
        where s.folded = n.folded and s.repo_id = v.repo_id and s.name = n.name
        offset 0
    ) c, lateral (
        select f.path from source_files f, version_files vf
        where f.id = c.file_id and vf.version_id = v.id and vf.file_id = c.file_id and (q.path = '' or f.path = q.path)
        offset 0
    ) f
    where (q.start = 0 or c.start_line = q.start) and (q.nth = 0 or c.nth = q.nth) and (q.line = 0 or q.line between c.start_line and c.end_line)
), seeds as (
    select c.* from candidates c
    where c.tier < 9 and c.tier = (select min(tier) from candidates)
)`

const findSQL = seedsSQL + `
select ` + hitColumns + `
from seeds s, lateral (select s.path) f
order by s.dup, (s.receiver <> ''), s.rank, f.path collate "C", s.start_line, s.nth
limit 200`

// FindSymbols gives every symbol that ref may mean, best first, at most 200 of them.
func (s *Store) FindSymbols(ctx context.Context, ref graph.SymbolRef) ([]graph.Hit, error) {
	if err := graph.CheckVersion(ref.Repo, ref.Version); err != nil {
		return nil, err
	}
	if ref.Name == "" {
		return s.symbolsAt(ctx, ref)
	}
	return answer(ctx, s, func(q querier) ([]graph.Hit, error) {
		return findNamed(ctx, q, ref)
	}, func(q querier) error {
		return needGraph(ctx, q, ref.Repo, ref.Version)
	})
}

func findNamed(ctx context.Context, q querier, ref graph.SymbolRef) ([]graph.Hit, error) {
	hits, err := collect(ctx, q, "find symbols", hitOf(ref.Repo, ref.Version), findSQL, seedArgs(ref))
	for i := range hits {
		hits[i].Score = 1
	}
	return hits, err
}

// seedArgs are the arguments of seedsSQL.
func seedArgs(ref graph.SymbolRef) pgx.NamedArgs {
	readings, start := ref.Alternatives()
	folded, names, qualifiers := make([]string, len(readings)), make([]string, len(readings)), make([]string, len(readings))
	place := `^\b$` // matches nothing
	for i, r := range readings {
		names[i], qualifiers[i] = clean(r.Name), clean(r.Qualifier)
		folded[i] = graph.Fold(names[i])
		if r.Qualifier != "" && place == `^\b$` {
			place = graph.PlacePattern(qualifiers[i])
		}
	}
	return pgx.NamedArgs{"repo": ref.Repo, "tag": ref.Version, "path": clean(ref.File), "line": ref.Line, "start": start, "nth": ref.Nth(),
		"folded": folded, "names": names, "qualifiers": qualifiers, "place": place, "limit": 0, "depth": 1}
}

const symbolsAtSQL = `
select ` + hitColumns + `
from versions v
join repositories r on r.id = v.repo_id
join source_files f on f.repo_id = r.id and f.path = @path
join version_files vf on vf.version_id = v.id and vf.file_id = f.id
join symbols s on s.file_id = f.id
where v.live and v.graph_here and r.name = @repo and v.tag = @tag and (@line = 0 or @line between s.start_line and s.end_line)`

// symbolsAt gives the symbols around a line of a file, the innermost first.
func (s *Store) symbolsAt(ctx context.Context, ref graph.SymbolRef) ([]graph.Hit, error) {
	if ref.File == "" || ref.Line <= 0 {
		return nil, domain.Invalid("name", "name a symbol, or a file and a line")
	}
	at := graph.FileRef{Repo: ref.Repo, Version: ref.Version, Path: ref.File}
	args := fileArgs(at)
	args["line"] = ref.Line
	return answer(ctx, s, func(q querier) ([]graph.Hit, error) {
		return collect(ctx, q, "find symbols at a line", hitOf(ref.Repo, ref.Version),
			symbolsAtSQL+` order by s.end_line - s.start_line, s.ord desc`, args)
	}, func(q querier) error {
		return needGraph(ctx, q, ref.Repo, ref.Version)
	})
}

// FileSymbols lists a file's symbols in order of position; not_found for an unknown file.
func (s *Store) FileSymbols(ctx context.Context, at graph.FileRef) ([]graph.Hit, error) {
	if err := graph.CheckVersion(at.Repo, at.Version); err != nil {
		return nil, err
	}
	args := fileArgs(at)
	args["line"] = 0
	return answer(ctx, s, func(q querier) ([]graph.Hit, error) {
		return collect(ctx, q, "list symbols", hitOf(at.Repo, at.Version), symbolsAtSQL+` order by s.ord`, args)
	}, func(q querier) error {
		if err := needGraph(ctx, q, at.Repo, at.Version); err != nil {
			return err
		}
		return needFile(ctx, q, at)
	})
}

const fileFactsSQL = `
select b.outline
from versions v
join repositories r on r.id = v.repo_id
join source_files f on f.repo_id = r.id and f.path = @path
join version_files vf on vf.version_id = v.id and vf.file_id = f.id
join source_blobs b on b.id = f.blob_id
where v.live and r.name = @repo and v.tag = @tag`

// Imports lists a file's imports in order of position; not_found for an unknown file.
func (s *Store) Imports(ctx context.Context, at graph.FileRef) ([]domain.Import, error) {
	if err := graph.CheckVersion(at.Repo, at.Version); err != nil {
		return nil, err
	}
	outlines, err := answer(ctx, s, func(q querier) ([][]byte, error) {
		return collect(ctx, q, "load imports", pgx.RowTo[[]byte], fileFactsSQL, fileArgs(at))
	}, func(q querier) error {
		return absentFile(ctx, q, at)
	})
	if err != nil {
		return nil, err
	}
	facts, err := joinFacts(outlines[0], nil)
	if err != nil {
		return nil, err
	}
	return facts.Imports, nil
}

// needFile is nil where the file exists, else its not_found.
func needFile(ctx context.Context, q querier, at graph.FileRef) error {
	found, err := collect(ctx, q, "look for file", pgx.RowTo[[]byte], fileFactsSQL, fileArgs(at))
	if err == nil && len(found) == 0 {
		err = absentFile(ctx, q, at)
	}
	return err
}

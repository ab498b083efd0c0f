package pg

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/graph"
)

// search is a symbol query over versions.
type search struct {
	graph.Search
	versions []graph.Snapshot
}

// SearchSymbols finds names that equal the text, begin with it, hold it at the start of a
// part, or hold it anywhere, in this order; if these are few, also names that look alike.
// A symbol that several versions hold is given once, from the newest.
func (s *Store) SearchSymbols(ctx context.Context, q graph.SymbolQuery) ([]graph.Hit, bool, error) {
	ready, err := graph.NewSearch(q)
	if err != nil {
		return nil, false, err
	}
	ready.Folded = clean(ready.Folded)
	search := search{Search: ready}
	var hits []graph.Hit
	err = s.over(ctx, q.Versions, func(chosen []graph.Snapshot) (present bool, err error) {
		search.versions = chosen
		hits, present, err = s.runSearch(ctx, search, search.literal())
		if err != nil || !present || !search.WantsAlike(len(hits)) {
			return present, err
		}
		alike, present, err := s.runSearch(ctx, search, search.alike())
		hits = graph.MergeHits(hits, alike)
		return present, err
	})
	if err != nil {
		return nil, false, err
	}
	truncated := len(hits) > search.Limit
	return hits[:min(len(hits), search.Limit)], truncated, nil
}

// condition is a WHERE clause on symbols s with how good a match is: tier, lower is better,
// and likeness, higher is better.
type condition struct {
	where, tier, likeness string
	args                  pgx.NamedArgs
}

// literal matches names that hold every word of the text. A text without a word of three
// letters is too short for the trigram index: there it matches names that begin with it.
func (q search) literal() condition {
	c := condition{args: pgx.NamedArgs{"folded": q.Folded}, likeness: "0::real"}
	if q.Short() {
		c.args["beyond"] = q.Folded + string(utf8.MaxRune)
		c.where = "s.folded ~>=~ @folded and s.folded ~<~ @beyond"
		c.tier = "case when s.folded = @folded then 0 else 1 end"
		return c
	}
	c.args["prefix"] = likeLiteral(q.Folded) + "%"
	var holds, begins []string
	for i, word := range q.Words {
		hold, begin := fmt.Sprintf("hold%d", i), fmt.Sprintf("begin%d", i)
		c.args[hold], c.args[begin] = "%"+likeLiteral(clean(word))+"%", "% "+likeLiteral(clean(word))+"%"
		holds = append(holds, "s.folded like (select @"+hold+"::text)")
		begins = append(begins, "s.words like @"+begin)
	}
	c.where = strings.Join(holds, " and ")
	c.tier = "case when s.folded = @folded then 0 when s.folded like @prefix then 1 when " + strings.Join(begins, " and ") + " then 2 else 3 end"
	return c
}

// alike matches names by their trigrams.
func (q search) alike() condition {
	return condition{
		where:    "s.folded % (select @folded::text)",
		tier:     "4",
		likeness: "similarity(s.folded, @folded)",
		args:     pgx.NamedArgs{"folded": q.Folded},
	}
}

// likeLiteral quotes what LIKE would take for a pattern.
func likeLiteral(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}

// The matches are found by an index first (the fence keeps that apart), then reduced to those
// that a version lists, ranked and cut; only what is left is described. The arguments of the
// index condition come as subqueries, so that one plan is made and kept.
const (
	oneVersionSQL = `
with found as (
    select s.*, 1::bigint as pos, %[1]s as tier, %[2]s as likeness
    from (select s.* from symbols s where %[3]s and %[4]s offset 0) s
    where exists (select from version_files vf where vf.version_id = @version and vf.file_id = s.file_id offset 0) and %[5]s
    order by tier, likeness desc, s.rank, length(s.folded), s.file_id, s.ord
    limit (select @limit::int)
)`
	manyVersionsSQL = `
with each as (
    select distinct on (s.key_id) s.*, l.pos, %[1]s as tier, %[2]s as likeness
    from (select s.* from symbols s where %[3]s and %[4]s offset 0) s, lateral (
        select u.pos from version_files vf join unnest(@versions::int[]) with ordinality u(id, pos) on u.id = vf.version_id
        where vf.file_id = s.file_id order by u.pos limit 1
    ) l
    where %[5]s
    order by s.key_id, l.pos
), found as (
    select * from each s
    order by tier, likeness desc, s.rank, length(s.folded), s.file_id, s.ord
    limit (select @limit::int)
)`
	foundSQL = `
select s.tier, s.likeness, s.pos, s.rank, ` + hitColumns + `
from found s, lateral (select f.path from source_files f where f.id = s.file_id offset 0) f`
	qualifiedSQL = `(lower(s.receiver) = @qualifier or lower(s.receiver) like '%.' || @qualifier_like or exists (
        select from source_files f where f.id = s.file_id and lower(f.path) like '%' || @place_like || '%'))`
)

// ranked is a hit with what orders it among its equals.
type ranked struct {
	graph.Hit
	rank int16
}

// runSearch gives the hits, and whether the versions were all listed while it looked.
func (s *Store) runSearch(ctx context.Context, q search, c condition) (hits []graph.Hit, present bool, err error) {
	args, ids := c.args, versionIDs(q.versions)
	args["limit"] = q.Limit + 1
	sql := manyVersionsSQL
	if len(ids) == 1 {
		sql, args["version"] = oneVersionSQL, ids[0]
	} else {
		args["versions"] = ids
	}
	qualified := "true"
	if q.Qualifier != "" {
		qualified = qualifiedSQL
		qualifier := clean(q.Qualifier)
		args["qualifier"], args["qualifier_like"] = qualifier, likeLiteral(qualifier)
		args["place_like"] = likeLiteral(strings.ReplaceAll(qualifier, ".", "/"))
	}
	sql = fmt.Sprintf(sql, c.tier, c.likeness, c.where, kindFilter(q.Kinds()), qualified) + foundSQL
	found, seen, err := whilePresent(ctx, s, "search symbols", func(row pgx.CollectableRow) (ranked, error) {
		var h hitRow
		var r ranked
		var tier int
		var likeness float32
		var pos int64
		if err := row.Scan(append([]any{&tier, &likeness, &pos, &r.rank}, h.targets()...)...); err != nil {
			return ranked{}, err
		}
		v := q.versions[pos-1]
		r.Hit = h.hit(v.Repo, v.Tag)
		r.Score = graph.TierScore(tier, float64(likeness))
		return r, nil
	}, ids, sql, args)
	if err == nil && seen.listed && !seen.graphed {
		err = needGraphs(ctx, s.pool, q.versions)
	}
	slices.SortFunc(found, compareRanked)
	hits = make([]graph.Hit, len(found))
	for i, r := range found {
		hits[i] = r.Hit
	}
	return hits, seen.listed, err
}

func compareRanked(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.rank, b.rank), cmp.Compare(len(graph.Fold(a.Name)), len(graph.Fold(b.Name))),
		strings.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), strings.Compare(a.Repo, b.Repo))
}

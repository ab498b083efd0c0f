package pg

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	maxSearchHits = 100
	// fewHits is how many matches make a search by likeness superfluous.
	fewHits = 3
)

// search is a symbol query on its way to SQL.
type search struct {
	graph.SymbolQuery
	folded    string
	words     []string
	qualifier string // lower case; "" for none
	filter    string // SQL
	versions  []graph.Snapshot
}

// SearchSymbols finds names that equal the text, begin with it, hold it at the start of a
// part, or hold it anywhere, in this order; if these are few, also names that look alike.
// A symbol that several versions hold is given once, from the newest.
func (s *Store) SearchSymbols(ctx context.Context, q graph.SymbolQuery) ([]graph.Hit, bool, error) {
	search, err := s.prepareSearch(ctx, q)
	if err != nil || len(search.versions) == 0 {
		return nil, false, err
	}
	hits, err := s.runSearch(ctx, search, search.literal())
	if err != nil {
		return nil, false, err
	}
	if len(hits) < fewHits && utf8.RuneCountInString(search.folded) >= 3 {
		alike, err := s.runSearch(ctx, search, search.alike())
		if err != nil {
			return nil, false, err
		}
		hits = mergeHits(hits, alike)
	}
	truncated := len(hits) > search.Limit
	return hits[:min(len(hits), search.Limit)], truncated, nil
}

func (s *Store) prepareSearch(ctx context.Context, q graph.SymbolQuery) (search, error) {
	if q.Limit <= 0 {
		q.Limit = 20
	}
	q.Limit = min(q.Limit, maxSearchHits)
	text := clean(strings.TrimSpace(q.Text))
	if text == "" {
		return search{}, domain.Invalid("query", "say what to search for")
	}
	if len(text) > 200 {
		return search{}, domain.Invalid("query", "a name has at most 200 bytes; use search_text for longer texts")
	}
	out := search{SymbolQuery: q}
	if readings, _ := (graph.SymbolRef{Name: text}).Alternatives(); len(readings) > 1 && !strings.ContainsAny(text, " \t") {
		last := readings[1]
		for _, r := range readings {
			if r.Qualifier != "" {
				last = r
				break
			}
		}
		text, out.qualifier = last.Name, strings.ToLower(last.Qualifier)
	}
	out.folded, out.words = graph.Fold(text), graph.Words(text)
	out.words = out.words[:min(len(out.words), 6)]
	var err error
	if out.filter, err = kindFilter(q.Kind); err != nil {
		return search{}, err
	}
	out.versions, err = s.Snapshots(ctx, q.Repos, q.Versions)
	return out, err
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
	c := condition{args: pgx.NamedArgs{"folded": q.folded, "prefix": likeLiteral(q.folded) + "%"}, likeness: "0::real"}
	var holds, begins []string
	long := false
	for i, word := range q.words {
		hold, begin := fmt.Sprintf("hold%d", i), fmt.Sprintf("begin%d", i)
		c.args[hold], c.args[begin] = "%"+likeLiteral(word)+"%", "% "+likeLiteral(word)+"%"
		holds = append(holds, "s.folded like (select @"+hold+"::text)")
		begins = append(begins, "s.words like @"+begin)
		long = long || utf8.RuneCountInString(word) >= 3
	}
	if !long {
		for name := range c.args {
			if name != "folded" {
				delete(c.args, name)
			}
		}
		c.args["beyond"] = q.folded + string(utf8.MaxRune)
		c.where = "s.folded ~>=~ @folded and s.folded ~<~ @beyond"
		c.tier = "case when s.folded = @folded then 0 else 1 end"
		return c
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
		args:     pgx.NamedArgs{"folded": q.folded},
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

func (s *Store) runSearch(ctx context.Context, q search, c condition) ([]graph.Hit, error) {
	args := c.args
	args["limit"] = q.Limit + 1
	sql := manyVersionsSQL
	if len(q.versions) == 1 {
		sql, args["version"] = oneVersionSQL, q.versions[0].ID
	} else {
		ids := make([]int32, len(q.versions))
		for i, v := range q.versions {
			ids[i] = int32(v.ID)
		}
		args["versions"] = ids
	}
	qualified := "true"
	if q.qualifier != "" {
		qualified = qualifiedSQL
		args["qualifier"], args["qualifier_like"] = q.qualifier, likeLiteral(q.qualifier)
		args["place_like"] = likeLiteral(strings.ReplaceAll(q.qualifier, ".", "/"))
	}
	sql = fmt.Sprintf(sql, c.tier, c.likeness, c.where, q.filter, qualified) + foundSQL
	found, err := collect(ctx, s.pool, "search symbols", func(row pgx.CollectableRow) (ranked, error) {
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
		r.Score = score(tier, float64(likeness))
		return r, nil
	}, sql, args)
	slices.SortFunc(found, compareRanked)
	hits := make([]graph.Hit, len(found))
	for i, r := range found {
		hits[i] = r.Hit
	}
	return hits, err
}

func compareRanked(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.rank, b.rank), cmp.Compare(len(graph.Fold(a.Name)), len(graph.Fold(b.Name))),
		strings.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), strings.Compare(a.Repo, b.Repo))
}

// score maps a tier to 1 (equal), 0.9, 0.8, 0.7, and likeness to what is below 0.6.
func score(tier int, likeness float64) float64 {
	if tier < 4 {
		return 1 - float64(tier)/10
	}
	return 0.6 * likeness
}

// mergeHits appends those of more that hits does not hold.
func mergeHits(hits, more []graph.Hit) []graph.Hit {
	type place struct{ repo, path, local string }
	seen := make(map[place]bool, len(hits))
	for _, h := range hits {
		seen[place{h.Repo, h.Path, h.Local}] = true
	}
	for _, h := range more {
		if !seen[place{h.Repo, h.Path, h.Local}] {
			hits = append(hits, h)
		}
	}
	return hits
}

package neo4j

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/graph"
)

// SearchSymbols finds names that equal the text, begin with it, hold it at the start of a
// part, or hold it anywhere, in this order; if these are few, also names that look alike.
// A symbol that several versions hold is given once, from the newest.
func (s *Store) SearchSymbols(ctx context.Context, q graph.SymbolQuery) ([]graph.Hit, bool, error) {
	search, err := graph.NewSearch(q)
	if err != nil {
		return nil, false, err
	}
	var hits []graph.Hit
	err = s.askAll(ctx, q.Versions, func(tx runner, snapshots []graph.Snapshot) error {
		hits, err = matches(ctx, tx, search, snapshots, literal(search))
		if err != nil || !search.WantsAlike(len(hits)) {
			return err
		}
		more, err := matches(ctx, tx, search, snapshots, alike(search))
		hits = graph.MergeHits(hits, more)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	truncated := len(hits) > search.Limit
	return hits[:min(len(hits), search.Limit)], truncated, nil
}

// match is a way to find symbols n, with the tier of each.
type match struct {
	find, tier string
	params     map[string]any
}

// literal matches names that hold every word of the text, or begin with a short text.
func literal(q graph.Search) match {
	m := match{params: map[string]any{"folded": q.Folded}}
	if q.Short() {
		m.find = `MATCH (n:HarvestSymbol) WHERE n.folded STARTS WITH $folded`
		m.tier = `CASE WHEN n.folded = $folded THEN 0 ELSE 1 END`
		return m
	}
	var holds, begins []string
	for i, word := range q.Words {
		name := fmt.Sprintf("word%d", i)
		m.params[name] = word
		holds = append(holds, "n.folded CONTAINS $"+name)
		begins = append(begins, "n.words CONTAINS (' ' + $"+name+")")
	}
	m.find = `MATCH (n:HarvestSymbol) WHERE ` + strings.Join(holds, " AND ")
	m.tier = `CASE WHEN n.folded = $folded THEN 0 WHEN n.folded STARTS WITH $folded THEN 1 WHEN ` + strings.Join(begins, " AND ") + ` THEN 2 ELSE 3 END`
	return m
}

// alike matches names that differ by one or two letters.
func alike(q graph.Search) match {
	return match{
		find:   `CALL db.index.fulltext.queryNodes('harvest_alike', $alike, {limit: 2000}) YIELD node AS n WHERE true`,
		tier:   `4`,
		params: map[string]any{"alike": luceneLiteral(q.Folded) + "~2"},
	}
}

// luceneLiteral quotes what the query language of full-text indexes would take for syntax.
func luceneLiteral(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(`+-&|!(){}[]^"~*?:\/ `, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

const matchesCypher = `
%s AND n.snapshot IN $ids AND %s AND ($qualifier = '' OR toLower(n.receiver) = $qualifier
  OR toLower(n.receiver) ENDS WITH ('.' + $qualifier) OR toLower(n.file) CONTAINS $place)
WITH n, %s AS tier, [i IN range(0, size($ids) - 1) WHERE $ids[i] = n.snapshot][0] AS pos
ORDER BY pos
WITH n.repo AS repo, n.file AS path, n.local AS key, collect({n: n, tier: tier, pos: pos})[0] AS first
WITH first.n AS n, first.tier AS tier, first.pos AS pos
RETURN tier, pos, n.folded AS folded,` + hitFields + `
ORDER BY tier, n.rank, size(n.folded), n.file, n.start_line
LIMIT $limit`

func matches(ctx context.Context, tx runner, q graph.Search, snapshots []graph.Snapshot, m match) ([]graph.Hit, error) {
	m.params["ids"], m.params["limit"] = snapshotIDs(snapshots), q.Limit+1
	m.params["qualifier"], m.params["place"] = q.Qualifier, strings.ReplaceAll(q.Qualifier, ".", "/")
	if m.tier == "4" {
		m.params["limit"] = 2000 // ranked here
	}
	type ranked struct {
		found
		folded string
	}
	all, err := rows(ctx, tx, func(r *neo4j.Record) ranked {
		one := ranked{found: foundOf(snapshots[field[int64](r, "pos")])(r), folded: field[string](r, "folded")}
		one.Score = graph.TierScore(int(field[int64](r, "tier")), likeness(one.folded, q.Folded))
		return one
	}, fmt.Sprintf(matchesCypher, m.find, kindFilter(q), m.tier), m.params)
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.folded), len(b.folded)),
			strings.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), strings.Compare(a.Repo, b.Repo))
	})
	all = all[:min(len(all), q.Limit+1)]
	hits := make([]graph.Hit, len(all))
	for i, one := range all {
		hits[i] = one.Hit
	}
	return hits, err
}

// kindFilter is the condition of a query's kind on symbols n.
func kindFilter(q graph.Search) string {
	switch kinds := q.Kinds(); {
	case kinds == nil:
		return "true"
	default:
		quoted := make([]string, len(kinds))
		for i, k := range kinds {
			quoted[i] = "'" + string(k) + "'"
		}
		return "n.kind IN [" + strings.Join(quoted, ", ") + "]"
	}
}

// likeness is 1 for equal texts and falls with each letter that differs.
func likeness(a, b string) float64 {
	longest := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	if longest == 0 {
		return 1
	}
	return 1 - float64(distance([]rune(a), []rune(b)))/float64(longest)
}

// distance is the number of letters to insert, delete or replace.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

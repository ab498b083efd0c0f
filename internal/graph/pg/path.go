package pg

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	defaultPathDepth = 12
	maxPathDepth     = 30
	// pathCap bounds the symbols that a search for a path goes through.
	pathCap = 200_000
)

// Path gives the shortest chain of calls from one symbol to another; none is no error. Of
// several shortest chains it is always the same one. The search goes from both ends at once,
// each time from the one that has fewer symbols before it.
func (s *Store) Path(ctx context.Context, from, to graph.SymbolRef, depth int) ([]graph.Site, error) {
	if from.Repo != to.Repo || from.Version != to.Version {
		return nil, domain.Invalid("to", "both symbols must be of one repository and version")
	}
	if depth <= 0 {
		depth = defaultPathDepth
	}
	depth = min(depth, maxPathDepth)
	for _, ref := range []graph.SymbolRef{from, to} {
		if err := needSymbolRef(ref); err != nil {
			return nil, err
		}
	}
	var sites []graph.Site
	var absent *graph.SymbolRef
	err := s.reading(ctx, func(tx pgx.Tx) error {
		ends, err := seedsOf(ctx, tx, from, to)
		if err != nil {
			return err
		}
		for i, ref := range []*graph.SymbolRef{&from, &to} {
			if len(ends[i]) == 0 {
				absent = ref
				return nil
			}
		}
		search := pathSearch{tx: tx, version: ends[0][0].Version, repo: from.Repo, tag: from.Version}
		chain, err := search.run(ctx, keysOf(ends[0]), keysOf(ends[1]), depth)
		if err == nil && len(chain) > 0 {
			sites, err = search.describe(ctx, chain)
		}
		return err
	})
	if err == nil && absent != nil {
		err = s.needSymbol(ctx, *absent)
	}
	return sites, err
}

// needSymbolRef checks that ref can name symbols of a version.
func needSymbolRef(ref graph.SymbolRef) error {
	if err := needVersion(ref.Repo, ref.Version); err != nil {
		return err
	}
	if ref.Name == "" {
		return domain.Invalid("name", "name a symbol")
	}
	return nil
}

// seed is a symbol that a reference means, and the id of its version.
type seed struct{ Key, Version int64 }

// seedsOf looks up both ends in one round trip.
func seedsOf(ctx context.Context, tx pgx.Tx, refs ...graph.SymbolRef) ([][]seed, error) {
	batch := &pgx.Batch{}
	for _, ref := range refs {
		batch.Queue(seedsSQL+` select distinct seeds.key_id, v.id from seeds, v order by 1`, seedArgs(ref))
	}
	results := tx.SendBatch(ctx, batch)
	defer results.Close()
	ends := make([][]seed, len(refs))
	for i := range refs {
		rows, err := results.Query()
		if err == nil {
			ends[i], err = pgx.CollectRows(rows, pgx.RowToStructByPos[seed])
		}
		if err != nil {
			return nil, fmt.Errorf("find symbols: %w", err)
		}
	}
	return ends, nil
}

func keysOf(seeds []seed) []int64 {
	keys := make([]int64, len(seeds))
	for i, s := range seeds {
		keys[i] = s.Key
	}
	return keys
}

// pathSearch looks for a chain of calls in one version.
type pathSearch struct {
	tx        pgx.Tx
	version   int64
	repo, tag string
}

// half is the search from one end: how each symbol was reached, and the outermost ones.
type half struct {
	sql   string
	via   map[int64]int64 // symbol → the one nearer to this end; an end itself → itself
	front []int64
}

func newHalf(sql string, ends []int64) *half {
	h := &half{sql: sql, via: make(map[int64]int64, 64), front: ends}
	for _, key := range ends {
		h.via[key] = key
	}
	return h
}

const (
	forwardSQL = `
select k.key_id, e.dst_key
from unnest((select @keys::bigint[])) k(key_id), lateral (
    select vf.resolved_id, s.ord from symbols s join version_files vf on vf.version_id = @version and vf.file_id = s.file_id
    where s.key_id = k.key_id
    offset 0
) s, lateral (
    select e.dst_key from edges e where e.resolved_id = s.resolved_id and e.src_ord = s.ord and e.kind = 1
    offset 0
) e`
	backwardSQL = `
select k.key_id, e.src_key
from unnest((select @keys::bigint[])) k(key_id), lateral (
    select e.src_key from edges e
    where e.dst_key = k.key_id and e.kind = 1 and e.src_ord >= 0 and exists (
        select from version_files vf
        where vf.version_id = @version and vf.file_id = e.file_id and vf.resolved_id = e.resolved_id)
    offset 0
) e`
)

// run gives the keys of a shortest chain, or none.
func (p pathSearch) run(ctx context.Context, from, to []int64, depth int) ([]int64, error) {
	forward, backward := newHalf(forwardSQL, from), newHalf(backwardSQL, to)
	for _, key := range from {
		if _, both := backward.via[key]; both {
			return []int64{key}, nil
		}
	}
	for step := 0; step < depth && len(forward.front) > 0 && len(backward.front) > 0; step++ {
		near, far := forward, backward
		if len(backward.front) < len(forward.front) {
			near, far = backward, forward
		}
		meeting, err := p.step(ctx, near, far)
		if err != nil {
			return nil, err
		}
		if len(meeting) > 0 {
			return join(forward, backward, slices.Min(meeting)), nil
		}
		if len(forward.via)+len(backward.via) > pathCap {
			return nil, domain.Errorf(domain.CodeTooLarge, "no chain of calls among the %d symbols nearest to both ends", pathCap)
		}
	}
	return nil, nil
}

// step goes one call further from near's front; it gives the symbols that far has reached too.
func (p pathSearch) step(ctx context.Context, near, far *half) ([]int64, error) {
	type call struct{ Known, Next int64 }
	calls, err := collect(ctx, p.tx, "follow calls", pgx.RowToStructByPos[call], near.sql,
		pgx.NamedArgs{"keys": near.front, "version": p.version})
	if err != nil {
		return nil, err
	}
	reached := map[int64]int64{}
	for _, c := range calls {
		if _, seen := near.via[c.Next]; seen {
			continue
		}
		if via, again := reached[c.Next]; !again || c.Known < via {
			reached[c.Next] = c.Known
		}
	}
	near.front = near.front[:0:0]
	var meeting []int64
	for key, via := range reached {
		near.via[key] = via
		near.front = append(near.front, key)
		if _, met := far.via[key]; met {
			meeting = append(meeting, key)
		}
	}
	return meeting, nil
}

// join follows both halves from where they met to their ends.
func join(forward, backward *half, at int64) []int64 {
	chain := []int64{at}
	for key := at; forward.via[key] != key; {
		key = forward.via[key]
		chain = append(chain, key)
	}
	slices.Reverse(chain)
	for key := at; backward.via[key] != key; {
		key = backward.via[key]
		chain = append(chain, key)
	}
	return chain
}

const describeSQL = `
select coalesce(e.kind, 0::smallint), coalesce(e.how, 0::smallint), coalesce(e.line, 0), coalesce(e.path, ''), ` + hitColumns + `
from unnest(@keys::bigint[]) with ordinality k(key_id, pos)
join lateral (
    select s.*, f.path from symbols s
    join version_files vf on vf.version_id = @version and vf.file_id = s.file_id
    join source_files f on f.id = s.file_id
    where s.key_id = k.key_id offset 0
) s on true
cross join lateral (select s.path) f
left join lateral (
    select e.kind, e.how, e.line, f.path from edges e
    join version_files vf on vf.version_id = @version and vf.file_id = e.file_id and vf.resolved_id = e.resolved_id
    join source_files f on f.id = e.file_id
    where k.pos > 1 and e.dst_key = k.key_id and e.kind = 1 and e.src_key = (@keys::bigint[])[k.pos - 1]
    order by e.line limit 1
) e on true
order by k.pos`

// describe gives each symbol of the chain with the place where the one before calls it.
func (p pathSearch) describe(ctx context.Context, chain []int64) ([]graph.Site, error) {
	return collect(ctx, p.tx, "describe the path", func(row pgx.CollectableRow) (graph.Site, error) {
		var site graph.Site
		var h hitRow
		var kind, how int16
		err := row.Scan(append([]any{&kind, &how, &site.Line, &site.File}, h.targets()...)...)
		site.Hit = h.hit(p.repo, p.tag)
		site.Kind, site.How = decoded(edgeKinds, kind), decoded(hows, how)
		return site, err
	}, describeSQL, pgx.NamedArgs{"keys": chain, "version": p.version})
}

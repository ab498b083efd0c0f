package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// Path gives the shortest chain of calls from one symbol to another; none is no error. Of
// several shortest chains it is always the same one.
func (s *Store) Path(ctx context.Context, from, to graph.SymbolRef, depth int) ([]graph.Site, error) {
	if from.Repo != to.Repo || from.Version != to.Version {
		return nil, domain.Invalid("to", "both symbols must be of one repository and version")
	}
	for _, ref := range []graph.SymbolRef{from, to} {
		if err := ref.Check(); err != nil {
			return nil, err
		}
	}
	var sites []graph.Site
	err := s.reading(ctx, func(tx pgx.Tx) error {
		ends, err := seedsOf(ctx, tx, from, to)
		if err != nil {
			return err
		}
		for i, ref := range []graph.SymbolRef{from, to} {
			if len(ends[i]) == 0 {
				return needSymbol(ctx, tx, ref)
			}
		}
		search := pathSearch{tx: tx, version: ends[0][0].Version, repo: from.Repo, tag: from.Version}
		chain, err := graph.ShortestPath(ctx, search, keysOf(ends[0]), keysOf(ends[1]), depth)
		if err == nil && len(chain) > 0 {
			sites, err = search.describe(ctx, chain)
		}
		return err
	})
	return sites, err
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

// Follow goes one call further from keys.
func (p pathSearch) Follow(ctx context.Context, keys []int64, backward bool) ([]graph.Call, error) {
	sql := forwardSQL
	if backward {
		sql = backwardSQL
	}
	return collect(ctx, p.tx, "follow calls", pgx.RowToStructByPos[graph.Call], sql, pgx.NamedArgs{"keys": keys, "version": p.version})
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

package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// classNodesSQL and otherNodesSQL choose the nodes of a picture: class-like ones first, and of
// equals the exported and those outside of tests, then by path and position.
const (
	nodesSQL = `
with files as materialized (
    select vf.file_id, vf.resolved_id, f.path, row_number() over (order by f.path collate "C") as pos
    from version_files vf join source_files f on f.id = vf.file_id
    where vf.version_id = @version
)
select s.key_id, s.ord, coalesce(f.resolved_id, 0), ` + hitColumns + `
from files f join symbols s on s.file_id = f.file_id
where %s
order by s.rank, f.pos, s.ord
limit @limit`
	linksSQL = `
with nodes as materialized (
    select * from unnest(@keys::bigint[], @ords::int[], @resolved::int[]) with ordinality n(key_id, ord, resolved_id, pos)
)
select n.pos - 1, m.pos - 1, e.kind, min(e.how)
from nodes n
join edges e on e.resolved_id = n.resolved_id and e.src_ord = n.ord
join nodes m on m.key_id = e.dst_key
group by 1, 2, 3`
)

// Graph gives the symbol graph of a version, trimmed to caps (0: none). Nodes are in the
// order in which they were chosen.
func (s *Store) Graph(ctx context.Context, repo, version string, maxNodes, maxEdges int) (graph.Picture, error) {
	var picture graph.Picture
	err := s.reading(ctx, func(tx pgx.Tx) error {
		v, err := loadGraphed(ctx, tx, repo, version)
		if err != nil {
			return err
		}
		nodes, err := chooseNodes(ctx, tx, v, maxNodes)
		if err != nil {
			return err
		}
		links, err := linksBetween(ctx, tx, nodes)
		if err != nil {
			return err
		}
		hits := make([]graph.Hit, len(nodes))
		for i, n := range nodes {
			hits[i] = n.Hit
		}
		picture = graph.Draw(hits, links, v.Symbols, maxEdges)
		return nil
	})
	return picture, err
}

// node is a symbol chosen for a picture.
type node struct {
	graph.Hit
	key           int64
	ord, resolved int32
}

func chooseNodes(ctx context.Context, tx pgx.Tx, v domain.VersionDetail, limit int) ([]node, error) {
	if limit <= 0 {
		limit = max(v.Symbols, 1)
	}
	var nodes []node
	for _, which := range []string{"s.class", "not s.class"} {
		if len(nodes) >= limit {
			break
		}
		more, err := collect(ctx, tx, "choose nodes", func(row pgx.CollectableRow) (node, error) {
			var n node
			var h hitRow
			err := row.Scan(append([]any{&n.key, &n.ord, &n.resolved}, h.targets()...)...)
			n.Hit = h.hit(v.Repo, v.Tag)
			return n, err
		}, fmt.Sprintf(nodesSQL, which), pgx.NamedArgs{"version": v.ID, "limit": limit - len(nodes)})
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, more...)
	}
	return nodes, nil
}

func linksBetween(ctx context.Context, tx pgx.Tx, nodes []node) ([]graph.PictureLink, error) {
	keys, ords, resolved := make([]int64, len(nodes)), make([]int32, len(nodes)), make([]int32, len(nodes))
	for i, n := range nodes {
		keys[i], ords[i], resolved[i] = n.key, n.ord, n.resolved
	}
	return collect(ctx, tx, "load links", func(row pgx.CollectableRow) (graph.PictureLink, error) {
		var l graph.PictureLink
		var kind, how int16
		err := row.Scan(&l.From, &l.To, &kind, &how)
		l.Kind, l.How = decoded(edgeKinds, kind), decoded(hows, how)
		return l, err
	}, linksSQL, pgx.NamedArgs{"keys": keys, "ords": ords, "resolved": resolved})
}

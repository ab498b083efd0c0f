package neo4j

import (
	"context"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	nodesCypher = `
MATCH (n:HarvestSymbol {snapshot: $id, class: $class})
RETURN` + hitFields + `ORDER BY n.rank, n.file, n.ord LIMIT $limit`
	linksCypher = `
UNWIND $uids AS uid
MATCH (a:HarvestSymbol {uid: uid})-[e]->(b:HarvestSymbol) WHERE b.uid IN $uids
RETURN DISTINCT a.uid AS source, b.uid AS target, type(e) AS type, e.how AS how`
)

// Graph gives the symbol graph of a version, trimmed to caps (0: none). Nodes are in the
// order in which they were chosen: class-like ones first.
func (s *Store) Graph(ctx context.Context, repo, version string, maxNodes, maxEdges int) (graph.Picture, error) {
	var picture graph.Picture
	_, err := s.askWhole(ctx, repo, version, func(tx runner, at graph.Snapshot, detail domain.VersionDetail) error {
		limit := maxNodes
		if limit <= 0 {
			limit = max(detail.Symbols, 1)
		}
		var nodes []found
		for _, class := range []bool{true, false} {
			if len(nodes) >= limit {
				break
			}
			more, err := rows(ctx, tx, foundOf(at), nodesCypher, map[string]any{"id": at.ID, "class": class, "limit": limit - len(nodes)})
			if err != nil {
				return err
			}
			nodes = append(nodes, more...)
		}
		links, err := linksBetween(ctx, tx, uidsOf(nodes))
		picture = graph.Draw(hitsOf(nodes), links, max(detail.Symbols, len(nodes)), maxEdges)
		return err
	})
	return picture, err
}

func linksBetween(ctx context.Context, tx runner, uids []int64) ([]graph.PictureLink, error) {
	at := make(map[int64]int, len(uids))
	for i, uid := range uids {
		at[uid] = i
	}
	all, err := rows(ctx, tx, func(r *neo4j.Record) graph.PictureLink {
		return graph.PictureLink{From: at[field[int64](r, "source")], To: at[field[int64](r, "target")],
			Kind: kindOf(field[string](r, "type")), How: domain.How(field[string](r, "how"))}
	}, linksCypher, map[string]any{"uids": uids})
	return all, err
}

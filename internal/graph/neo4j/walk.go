package neo4j

import (
	"cmp"
	"context"
	"slices"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// walkCap bounds the symbols that a question about callers goes through.
const walkCap = 5000

// step is a relationship with the node at the asked end.
type step struct {
	graph.Site
	from int64 // uid of the node that the question began with
	uid  int64 // of the node at the other end
}

// edgeFields are the properties of a relationship e whose source is a.
const edgeFields = ` type(e) AS type, e.line AS line, e.how AS how, coalesce(a.file, a.path) AS place,`

// fileOrHitFields are hitFields of a node n that may be a file.
const fileOrHitFields = ` n.uid AS uid, coalesce(n.file, n.path) AS file, n.local AS local, n.name AS name, n.receiver AS receiver,
 n.kind AS kind, n.signature AS signature, n.doc AS doc, n.start_line AS start_line, n.end_line AS end_line,
 n.exported AS exported, n.rank AS rank, n.ord AS ord `

const (
	intoCypher = `
UNWIND $uids AS uid
MATCH (b:HarvestSymbol {uid: uid})<-[e]-(a) WHERE (a:HarvestSymbol OR a:HarvestFile) AND type(e) IN $types
WITH b, e, a, a AS n
RETURN b.uid AS known,` + edgeFields + fileOrHitFields
	outOfCypher = `
UNWIND $uids AS uid
MATCH (a:HarvestSymbol {uid: uid})-[e]->(n:HarvestSymbol) WHERE type(e) IN $types
RETURN a.uid AS known,` + edgeFields + hitFields
)

func follow(ctx context.Context, tx runner, at graph.Snapshot, cypher string, uids []int64, kinds ...domain.EdgeKind) ([]step, error) {
	var types []string
	for _, kind := range kinds {
		types = append(types, relation(kind))
	}
	read := foundOf(at)
	steps, err := rows(ctx, tx, func(r *neo4j.Record) step {
		f := read(r)
		return step{from: field[int64](r, "known"), uid: f.uid, Site: graph.Site{Hit: f.Hit, Kind: kindOf(field[string](r, "type")),
			How: domain.How(field[string](r, "how")), File: field[string](r, "place"), Line: int(field[int64](r, "line"))}}
	}, cypher, map[string]any{"uids": uids, "types": types})
	slices.SortStableFunc(steps, func(a, b step) int { return graph.CompareSites(a.Site, b.Site) })
	return steps, err
}

// kindOf is the kind of edge that a type of relationship stands for.
func kindOf(relationType string) domain.EdgeKind {
	for _, kind := range edgeKinds {
		if relation(kind) == relationType {
			return kind
		}
	}
	return ""
}

// askSeeds answers a question about the symbols that ref means; not_found where it means none.
func (s *Store) askSeeds(ctx context.Context, ref graph.SymbolRef, f func(tx runner, at graph.Snapshot, uids []int64) error) error {
	if err := ref.Check(); err != nil {
		return err
	}
	return s.ask(ctx, ref.Repo, ref.Version, func(tx runner, at graph.Snapshot) error {
		meant, err := seeds(ctx, tx, at, ref)
		if err != nil {
			return err
		}
		if len(meant) == 0 {
			return graph.NoSymbol(ref)
		}
		return f(tx, at, uidsOf(meant))
	})
}

func uidsOf(all []found) []int64 {
	uids := make([]int64, len(all))
	for i, f := range all {
		uids[i] = f.uid
	}
	return uids
}

// Callers gives the calls of the symbols that ref means, the nearest first.
func (s *Store) Callers(ctx context.Context, ref graph.SymbolRef, depth, limit int) ([]graph.Site, bool, error) {
	limit = graph.SiteLimit(limit)
	var sites []graph.Site
	err := s.askSeeds(ctx, ref, func(tx runner, at graph.Snapshot, uids []int64) error {
		sites = nil
		seen := map[int64]bool{}
		for _, uid := range uids {
			seen[uid] = true
		}
		for range graph.CallersDepth(depth) {
			steps, err := follow(ctx, tx, at, intoCypher, uids, domain.EdgeCalls)
			if err != nil {
				return err
			}
			uids = nil
			for _, step := range steps {
				sites = append(sites, step.Site)
				if step.Local != "" && !seen[step.uid] {
					seen[step.uid] = true
					uids = append(uids, step.uid)
				}
			}
			if len(sites) > limit || len(uids) == 0 || len(seen) > walkCap {
				break
			}
		}
		return nil
	})
	return cut(sites, limit), len(sites) > limit, err
}

func cut(sites []graph.Site, limit int) []graph.Site { return sites[:min(len(sites), limit)] }

// Callees gives the calls that the symbols that ref means make, in the order of the source.
func (s *Store) Callees(ctx context.Context, ref graph.SymbolRef, limit int) ([]graph.Site, bool, error) {
	return s.around(ctx, ref, limit, outOfCypher, domain.EdgeCalls)
}

// References gives edges of every kind that end in the symbols that ref means.
func (s *Store) References(ctx context.Context, ref graph.SymbolRef, limit int) ([]graph.Site, bool, error) {
	return s.around(ctx, ref, limit, intoCypher, edgeKinds...)
}

func (s *Store) around(ctx context.Context, ref graph.SymbolRef, limit int, cypher string, kinds ...domain.EdgeKind) ([]graph.Site, bool, error) {
	limit = graph.SiteLimit(limit)
	var sites []graph.Site
	err := s.askSeeds(ctx, ref, func(tx runner, at graph.Snapshot, uids []int64) error {
		steps, err := follow(ctx, tx, at, cypher, uids, kinds...)
		sites = make([]graph.Site, len(steps))
		for i, step := range steps {
			sites[i] = step.Site
		}
		return err
	})
	return cut(sites, limit), len(sites) > limit, err
}

// Path gives the shortest chain of calls from one symbol to another; none is no error. Of
// several shortest chains it is always the same one.
func (s *Store) Path(ctx context.Context, from, to graph.SymbolRef, depth int) ([]graph.Site, error) {
	if from.Repo != to.Repo || from.Version != to.Version {
		return nil, domain.Invalid("to", "both symbols must be of one repository and version")
	}
	if err := to.Check(); err != nil {
		return nil, err
	}
	var sites []graph.Site
	err := s.askSeeds(ctx, from, func(tx runner, at graph.Snapshot, starts []int64) error {
		sites = nil
		ends, err := seeds(ctx, tx, at, to)
		if err != nil {
			return err
		}
		if len(ends) == 0 {
			return graph.NoSymbol(to)
		}
		search := pathSearch{tx: tx, at: at}
		chain, err := graph.ShortestPath(ctx, search, starts, uidsOf(ends), depth)
		if err == nil && len(chain) > 0 {
			sites, err = search.describe(ctx, chain)
		}
		return err
	})
	return sites, err
}

// pathSearch looks for a chain of calls in one snapshot.
type pathSearch struct {
	tx runner
	at graph.Snapshot
}

const (
	forwardCypher = `
UNWIND $uids AS uid MATCH (:HarvestSymbol {uid: uid})-[:CALLS]->(n:HarvestSymbol) RETURN DISTINCT uid AS known, n.uid AS next`
	backwardCypher = `
UNWIND $uids AS uid MATCH (:HarvestSymbol {uid: uid})<-[:CALLS]-(n:HarvestSymbol) RETURN DISTINCT uid AS known, n.uid AS next`
)

// Follow goes one call further from keys.
func (p pathSearch) Follow(ctx context.Context, keys []int64, backward bool) ([]graph.Call, error) {
	cypher := forwardCypher
	if backward {
		cypher = backwardCypher
	}
	return rows(ctx, p.tx, func(r *neo4j.Record) graph.Call {
		return graph.Call{Known: field[int64](r, "known"), Next: field[int64](r, "next")}
	}, cypher, map[string]any{"uids": keys})
}

// describe gives each symbol of the chain with the place where the one before calls it.
func (p pathSearch) describe(ctx context.Context, chain []int64) ([]graph.Site, error) {
	first, err := rows(ctx, p.tx, foundOf(p.at), `MATCH (n:HarvestSymbol {uid: $uid}) RETURN`+hitFields, map[string]any{"uid": chain[0]})
	if err != nil {
		return nil, err
	}
	sites := []graph.Site{{Hit: first[0].Hit}}
	steps, err := follow(ctx, p.tx, p.at, outOfCypher, chain, domain.EdgeCalls)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.Line, b.Line) })
	for i, uid := range chain[1:] {
		at := slices.IndexFunc(steps, func(s step) bool { return s.from == chain[i] && s.uid == uid })
		if at < 0 {
			return nil, domain.Errorf(domain.CodeUnavailable, "the graph changed while it was read")
		}
		sites = append(sites, steps[at].Site)
	}
	return sites, nil
}

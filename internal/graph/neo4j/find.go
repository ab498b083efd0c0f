package neo4j

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// found is a symbol with its node's number and what orders it.
type found struct {
	graph.Hit
	uid  int64
	rank int64
	ord  int64
}

// hitFields are the properties of a symbol n that make a hit.
const hitFields = ` n.uid AS uid, n.file AS file, n.local AS local, n.name AS name, n.receiver AS receiver, n.kind AS kind,
 n.signature AS signature, n.doc AS doc, n.start_line AS start_line, n.end_line AS end_line, n.exported AS exported,
 n.rank AS rank, n.ord AS ord `

// foundOf reads hitFields.
func foundOf(at graph.Snapshot) func(*neo4j.Record) found {
	return func(r *neo4j.Record) found {
		return found{uid: field[int64](r, "uid"), rank: field[int64](r, "rank"), ord: field[int64](r, "ord"), Hit: graph.Hit{
			Repo: at.Repo, Version: at.Tag, Path: field[string](r, "file"), Local: field[string](r, "local"), Symbol: domain.Symbol{
				Name: field[string](r, "name"), Receiver: field[string](r, "receiver"), Kind: domain.SymbolKind(field[string](r, "kind")),
				Signature: field[string](r, "signature"), Doc: field[string](r, "doc"), StartLine: int(field[int64](r, "start_line")),
				EndLine: int(field[int64](r, "end_line")), Exported: field[bool](r, "exported"),
			}}}
	}
}

func hitsOf(all []found) []graph.Hit {
	hits := make([]graph.Hit, len(all))
	for i, f := range all {
		hits[i] = f.Hit
	}
	return hits
}

// maxFound bounds the symbols that a reference may mean.
const maxFound = 200

// FindSymbols gives every symbol that ref may mean, best first, at most 200 of them.
func (s *Store) FindSymbols(ctx context.Context, ref graph.SymbolRef) ([]graph.Hit, error) {
	if ref.Name == "" && (ref.File == "" || ref.Line <= 0) {
		return nil, domain.Invalid("name", "name a symbol, or a file and a line")
	}
	var hits []graph.Hit
	err := s.ask(ctx, ref.Repo, ref.Version, func(tx runner, at graph.Snapshot) error {
		if ref.Name == "" {
			around, err := rows(ctx, tx, foundOf(at), fileSymbolsCypher+`
WITH n WHERE n.start_line <= $line AND $line <= n.end_line
RETURN`+hitFields+`ORDER BY n.end_line - n.start_line, n.ord DESC`, fileParams(at, ref.File, ref.Line))
			hits = hitsOf(around)
			return err
		}
		seeds, err := seeds(ctx, tx, at, ref)
		if err != nil {
			return err
		}
		hits = hitsOf(seeds[:min(len(seeds), maxFound)])
		for i := range hits {
			hits[i].Score = 1
		}
		return nil
	})
	return hits, err
}

const seedsCypher = `
UNWIND $names AS name
MATCH (n:HarvestSymbol {snapshot: $id, name: name})
WHERE ($file = '' OR n.file = $file) AND ($start = 0 OR n.start_line = $start) AND n.local ENDS WITH $nth
  AND ($line = 0 OR n.start_line <= $line AND $line <= n.end_line)
RETURN` + hitFields

// seeds gives the symbols that a reference means: of a bare name every symbol of that name,
// of a qualified one those whose receiver, package folder or file matches best.
func seeds(ctx context.Context, tx runner, at graph.Snapshot, ref graph.SymbolRef) ([]found, error) {
	readings, start := ref.Alternatives()
	var names []string
	for _, r := range readings {
		names = append(names, r.Name)
	}
	nth := ""
	if n := ref.Nth(); n > 0 {
		nth = fmt.Sprintf("@%d.%d", start, n)
	}
	all, err := rows(ctx, tx, foundOf(at), seedsCypher, map[string]any{"id": at.ID, "names": slices.Compact(names), "file": ref.File, "start": start, "line": ref.Line, "nth": nth})
	if err != nil {
		return nil, err
	}
	best, tiers := noTier, make([]int, len(all))
	for i, f := range all {
		tiers[i] = tierOf(f, readings)
		best = min(best, tiers[i])
	}
	meant := map[int64]found{}
	for i, f := range all {
		if tiers[i] == best && best < noTier {
			meant[f.uid] = f
		}
	}
	seeds := make([]found, 0, len(meant))
	for _, f := range meant {
		seeds = append(seeds, f)
	}
	slices.SortFunc(seeds, compareFound)
	return seeds, nil
}

// noTier is the tier of what a reference does not mean.
const noTier = 9

// tierOf says how well a symbol fits the best of the readings of its name.
func tierOf(f found, readings []graph.Alternative) int {
	tier := noTier
	for _, r := range readings {
		if r.Name != f.Name {
			continue
		}
		switch {
		case r.Qualifier == "" || f.Receiver == r.Qualifier:
			return 0
		case strings.HasSuffix(f.Receiver, "."+r.Qualifier):
			tier = min(tier, 1)
		case f.Receiver == "" && placed(f.Path, r.Qualifier):
			tier = min(tier, 2)
		}
	}
	return tier
}

func placed(path, qualifier string) bool {
	re, err := regexp.Compile(graph.PlacePattern(qualifier))
	return err == nil && re.MatchString(path)
}

// compareFound puts the first of its name before repeated ones, functions before methods,
// then what ranks first.
func compareFound(a, b found) int {
	flag := func(yes bool) int {
		if yes {
			return 1
		}
		return 0
	}
	repeated := func(f found) int { return flag(f.Local != f.QualifiedName()) }
	return cmp.Or(cmp.Compare(repeated(a), repeated(b)), cmp.Compare(flag(a.Receiver != ""), flag(b.Receiver != "")),
		cmp.Compare(a.rank, b.rank), strings.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine))
}

const fileSymbolsCypher = `
MATCH (f:HarvestFile {snapshot: $id, path: $path})-[:DEFINES]->(n:HarvestSymbol)`

func fileParams(at graph.Snapshot, path string, line int) map[string]any {
	return map[string]any{"id": at.ID, "path": path, "line": line}
}

// FileSymbols lists a file's symbols in order of position; not_found for an unknown file.
func (s *Store) FileSymbols(ctx context.Context, at graph.FileRef) ([]graph.Hit, error) {
	var hits []graph.Hit
	err := s.askFile(ctx, at, func(tx runner, v graph.Snapshot) error {
		all, err := rows(ctx, tx, foundOf(v), fileSymbolsCypher+` RETURN`+hitFields+`ORDER BY n.ord`, fileParams(v, at.Path, 0))
		hits = hitsOf(all)
		return err
	})
	return hits, err
}

const importsCypherRead = `
MATCH (f:HarvestFile {snapshot: $id, path: $path})-[:IMPORTS]->(i)
RETURN i.target AS target, i.name AS name, i.alias AS alias, i.line AS line ORDER BY i.ord`

// Imports lists a file's imports in order of position; not_found for an unknown file.
func (s *Store) Imports(ctx context.Context, at graph.FileRef) ([]domain.Import, error) {
	var imports []domain.Import
	err := s.askFile(ctx, at, func(tx runner, v graph.Snapshot) (err error) {
		imports, err = rows(ctx, tx, func(r *neo4j.Record) domain.Import {
			return domain.Import{Target: field[string](r, "target"), Name: field[string](r, "name"), Alias: field[string](r, "alias"), Line: int(field[int64](r, "line"))}
		}, importsCypherRead, fileParams(v, at.Path, 0))
		return err
	})
	return imports, err
}

// askFile answers a question about a file that exists; not_found otherwise.
func (s *Store) askFile(ctx context.Context, at graph.FileRef, f func(tx runner, v graph.Snapshot) error) error {
	exists := false
	err := s.ask(ctx, at.Repo, at.Version, func(tx runner, v graph.Snapshot) error {
		there, err := rows(ctx, tx, func(*neo4j.Record) bool { return true },
			`MATCH (f:HarvestFile {snapshot: $id, path: $path}) RETURN f.uid`, fileParams(v, at.Path, 0))
		if exists = len(there) > 0; err != nil || !exists {
			return err
		}
		return f(tx, v)
	})
	if err != nil || exists {
		return err
	}
	like, err := s.sources.Files(ctx, at.Repo, at.Version, graph.Base(at.Path), 5)
	if err != nil {
		like = nil // the hint is a courtesy
	}
	return graph.NoFile(at, like)
}

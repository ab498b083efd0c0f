package neo4j

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// batchSize is the number of nodes or relationships that one statement writes.
const batchSize = 2000

// loader writes the nodes of one snapshot. Relationships wait for publication, when the
// nodes at both ends are there.
type loader struct {
	store *Store
	spec  graph.VersionSpec
	id    int64 // of the snapshot

	mayBeLive atomic.Bool // the sources were told to publish, and did or may have

	mu      sync.Mutex
	put     map[graph.ResolvedID]bool
	paths   map[string]bool            // files that have a node
	uids    map[domain.SymbolKey]int64 // Local "" is the file itself
	known   map[domain.SymbolKey]bool  // keys of which there is a node
	edges   map[domain.EdgeKind][]pendingEdge
	symbols int
}

// pendingEdge is an edge between nodes, by their uids.
type pendingEdge struct {
	from, to int64
	line     int32
	fromFile bool
	how      domain.How
}

// Stage begins the load of a version; not_found for an unknown repository.
func (s *Store) Stage(ctx context.Context, spec graph.VersionSpec) (graph.Loader, error) {
	if err := graph.CheckVersion(spec.Repo, spec.Tag); err != nil {
		return nil, err
	}
	if _, err := s.sources.Repository(ctx, spec.Repo); err != nil {
		return nil, err
	}
	id, err := s.begin(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &loader{store: s, spec: spec, id: id, put: map[graph.ResolvedID]bool{}, paths: map[string]bool{},
		uids: map[domain.SymbolKey]int64{}, known: map[domain.SymbolKey]bool{}, edges: map[domain.EdgeKind][]pendingEdge{}}, nil
}

// Missing gives all of ids: versions share no nodes.
func (l *loader) Missing(_ context.Context, ids []graph.ResolvedID) ([]graph.ResolvedID, error) {
	return ids, nil
}

// uid numbers a symbol key of this snapshot.
func (l *loader) uid(key domain.SymbolKey) int64 {
	id, ok := l.uids[key]
	if !ok {
		id = l.id<<31 | int64(len(l.uids))
		l.uids[key] = id
	}
	return id
}

// Put writes the nodes of files, and keeps their edges.
func (l *loader) Put(ctx context.Context, files []graph.ResolvedFile) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var fresh []graph.ResolvedFile
	var blobs []graph.BlobID
	for _, f := range files {
		if l.put[f.ID] {
			continue
		}
		if f.Facts == nil {
			return domain.Invalid("files", "%s comes without facts", f.Path)
		}
		l.put[f.ID] = true
		fresh, blobs = append(fresh, f), append(blobs, f.Blob)
	}
	if len(fresh) == 0 {
		return nil
	}
	texts, err := l.store.sources.Texts(ctx, blobs)
	if err != nil {
		return err
	}
	w := nodeWriter{loader: l}
	for _, f := range fresh {
		w.file(f.Path, f.Facts.Language)
		w.symbolsOf(f, linesOf(texts[f.Blob]))
		w.importsOf(f)
		l.keepEdges(f)
	}
	return w.write(ctx)
}

func (l *loader) keepEdges(f graph.ResolvedFile) {
	locals := domain.LocalNames(f.Facts.Symbols)
	for _, e := range f.Edges {
		from := domain.SymbolKey{Path: f.Path}
		if e.From >= 0 && e.From < len(locals) {
			from.Local = locals[e.From]
		}
		l.edges[e.Kind] = append(l.edges[e.Kind], pendingEdge{from: l.uid(from), to: l.uid(e.To), line: int32(e.Line), fromFile: e.From < 0, how: e.How})
	}
}

// nodeWriter gathers the nodes of some files and writes them.
type nodeWriter struct {
	*loader
	files, symbols, imports []map[string]any
}

func (w *nodeWriter) file(path, language string) {
	if w.paths[path] {
		return
	}
	w.paths[path] = true
	w.files = append(w.files, map[string]any{"uid": w.uid(domain.SymbolKey{Path: path}), "snapshot": w.id, "repo": w.spec.Repo,
		"path": path, "language": language})
}

// symbolsOf adds the symbols of a file; lines is its text.
func (w *nodeWriter) symbolsOf(f graph.ResolvedFile, lines []string) {
	for ord, local := range domain.LocalNames(f.Facts.Symbols) {
		s := f.Facts.Symbols[ord]
		key := domain.SymbolKey{Path: f.Path, Local: local}
		w.known[key] = true
		node := map[string]any{
			"uid": w.uid(key), "snapshot": w.id, "repo": w.spec.Repo, "file": f.Path, "name": s.Name, "local": local,
			"kind": string(s.Kind), "signature": s.Signature, "doc": s.Doc, "start_line": s.StartLine, "end_line": s.EndLine,
			"exported": s.Exported, "receiver": s.Receiver, "class": s.Kind.Class(), "ord": ord, "rank": graph.Rank(f.Path, s),
			"folded": graph.Fold(s.Name), "words": " " + strings.Join(graph.Words(s.Name), " "), "source": sourceOf(lines, s),
		}
		if s.Kind.Function() {
			node["impl_type"] = s.Receiver
		}
		if s.Kind.Class() {
			addBases(node, s.Bases)
		}
		w.symbols = append(w.symbols, map[string]any{"file": w.uid(domain.SymbolKey{Path: f.Path}), "node": node})
	}
	w.loader.symbols += len(f.Facts.Symbols)
}

// addBases sets the lists of supertypes by which existing users know them.
func addBases(node map[string]any, bases []domain.TypeRef) {
	lists := map[domain.EdgeKind][]string{domain.EdgeInherits: {}, domain.EdgeImplements: {}, domain.EdgeEmbeds: {}, domain.EdgeUses: {}}
	for _, b := range bases {
		lists[b.Kind] = append(lists[b.Kind], b.Name)
	}
	node["bases"], node["traits"] = lists[domain.EdgeInherits], lists[domain.EdgeImplements]
	node["embeds"], node["uses"] = lists[domain.EdgeEmbeds], lists[domain.EdgeUses]
}

func (w *nodeWriter) importsOf(f graph.ResolvedFile) {
	for ord, i := range f.Facts.Imports {
		w.imports = append(w.imports, map[string]any{"file": w.uid(domain.SymbolKey{Path: f.Path}), "node": map[string]any{
			"repo": w.spec.Repo, "file": f.Path, "target": i.Target, "name": i.Name, "alias": i.Alias, "line": i.Line, "ord": ord}})
	}
}

// linesOf splits a text after each newline.
func linesOf(text []byte) []string { return strings.SplitAfter(string(text), "\n") }

// sourceOf gives the lines of a symbol.
func sourceOf(lines []string, s domain.Symbol) string {
	from, to := max(s.StartLine, 1), min(s.EndLine, len(lines))
	if from > to {
		return ""
	}
	return strings.Join(lines[from-1:to], "")
}

const (
	filesCypher = `
MATCH (v:HarvestSnapshot {snapshot: $id})
UNWIND $rows AS row
CREATE (f:HarvestFile) SET f = row
CREATE (v)-[:HAS_FILE]->(f)`
	symbolsCypher = `
UNWIND $rows AS row
MATCH (f:HarvestFile {uid: row.file})
CREATE (n:HarvestSymbol) SET n = row.node
CREATE (f)-[:DEFINES]->(n)`
	importsCypher = `
UNWIND $rows AS row
MATCH (f:HarvestFile {uid: row.file})
CREATE (n:HarvestImport) SET n = row.node
CREATE (f)-[:IMPORTS]->(n)`
	touchCypher = `MATCH (v:HarvestSnapshot {snapshot: $id, state: 'staging'}) SET v.seen = timestamp() RETURN v.snapshot`
)

func (w *nodeWriter) write(ctx context.Context) error {
	session := w.store.session(ctx, neo4j.AccessModeWrite)
	defer closeSession(ctx, session)
	for _, step := range []struct {
		cypher string
		rows   []map[string]any
	}{{filesCypher, w.files}, {symbolsCypher, w.symbols}, {importsCypher, w.imports}} {
		if err := inBatches(ctx, session, step.cypher, w.id, step.rows); err != nil {
			return told(err, "write nodes")
		}
	}
	return w.touch(ctx, auto{session})
}

// touch tells the sweep that this load is alive; unavailable where it was removed as dead.
func (l *loader) touch(ctx context.Context, tx runner) error {
	alive, err := rows(ctx, tx, func(*neo4j.Record) bool { return true }, touchCypher, map[string]any{"id": l.id})
	if err != nil {
		return told(err, "keep the load alive")
	}
	if len(alive) == 0 {
		return domain.Errorf(domain.CodeUnavailable, "the load of %s was given up as dead; it must be run again", l.spec.Repo)
	}
	return nil
}

// inBatches writes rows, each batch in a transaction that is tried again on a passing fault.
func inBatches[T any](ctx context.Context, session neo4j.SessionWithContext, cypher string, id int64, rows []T) error {
	for len(rows) > 0 {
		n := min(batchSize, len(rows))
		params := map[string]any{"id": id, "rows": rows[:n]}
		_, err := session.ExecuteWrite(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
			return nil, exec(ctx, tx, cypher, params)
		})
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// Discard removes what was put, unless the sources have made it live. Where they may have,
// nothing is removed: a commit may still be on its way, and the sweep knows in an hour.
func (l *loader) Discard(ctx context.Context) error {
	if l.mayBeLive.Load() {
		return nil
	}
	if err := l.store.removeDead(ctx, l.spec.Repo, []int64{l.id}); err != nil {
		return fmt.Errorf("discard the load of %s: %w", l.spec.Repo, err)
	}
	return nil
}

package graphtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// world is what one test works with: the stores, and a repository name of its own.
type world struct {
	*testing.T
	ctx     context.Context
	sources graph.Sources
	backend graph.Backend
	repo    string
	mark    string // a word that no other test uses, for searches over everything
}

var worlds atomic.Int64

func newWorld(t *testing.T, sources graph.Sources, backend graph.Backend) *world {
	n := worlds.Add(1)
	return &world{T: t, ctx: t.Context(), sources: sources, backend: backend,
		repo: fmt.Sprintf("suite/repo-%d", n), mark: "zq" + strings.Repeat(string(rune('a'+n%26)), 3) + string(rune('a'+n/26)) + "x"}
}

// file describes a file of a version.
type file struct {
	path    string
	text    string
	lang    string
	symbols []domain.Symbol
	imports []domain.Import
	refs    []domain.Reference
	edges   []edge
	skipped string
	facts   *domain.FileFacts // instead of lang, symbols, imports and refs
}

// edge is an edge by names: from a Local of its file ("" for the file) to "path:Local".
type edge struct {
	from, to string
	kind     domain.EdgeKind
	line     int
	how      domain.How
}

// call is a call edge.
func call(from, to string, line int) edge {
	return edge{from, to, domain.EdgeCalls, line, domain.HowExact}
}

// fn is an exported function of three lines.
func fn(name string, line int) domain.Symbol {
	return domain.Symbol{Name: name, Kind: domain.KindFunction, Signature: "func " + name + "()", StartLine: line, EndLine: line + 2, Exported: true}
}

// method is an exported method of three lines.
func method(receiver, name string, line int) domain.Symbol {
	s := fn(name, line)
	s.Receiver, s.Kind, s.Signature = receiver, domain.KindMethod, "func ("+receiver+") "+name+"()"
	return s
}

// typ is an exported type of five lines.
func typ(name string, kind domain.SymbolKind, line int) domain.Symbol {
	return domain.Symbol{Name: name, Kind: kind, Signature: "type " + name, StartLine: line, EndLine: line + 4, Exported: true}
}

func (f file) content() domain.FileFacts {
	if f.facts != nil {
		return *f.facts
	}
	lang := f.lang
	if lang == "" {
		lang = "go"
	}
	return domain.FileFacts{Language: lang, Symbols: f.symbols, Imports: f.imports, References: f.refs}
}

func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

func (f file) blobID() graph.BlobID {
	return graph.BlobID(hash("blob", f.text, f.skipped, fmt.Sprintf("%+v", f.content())))
}

// resolvedID does not depend on the repository: equal files of two may share one.
func (f file) resolvedID() graph.ResolvedID {
	return graph.ResolvedID(hash("resolved", f.path, string(f.blobID()), fmt.Sprintf("%+v", f.edges)))
}

func (f file) blob() graph.Blob {
	b := graph.Blob{ID: f.blobID(), Size: int64(len(f.text)), Facts: f.content()}
	if f.skipped == "" {
		b.Text = []byte(f.text)
	}
	return b
}

func (f file) versionFile() graph.VersionFile {
	return graph.VersionFile{Path: f.path, Blob: f.blobID(), Resolved: f.resolvedID(), Language: f.content().Language, Skipped: f.skipped}
}

func (f file) resolved(t testing.TB) graph.ResolvedFile {
	facts := f.content()
	r := graph.ResolvedFile{ID: f.resolvedID(), Path: f.path, Blob: f.blobID(), Facts: &facts}
	index := map[string]int{"": -1}
	for i, local := range domain.LocalNames(facts.Symbols) {
		index[local] = i
	}
	for _, e := range f.edges {
		from, known := index[e.from]
		if !known {
			t.Fatalf("the suite itself is wrong: %s has no symbol %q", f.path, e.from)
		}
		cut := strings.LastIndex(e.to, ":")
		r.Edges = append(r.Edges, domain.Edge{From: from, To: domain.SymbolKey{Path: e.to[:cut], Local: e.to[cut+1:]}, Kind: e.kind, Line: e.line, How: e.how})
	}
	return r
}

// must gives a call's result, or fails the test on its error: must(call())(w).
func must[T any](v T, err error) func(w *world) T {
	return func(w *world) T {
		w.Helper()
		w.ok(err)
		return v
	}
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("unexpected error: %v", err)
	}
}

// fails checks an error's code and that its message holds the texts.
func (w *world) fails(err error, code domain.Code, texts ...string) {
	w.Helper()
	if got := domain.CodeOf(err); got != code {
		w.Fatalf("got error %v (code %q), want code %q", err, got, code)
	}
	for _, text := range texts {
		if !strings.Contains(domain.PublicMessage(err), text) {
			w.Errorf("the message %q does not hold %q", domain.PublicMessage(err), text)
		}
	}
}

func (w *world) save(repo string) {
	w.Helper()
	_, err := w.sources.SaveRepository(w.ctx, domain.Repository{Name: repo, URL: "https://example.org/" + repo})
	w.ok(err)
}

// load reads a version in, as ingestion does.
func (w *world) load(tag string, files ...file) domain.VersionDetail {
	w.Helper()
	w.save(w.repo)
	return w.publish(w.stage(tag, files...), files)
}

// staged is a version that is put but not published.
type staged struct {
	graph.Loader
	repo string
}

func (w *world) stage(tag string, files ...file) staged {
	w.Helper()
	s, err := w.tryStage(w.repo, tag, files...)
	w.ok(err)
	return s
}

func (w *world) tryStage(repo, tag string, files ...file) (staged, error) {
	var ids []graph.BlobID
	byBlob := map[graph.BlobID]graph.Blob{}
	for _, f := range files {
		ids = append(ids, f.blobID())
		byBlob[f.blobID()] = f.blob()
	}
	missing, err := w.sources.MissingBlobs(w.ctx, ids)
	if err != nil {
		return staged{}, err
	}
	var blobs []graph.Blob
	for _, id := range missing {
		blobs = append(blobs, byBlob[id])
	}
	if err := w.sources.PutBlobs(w.ctx, blobs); err != nil {
		return staged{}, err
	}
	loader, err := w.backend.Stage(w.ctx, graph.VersionSpec{Repo: repo, Tag: tag, Commit: "commit-of-" + tag, CommittedAt: 1_700_000_000})
	if err != nil {
		return staged{}, err
	}
	s := staged{loader, repo}
	wanted := map[graph.ResolvedID]bool{}
	var resolved []graph.ResolvedID
	for _, f := range files {
		resolved = append(resolved, f.resolvedID())
	}
	missingResolved, err := s.Missing(w.ctx, resolved)
	if err != nil {
		return staged{}, err
	}
	for _, id := range missingResolved {
		wanted[id] = true
	}
	for len(files) > 0 { // in batches of three
		var batch []graph.ResolvedFile
		for _, f := range files[:min(3, len(files))] {
			if wanted[f.resolvedID()] {
				batch = append(batch, f.resolved(w))
			}
		}
		if err := s.Put(w.ctx, batch); err != nil {
			return staged{}, err
		}
		files = files[min(3, len(files)):]
	}
	return s, nil
}

func (w *world) publish(s staged, files []file) domain.VersionDetail {
	w.Helper()
	detail, err := w.tryPublish(s, files)
	w.ok(err)
	return detail
}

func (w *world) tryPublish(s staged, files []file) (domain.VersionDetail, error) {
	var list []graph.VersionFile
	byID := map[graph.ResolvedID]file{}
	for _, f := range files {
		list = append(list, f.versionFile())
		byID[f.resolvedID()] = f
	}
	return s.Publish(w.ctx, list, func(_ context.Context, ids []graph.ResolvedID) ([]graph.ResolvedFile, error) {
		var out []graph.ResolvedFile
		for _, id := range ids {
			out = append(out, byID[id].resolved(w))
		}
		return out, nil
	})
}

// ref names a symbol of the test's repository.
func (w *world) ref(version, name string) graph.SymbolRef {
	return graph.SymbolRef{Repo: w.repo, Version: version, Name: name}
}

// in names a version of the test's repository, or all of its with "".
func (w *world) in(version string) []graph.VersionRef {
	return []graph.VersionRef{{Repo: w.repo, Version: version}}
}

// same compares lists of texts.
func (w *world) same(what string, got []string, want ...string) {
	w.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

// ids renders hits as "path:Local".
func ids(hits []graph.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.Path+":"+h.Local)
	}
	return out
}

// places renders sites as "path:Local@file:line".
func places(sites []graph.Site) []string {
	out := []string{}
	for _, s := range sites {
		out = append(out, fmt.Sprintf("%s:%s@%s:%d", s.Path, s.Local, s.File, s.Line))
	}
	return out
}

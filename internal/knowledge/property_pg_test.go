package knowledge_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// TestIncrementalEqualsCleanInPostgres is TestIncrementalEqualsClean with what builds on the
// versions before in PostgreSQL, which stores differences: blobs, symbols and edges are shared
// among versions, and among the repositories of all series. It is judged by what its readers
// are told.
func TestIncrementalEqualsCleanInPostgres(t *testing.T) {
	t.Parallel()
	store := pg.New(testkit.Postgres(t))
	series := 0
	rapid.Check(t, func(rt *rapid.T) {
		if rapid.IntRange(0, 4).Draw(rt, "run") != 0 {
			return // a database takes its time: one series in five is enough
		}
		series++
		m := newMachine(t, rt)
		defer os.RemoveAll(m.repo.dir)
		m.grown, m.name, m.reader = stored{rt, store}, fmt.Sprintf("r%d", series), newReader(t, store, knowledgeOptions{})
		if _, err := store.SaveRepository(t.Context(), domain.Repository{Name: m.name, URL: m.repo.dir}); err != nil {
			rt.Fatal(err)
		}
		m.run(3)
	})
}

// stored tells what PostgreSQL holds in the words of knowledgetest.Memory.
type stored struct {
	t     *rapid.T
	store *pg.Store
}

func (s stored) files(repo, tag string) []graph.VersionFile {
	files, err := s.store.Files(s.t.Context(), repo, tag, "", math.MaxInt32)
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

func (s stored) symbols(repo, tag, path string) []graph.Hit {
	symbols, err := s.store.FileSymbols(s.t.Context(), graph.FileRef{Repo: repo, Version: tag, Path: path})
	if err != nil {
		s.t.Fatal(err)
	}
	return symbols
}

// Nodes gives all files and symbols of a version, sorted.
func (s stored) Nodes(repo, tag string) []string {
	var lines []string
	for _, f := range s.files(repo, tag) {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", f.Path, f.Language, f.Skipped, f.Blob))
		for _, h := range s.symbols(repo, tag, f.Path) {
			lines = append(lines, fmt.Sprintf("%s %s %s %d-%d", f.Path, h.QualifiedName(), h.Kind, h.StartLine, h.EndLine))
		}
	}
	slices.Sort(lines)
	return lines
}

// Edges gives all edges of a version, sorted: those that end in each of its symbols.
func (s stored) Edges(repo, tag string) []string {
	var lines []string
	for _, f := range s.files(repo, tag) {
		for _, h := range s.symbols(repo, tag, f.Path) {
			ref := graph.SymbolRef{Repo: repo, Version: tag, File: f.Path, Name: h.Local, Line: h.StartLine}
			sites, truncated, err := s.store.References(s.t.Context(), ref, 1000)
			if err != nil || truncated {
				s.t.Fatalf("references of %s:%s, truncated %v: %v", f.Path, h.Local, truncated, err)
			}
			for _, site := range sites {
				lines = append(lines, fmt.Sprintf("%s:%s %s %s:%s %d %s", site.File, site.Local, site.Kind, f.Path, h.Local, site.Line, site.How))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

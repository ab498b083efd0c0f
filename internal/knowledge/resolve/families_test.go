package resolve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/resolve"
)

// TestFamilies resolves a small project of each language: every edge is listed. A project is
// a text of files, each after a line "-- PATH --"; the edges follow "-- edges --".
func TestFamilies(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/families/*.txt")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d projects, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sources, edges, _ := strings.Cut(string(text), "-- edges --\n")
			dir := t.TempDir()
			unpack(t, dir, sources)
			got := projectEdges(extract(t, dir))
			if want := strings.Split(strings.TrimSpace(edges), "\n"); !slices.Equal(got, want) {
				t.Errorf("edges\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func unpack(t *testing.T, dir, text string) {
	t.Helper()
	for _, part := range strings.Split("\n"+text, "\n-- ")[1:] {
		name, content, _ := strings.Cut(part, " --\n")
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func projectEdges(files []resolve.File) []string {
	world := resolve.Build(files)
	var lines []string
	for _, f := range files {
		names := domain.LocalNames(f.Facts.Symbols)
		for _, e := range world.Resolve(f.Path, f.Facts) {
			from := "(file)"
			if e.From >= 0 {
				from = names[e.From]
			}
			lines = append(lines, fmt.Sprintf("%s:%d %s %s %s:%s %s", f.Path, e.Line, from, e.Kind, e.To.Path, e.To.Local, e.How))
		}
	}
	return lines
}

package resolve_test

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/lang"
	"github.com/harvest-engine/harvest/internal/knowledge/manifest"
	"github.com/harvest-engine/harvest/internal/knowledge/resolve"
)

// leastRight is the share of hand-labelled call sites that must be resolved as labelled.
const leastRight = 0.85

// TestLabelledCalls judges resolution by call sites that were labelled by hand: each line of
// labels.txt is "PATH:LINE NAME TARGET", where TARGET is "PATH:SYMBOL", or "-" for a call
// that leads out of the project or that nobody can know.
func TestLabelledCalls(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"python", "typescript", "rust", "java"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("testdata", language)
			calls := resolvedCalls(t, dir)
			right, all := 0, 0
			for _, l := range readLabels(t, filepath.Join(dir, "labels.txt")) {
				all++
				if got := calls[l.site]; got == l.target {
					right++
				} else {
					t.Logf("%s is %q, want %q", l.site, got, l.target)
				}
			}
			t.Logf("%d of %d right", right, all)
			if all < 100 || float64(right) < leastRight*float64(all) {
				t.Errorf("%d of %d call sites are right; want %.2f of 100 or more", right, all, leastRight)
			}
		})
	}
}

type label struct{ site, target string }

func readLabels(t *testing.T, path string) []label {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var labels []label
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) == 3 {
			labels = append(labels, label{fields[0] + " " + fields[1], fields[2]})
		}
	}
	return labels
}

// resolvedCalls gives, for each call of a project, what it was resolved to; "-" for nothing.
func resolvedCalls(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := extract(t, dir)
	world := resolve.Build(files)
	calls := map[string]string{}
	for _, f := range files {
		for site, ref := range sites(f) {
			calls[site] = resolveOne(world, f, ref)
		}
	}
	return calls
}

// sites names the calls of a file: "PATH:LINE NAME", and of a line that calls a name again
// "PATH:LINE NAME#2".
func sites(f resolve.File) iter.Seq2[string, domain.Reference] {
	return func(yield func(string, domain.Reference) bool) {
		seen := map[string]int{}
		for _, ref := range f.Facts.References {
			if ref.Kind != domain.EdgeCalls {
				continue
			}
			site := fmt.Sprintf("%s:%d %s", f.Path, ref.Line, ref.Name)
			if seen[site]++; seen[site] > 1 {
				site = fmt.Sprintf("%s#%d", site, seen[site])
			}
			if !yield(site, ref) {
				return
			}
		}
	}
}

func resolveOne(world *resolve.World, f resolve.File, ref domain.Reference) string {
	alone := *f.Facts
	alone.References = []domain.Reference{ref}
	for _, e := range world.Resolve(f.Path, &alone) {
		if e.Kind == domain.EdgeCalls {
			return e.To.Path + ":" + e.To.Local
		}
	}
	return "-"
}

func extract(t testing.TB, dir string) []resolve.File {
	t.Helper()
	var files []resolve.File
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == "labels.txt" {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		facts, err := lang.Extract(context.Background(), rel, src)
		manifest.Read(manifest.Kind(rel), src, &facts)
		files = append(files, resolve.File{Path: filepath.ToSlash(rel), Facts: &facts})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

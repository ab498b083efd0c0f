package resolve_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/resolve"
)

// leastBlind is the share of the call sites of testdata/blind that must be right.
const leastBlind = 0.95

// TestBlindLabels judges resolution by samples whose call sites were labelled before the
// resolver saw them. A line's labels stand in a comment at its end, "//~ NAME TARGET; …" or
// "#~ …": TARGET is the end of a path and a symbol in it, with its first line where several
// have that name ("queue.py:Queue.put@12"), or "-" for a call that leads nowhere in the sample.
// A call without a label that is led somewhere counts as one more site, a wrong one.
func TestBlindLabels(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"python", "typescript", "rust", "java"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("testdata", "blind", language)
			files := extract(t, dir)
			want := readMarks(t, dir, files)
			world := resolve.Build(files)
			right, inside, all := 0, 0, len(want)
			for _, f := range files {
				for site, ref := range sites(f) {
					got := resolveOne(world, f, ref)
					target, labelled := want[site]
					delete(want, site)
					switch {
					case !labelled && got != "-":
						all++
						t.Logf("%s is %q, and has no label", site, got)
					case labelled && got == target:
						right++
					case labelled:
						t.Logf("%s is %q, want %q", site, got, target)
					}
					if target != "-" && labelled {
						inside++
					}
				}
			}
			for _, site := range slices.Sorted(maps.Keys(want)) {
				if want[site] == "-" {
					right++
					continue
				}
				inside++
				t.Logf("%s was not seen, want %q", site, want[site])
			}
			t.Logf("%d of %d right, %d of them lead into the sample", right, all, inside)
			if inside < 50 || float64(right) < leastBlind*float64(all) {
				t.Errorf("%d of %d call sites are right; want %.2f, and 50 or more that lead into the sample", right, all, leastBlind)
			}
		})
	}
}

// readMarks reads the labels of a sample, by site. Each target must be a symbol of it.
func readMarks(t *testing.T, dir string, files []resolve.File) map[string]string {
	t.Helper()
	marks := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Path))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			_, labels, _ := strings.Cut(line, "#~ ")
			if _, rest, ok := strings.Cut(line, "//~ "); ok {
				labels = rest
			}
			for label := range strings.SplitSeq(labels, "; ") {
				if label == "" {
					continue
				}
				name, target, _ := strings.Cut(strings.TrimSpace(label), " ")
				if target != "-" {
					target = marked(t, files, target)
				}
				marks[fmt.Sprintf("%s:%d %s", f.Path, i+1, name)] = target
			}
		}
	}
	return marks
}

// marked gives the key of the symbol that a label names.
func marked(t *testing.T, files []resolve.File, target string) string {
	t.Helper()
	end, name, _ := strings.Cut(target, ":")
	for _, f := range files {
		if f.Path != end && !strings.HasSuffix(f.Path, "/"+end) {
			continue
		}
		locals := domain.LocalNames(f.Facts.Symbols)
		for i, s := range f.Facts.Symbols {
			if s.QualifiedName() == name || fmt.Sprintf("%s@%d", s.QualifiedName(), s.StartLine) == name {
				return f.Path + ":" + locals[i]
			}
		}
	}
	t.Errorf("the label %s names no symbol", target)
	return "?"
}

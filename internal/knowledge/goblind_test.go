package knowledge_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// TestGoBlindLabels judges the resolution of Go by a sample that was labelled before anything
// resolved it: labels stand in comments, "//~ NAME TARGET, TARGET; …", as in the samples of
// other languages. A call of a value has as many targets as functions that it is seen to be
// given. An edge that no label expects counts as one more site, a wrong one.
func TestGoBlindLabels(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "goblind")
	memory := read(t, dir, knowledgeOptions{goroot: runtime.GOROOT()})
	found := map[string][]string{} // by "PATH:LINE"
	for _, e := range memory.Edges("r", domain.WorktreeVersion) {
		if f := strings.Fields(e); f[1] == "calls" {
			path, _, _ := strings.Cut(f[0], ":")
			line := path + ":" + f[3]
			found[line] = append(found[line], f[2])
		}
	}
	right, inside, all := 0, 0, 0
	for line, labels := range goMarks(t, dir) {
		var expected []string
		for _, label := range labels {
			all++
			name, list, _ := strings.Cut(label, " ")
			good := true
			for target := range strings.SplitSeq(list, ", ") {
				if target == "-" {
					continue
				}
				i := slices.IndexFunc(found[line], func(to string) bool { return to == target || strings.HasSuffix(to, "/"+target) })
				if good = good && i >= 0; i >= 0 {
					expected = append(expected, found[line][i])
				}
			}
			if list != "-" {
				inside++
			}
			if good {
				right++
			} else {
				t.Logf("%s %s is %v, want %s", line, name, found[line], list)
			}
		}
		for _, to := range found[line] {
			if !slices.Contains(expected, to) {
				all++
				t.Logf("%s leads to %s, and no label says so", line, to)
			}
		}
		delete(found, line)
	}
	for line, targets := range found {
		all += len(targets)
		t.Logf("%s leads to %v, and has no label", line, targets)
	}
	t.Logf("%d of %d right, %d of them lead into the sample", right, all, inside)
	if inside < 50 || float64(right) < leastExact*float64(all) {
		t.Errorf("%d of %d call sites are right; want %.2f, and 50 or more that lead into the sample", right, all, leastExact)
	}
}

// goMarks reads the labels of a sample, by "PATH:LINE".
func goMarks(t *testing.T, dir string) map[string][]string {
	t.Helper()
	marks := map[string][]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		for i, line := range strings.Split(string(text), "\n") {
			if _, labels, ok := strings.Cut(line, "//~ "); ok {
				marks[fmt.Sprintf("%s:%d", path, i+1)] = strings.Split(strings.TrimSpace(labels), "; ")
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return marks
}

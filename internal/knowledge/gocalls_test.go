package knowledge_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// leastExact is the share of hand-labelled Go call sites that must be resolved as labelled.
const leastExact = 0.98

// TestGoCalls judges the resolution of Go by call sites that were labelled by hand, calls
// through interfaces and of function values among them: each line of labels.txt is
// "PATH:LINE NAME TARGET", where TARGET is "PATH:SYMBOL", or "-" for a call of nothing in
// the repository, or of a value that may be several functions.
func TestGoCalls(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "gocalls")
	memory := read(t, dir, knowledgeOptions{goroot: runtime.GOROOT()})
	resolved := map[string]string{}
	for _, e := range memory.Edges("r", domain.WorktreeVersion) {
		f := strings.Fields(e)
		if f[1] == "calls" {
			path, _, _ := strings.Cut(f[0], ":")
			name := f[2][strings.LastIndexAny(f[2], ".:")+1:]
			resolved[fmt.Sprintf("%s:%s %s", path, f[3], name)] = f[2]
		}
	}
	right, all := 0, 0
	file, err := os.Open(filepath.Join(dir, "labels.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Fields(lines.Text())
		want := f[2]
		site := f[0] + " " + f[1]
		if want != "-" { // a variable is called by its own name, its function by another
			site = f[0] + " " + want[strings.LastIndexAny(want, ".:")+1:]
		}
		got := resolved[site]
		if got == "" {
			got = "-"
		}
		all++
		if got == want {
			right++
		} else {
			t.Logf("%s %s is %q, want %q", f[0], f[1], got, want)
		}
	}
	t.Logf("%d of %d right", right, all)
	if all < 200 || float64(right) < leastExact*float64(all) {
		t.Errorf("%d of %d call sites are right; want %.2f of 200 or more", right, all, leastExact)
	}
}

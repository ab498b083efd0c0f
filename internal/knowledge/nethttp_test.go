package knowledge_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/knowledgetest"
)

// The least that resolution by names must reach on net/http, in files that the type checker
// judges.
const (
	leastPrecision = 0.97
	leastRecall    = 0.95
)

// TestNamesAgainstTypes judges resolution by names with the type checker on net/http of the
// standard library.
func TestNamesAgainstTypes(t *testing.T) {
	t.Parallel()
	dir := copyNetHTTP(t)
	judge := read(t, dir, knowledgeOptions{goroot: runtime.GOROOT()})
	truth, _ := callsOf(judge, func(how string) bool { return how == "exact" })
	names, _ := callsOf(read(t, dir, knowledgeOptions{namesOnly: true}), func(string) bool { return true })
	_, judged := callsOf(judge, func(how string) bool { return how == "exact" })
	right, all := 0, 0
	for call := range names {
		if file, _, _ := strings.Cut(call, ":"); judged[file] {
			all++
			if truth[call] {
				right++
			}
		}
	}
	precision, recall := float64(right)/float64(all), float64(right)/float64(len(truth))
	t.Logf("%d calls by types, %d by names, %d agree: precision %.3f, recall %.3f", len(truth), all, right, precision, recall)
	if len(truth) < 4000 || precision < leastPrecision || recall < leastRecall {
		t.Errorf("want at least 4000 calls, precision %.2f and recall %.2f", leastPrecision, leastRecall)
	}
}

// copyNetHTTP copies net/http out of GOROOT, as a module of its own.
func copyNetHTTP(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(runtime.GOROOT(), "src", "net", "http"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module net/http\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// callsOf gives the wanted calls of a version without how they were found, and the files
// that they are in.
func callsOf(m *knowledgetest.Memory, want func(how string) bool) (calls, files map[string]bool) {
	calls, files = map[string]bool{}, map[string]bool{}
	for _, e := range m.Edges("r", domain.WorktreeVersion) {
		f := strings.Fields(e)
		if f[1] == "calls" && want(f[4]) {
			calls[strings.Join(f[:4], " ")] = true
			file, _, _ := strings.Cut(e, ":")
			files[file] = true
		}
	}
	return calls, files
}

package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

func TestWordsAndFold(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"parseHTTPHeader2": "parse http header 2 | parsehttpheader2",
		"snake_case_name":  "snake case name | snakecasename",
		"HTTPServer":       "http server | httpserver",
		"größeÄndern":      "größe ändern | größeändern",
		"operator<<":       "operator | operator",
		"<<":               " | <<",
		"a.b-C":            "a b c | abc",
		"日本":               "日本 | 日本",
	} {
		if got := strings.Join(graph.Words(name), " ") + " | " + graph.Fold(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestAlternatives(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Serve":            "[{Serve }] 0",
		"Serve()":          "[{Serve }] 0",
		"Serve@12":         "[{Serve }] 12",
		"Server.Serve":     "[{Server.Serve } {Serve Server}] 0",
		"(*Server).Serve":  "[{(*Server).Serve } {Server.Serve } {Serve Server}] 0",
		"Server::Serve":    "[{Server::Serve } {Server.Serve } {Serve Server}] 0",
		"a.b.c@3":          "[{a.b.c } {c a.b} {b.c a}] 3",
		"...":              "[{... }] 0",
		"operator()":       "[{operator }] 0",
		"user@example.com": "[{user@example.com } {com user@example}] 0",
	} {
		readings, line := graph.SymbolRef{Name: name}.Alternatives()
		if got := fmt.Sprint(readings, " ", line); got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pattern, path string
		want          bool
	}{
		{"", "any/where.go", true},
		{"*.go", "deep/in/a.go", true},
		{"*.go", "a.goo", false},
		{"src/*.go", "src/a/b.go", false},
		{"src/**/b.go", "src/b.go", true},
		{"src/**", "src/x/y/z", true},
		{"./src/", "src/a.go", true},
		{"/src/a.go", "src/a.go", true},
		{"src/a.go", "lib/src/a.go", false},
		{"a+b(c).txt", "a+b(c).txt", true},
		{"[!a]x", "bx", true},
		{"[!a]x", "ax", false},
		{"{a,b/c}.go", "b/c.go", true},
		{"größe?", "größen", true},
		{"[", "[", true},
		{"a,b", "a,b", true},
	} {
		re, err := graph.Glob(test.pattern)
		if err != nil {
			t.Errorf("%q: %v", test.pattern, err)
			continue
		}
		if got := re.MatchString(test.path); got != test.want {
			t.Errorf("%q on %q: %v", test.pattern, test.path, got)
		}
	}
	for _, pattern := range []string{"{a", "[z-a]", strings.Repeat("a", 2000)} {
		if _, err := graph.Glob(pattern); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("%.20q: %v, want an invalid pattern", pattern, err)
		}
	}
}

func TestIsTest(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"a_test.go": true, "src/test_a.py": true, "web/a.test.ts": true, "spec/a_spec.rb": true, "tests/a.rs": true, "pkg/testdata/x.go": true,
		"a.go": false, "testing/a.go": false, "contest.go": false, "src/test": false,
	} {
		if got := graph.IsTest(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// ring is a graph in which n calls n+1 and n+7, modulo its size.
type ring int64

func (r ring) Follow(_ context.Context, keys []int64, backward bool) ([]graph.Call, error) {
	var calls []graph.Call
	for _, k := range keys {
		for _, step := range []int64{1, 7} {
			if backward {
				step = -step
			}
			calls = append(calls, graph.Call{Known: k, Next: (k + step + int64(r)) % int64(r)})
		}
	}
	return calls, nil
}

func TestShortestPath(t *testing.T) {
	t.Parallel()
	const size = 40
	// The least number of steps from 0, by a plain search.
	least := map[int64]int{0: 0}
	for front := []int64{0}; len(front) > 0; front = front[1:] {
		for _, next := range []int64{(front[0] + 1) % size, (front[0] + 7) % size} {
			if _, seen := least[next]; !seen {
				least[next] = least[front[0]] + 1
				front = append(front, next)
			}
		}
	}
	for to := range int64(size) {
		chain, err := graph.ShortestPath(t.Context(), ring(size), []int64{0}, []int64{to}, 0)
		if err != nil || len(chain) != least[to]+1 || chain[0] != 0 || chain[len(chain)-1] != to {
			t.Errorf("to %d: %v, %v; want %d steps", to, chain, err, least[to])
			continue
		}
		for i := 1; i < len(chain); i++ {
			if d := (chain[i] - chain[i-1] + size) % size; d != 1 && d != 7 {
				t.Errorf("to %d: %d does not call %d", to, chain[i-1], chain[i])
			}
		}
	}
	if chain, err := graph.ShortestPath(t.Context(), ring(size), []int64{0}, []int64{6}, 5); err != nil || chain != nil {
		t.Errorf("six steps within five: %v, %v", chain, err)
	}
}

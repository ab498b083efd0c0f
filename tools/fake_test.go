package tools_test

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// fakeCode is a tiny code base: shop/web with two versions of one file, and a second
// repository that no scoped call may see.
type fakeCode struct {
	mu      sync.Mutex
	symbols []graph.VersionRef // where names and texts were looked for last
	text    []graph.VersionRef

	elsewhere bool // the newest version of shop/web is in another graph
}

func newFakeCode() *fakeCode { return &fakeCode{} }

func (f *fakeCode) askedSymbols() []graph.VersionRef {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.symbols
}

func (f *fakeCode) askedText() []graph.VersionRef {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text
}

var fakeFile = map[string]string{
	"v1": "package web\n\nfunc Serve() error {\n\treturn nil\n}\n",
	"v2": "package web\n\nfunc Serve() error {\n\treturn listen()\n}\n",
}

func serveAt(repo, version string) graph.Hit {
	return graph.Hit{Repo: repo, Version: version, Path: "server.go", Local: "Serve", Symbol: domain.Symbol{
		Name: "Serve", Kind: domain.KindFunction, Signature: "func Serve() error", Doc: "Serve answers requests. It blocks.", StartLine: 3, EndLine: 5,
	}}
}

func (f *fakeCode) Repositories(context.Context) ([]domain.Repository, error) {
	day := func(d int) *time.Time { t := time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC); return &t }
	return []domain.Repository{
		{Name: "secret", Versions: []domain.VersionDetail{{Tag: "v1", CommittedAt: day(9)}}},
		{Name: "shop/web", URL: "https://example.com/shop/web", Versions: []domain.VersionDetail{
			{Tag: "v1", Commit: "aaaa", CommittedAt: day(1), Files: 1, Symbols: 1, Stale: true},
			{Tag: "v2", Commit: "0123456789abcdef", CommittedAt: day(2), Files: 1, Symbols: 1, OtherGraph: f.elsewhere},
		}},
	}, nil
}

func (f *fakeCode) ReadFile(_ context.Context, at graph.FileRef, from, to int) (string, int, error) {
	if at.Path == "empty.go" {
		return "", 0, nil
	}
	if at.Path != "server.go" {
		return "", 0, domain.NotFound("%s %s has no file %q", at.Repo, at.Version, at.Path)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(fakeFile[at.Version], "\n"), "\n")
	if from > len(lines) {
		return "", len(lines), nil
	}
	if to == 0 || to > len(lines) {
		to = len(lines)
	}
	return strings.Join(lines[from-1:to], ""), len(lines), nil
}

func (f *fakeCode) Files(_ context.Context, _, _, _ string, _ int) ([]graph.VersionFile, error) {
	return []graph.VersionFile{{Path: "server.go"}}, nil
}

func (f *fakeCode) SearchText(_ context.Context, q graph.TextQuery) (graph.TextPage, error) {
	f.mu.Lock()
	f.text = q.Versions
	f.mu.Unlock()
	var page graph.TextPage
	for _, v := range q.Versions {
		page.Matches = append(page.Matches, graph.TextMatch{
			FileRef: graph.FileRef{Repo: v.Repo, Version: v.Version, Path: "server.go"}, Line: 4, Text: "\treturn listen()", Before: []string{"func Serve() error {"}, After: []string{"}"},
		})
	}
	page.Files, page.Truncated = 1, true
	switch q.Pattern {
	case "slow":
		page = graph.TextPage{Files: 1, Truncated: true, TimedOut: true}
	case "nowhere":
		page = graph.TextPage{Files: 7}
	case "no file":
		page = graph.TextPage{}
	case "(":
		return graph.TextPage{}, domain.Invalid("pattern", "is not a regular expression")
	}
	return page, nil
}

func (f *fakeCode) SearchSymbols(_ context.Context, q graph.SymbolQuery) ([]graph.Hit, bool, error) {
	f.mu.Lock()
	f.symbols = q.Versions
	f.mu.Unlock()
	if q.Text != "serve" {
		return nil, false, nil
	}
	var hits []graph.Hit
	for _, v := range q.Versions {
		hits = append(hits, serveAt(v.Repo, v.Version))
	}
	return hits, false, nil
}

func (f *fakeCode) FileSymbols(_ context.Context, at graph.FileRef) ([]graph.Hit, error) {
	return []graph.Hit{serveAt(at.Repo, at.Version)}, nil
}

func (f *fakeCode) FindSymbols(_ context.Context, ref graph.SymbolRef) ([]graph.Hit, error) {
	if ref.Name == "Zebra" {
		return nil, nil
	}
	h := serveAt(ref.Repo, ref.Version)
	if ref.Name == "Twin" { // of the two in v1 the second is the one that v2 has
		other := h
		other.Path, other.StartLine, other.EndLine = "other.go", 1, 1
		if ref.Version == "v1" {
			return []graph.Hit{other, h}, nil
		}
	}
	if ref.Name == "main" {
		h = mainOf(ref.Repo, ref.Version)
	}
	return []graph.Hit{h}, nil
}

func mainOf(repo, version string) graph.Hit {
	return graph.Hit{Repo: repo, Version: version, Path: "main.go", Local: "main", Symbol: domain.Symbol{
		Name: "main", Kind: domain.KindFunction, Signature: "func main()", StartLine: 8, EndLine: 12,
	}}
}

func (f *fakeCode) sites(ref graph.SymbolRef, kind domain.EdgeKind) []graph.Site {
	return []graph.Site{
		{Hit: mainOf(ref.Repo, ref.Version), Kind: kind, How: domain.HowExact, File: "main.go", Line: 9},
		{Hit: graph.Hit{Path: "init.py"}, Kind: kind, How: domain.HowName, File: "init.py", Line: 2},
	}
}

func (f *fakeCode) Callers(_ context.Context, ref graph.SymbolRef, _, _ int) ([]graph.Site, bool, error) {
	return f.sites(ref, domain.EdgeCalls), false, nil
}

func (f *fakeCode) Callees(_ context.Context, ref graph.SymbolRef, limit int) ([]graph.Site, bool, error) {
	return f.sites(ref, domain.EdgeCalls)[:limit%3], true, nil
}

func (f *fakeCode) References(_ context.Context, ref graph.SymbolRef, _ int) ([]graph.Site, bool, error) {
	return f.sites(ref, domain.EdgeUses), false, nil
}

func (f *fakeCode) Imports(context.Context, graph.FileRef) ([]domain.Import, error) {
	return []domain.Import{{Target: "net/http", Line: 3}, {Target: "./util", Name: "clip", Alias: "c", Line: 4}}, nil
}

func (f *fakeCode) Path(_ context.Context, from, to graph.SymbolRef, _ int) ([]graph.Site, error) {
	if from == to {
		return []graph.Site{{Hit: mainOf(from.Repo, from.Version)}}, nil
	}
	return []graph.Site{
		{Hit: mainOf(from.Repo, from.Version)},
		{Hit: serveAt(to.Repo, to.Version), Kind: domain.EdgeCalls, How: domain.HowScoped, File: "main.go", Line: 9},
	}, nil
}

func (f *fakeCode) Outline(_ context.Context, repo, version string) (graph.Outline, error) {
	return graph.Outline{
		Languages: []graph.Count{{Name: "go", N: 1}},
		Folders:   []graph.Folder{{Path: "cmd", Files: 1, Symbols: 1, Key: []string{"main"}}},
		Central:   []graph.Hit{serveAt(repo, version)},
	}, nil
}

func (f *fakeCode) Graph(context.Context, string, string, int, int) (graph.Picture, error) {
	return graph.Picture{}, nil
}

func (f *fakeCode) RunCypher(context.Context, string, map[string]any) (graph.CypherResult, error) {
	return graph.CypherResult{Columns: []string{"n.name"}, Rows: [][]any{{"Serve"}}, Truncated: true}, nil
}

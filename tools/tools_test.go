package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/tools"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func newRegistry(t *testing.T) (*tools.Registry, *fakeCode) {
	t.Helper()
	code := newFakeCode()
	return tools.All(tools.Code{Sources: code, Graph: code, Local: true}, code), code
}

// TestResults holds the text that models see against goldens: one call of each tool.
func TestResults(t *testing.T) {
	t.Parallel()
	registry, _ := newRegistry(t)
	cases := map[string]struct{ tool, input string }{
		"list":         {"list_repositories", `{}`},
		"outline":      {"repository_outline", `{"repo":"shop/web"}`},
		"search":       {"search_symbols", `{"query":"serve","repo":"shop/web"}`},
		"search_none":  {"search_symbols", `{"query":"zebra"}`},
		"file":         {"get_file_symbols", `{"repo":"shop/web","file":"server.go"}`},
		"source":       {"get_symbol_source", `{"repo":"shop/web","name":"Serve"}`},
		"source_none":  {"get_symbol_source", `{"repo":"shop/web","name":"Zebra"}`},
		"read":         {"read_file", `{"repo":"shop/web","file":"server.go","start_line":2,"end_line":3}`},
		"read_beyond":  {"read_file", `{"repo":"shop/web","file":"server.go","start_line":90}`},
		"search_kind":  {"search_symbols", `{"query":"zebra","kind":"class","repo":"shop/web"}`},
		"read_empty":   {"read_file", `{"repo":"shop/web","file":"empty.go"}`},
		"read_default": {"read_file", `{"repo":"shop/web","file":"./server.go"}`},
		"text_slow":    {"search_text", `{"query":"slow","regexp":true}`},
		"text_none":    {"search_text", `{"query":"nowhere"}`},
		"text_nofile":  {"search_text", `{"query":"no file","path_glob":"*.rs"}`},
		"text_wrong":   {"search_text", `{"query":"(","regexp":true}`},
		"path_itself":  {"find_path", `{"repo":"shop/web","from":"main","to":"main"}`},
		"compare_twin": {"compare_symbol_across_versions", `{"repo":"shop/web","version_a":"v1","version_b":"v2","name":"Twin"}`},
		"text":         {"search_text", `{"query":"listen","context":1}`},
		"callers":      {"find_callers", `{"repo":"shop/web","function_name":"Serve"}`},
		"callees":      {"find_callees", `{"repo":"shop/web","function_name":"Serve","limit":1}`},
		"references":   {"find_references", `{"repo":"shop/web","name":"Serve"}`},
		"path":         {"find_path", `{"repo":"shop/web","from":"main","to":"Serve"}`},
		"imports":      {"get_imports", `{"repo":"shop/web","file":"server.go"}`},
		"compare":      {"compare_symbol_across_versions", `{"repo":"shop/web","version_a":"v1","version_b":"v2","name":"Serve"}`},
		"cypher":       {"run_cypher", `{"query":"MATCH (n) RETURN n.name"}`},
		"ask":          {"ask_user", `{"question":"Which one?","choices":["a","b"]}`},
		"no_tool":      {"frobnicate", `{}`},
		"wrong_type":   {"search_symbols", `{"query":7}`},
		"not_an_input": {"search_symbols", `[]`},
		"missing":      {"read_file", `{}`},
		"which_repo":   {"read_file", `{"file":"server.go"}`},
		"no_version":   {"read_file", `{"repo":"shop/web","version":"v9","file":"server.go"}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := registry.Run(t.Context(), domain.Scope{}, c.tool, json.RawMessage(c.input))
			if err != nil {
				t.Fatal(err)
			}
			mark := "result"
			if res.Error {
				mark = "error"
			}
			golden(t, name, "# "+registry.Describe(c.tool, json.RawMessage(c.input))+"\n# "+mark+": "+res.Preview+"\n"+res.Text+"\n")
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestScopeLimitsEveryTool calls each tool for a repository and a version outside the scope,
// and without naming one: what is outside must never show.
func TestScopeLimitsEveryTool(t *testing.T) {
	t.Parallel()
	registry, _ := newRegistry(t)
	scope := domain.Scope{Repositories: []string{"shop/web"}, Versions: []string{"v1"}}
	everything := `"query":"serve","file":"server.go","name":"Serve","function_name":"Serve","from":"main","to":"Serve","question":"?"`
	for _, spec := range registry.Specs() {
		for _, at := range []string{`"repo":"secret","version_a":"v1","version_b":"v1"`, `"repo":"shop/web","version":"v2","version_a":"v1","version_b":"v2"`, `"version":"v2","version_a":"v1","version_b":"v2"`, `"version_a":"v1","version_b":"v1"`} {
			res, err := registry.Run(t.Context(), scope, spec.Name, json.RawMessage("{"+everything+","+at+"}"))
			if err != nil {
				t.Fatalf("%s {%s}: %v", spec.Name, at, err)
			}
			if res.Error {
				res.Text, _, _ = strings.Cut(res.Text, `"`) // the error repeats what was asked for
			}
			if strings.Contains(res.Text, "secret") || strings.Contains(res.Text, "v2") {
				t.Errorf("%s {%s} shows what is out of scope:\n%s", spec.Name, at, res.Text)
			}
		}
	}
}

// TestSearchesLookAtPairs: a version of one repository never lets the same tag of another in.
func TestSearchesLookAtPairs(t *testing.T) {
	t.Parallel()
	everything, web := domain.Scope{}, domain.Scope{Repositories: []string{"shop/web"}}
	cases := map[string]struct {
		scope domain.Scope
		named string
		want  []graph.VersionRef
	}{
		"the newest of each":           {everything, ``, []graph.VersionRef{{Repo: "secret", Version: "v1"}, {Repo: "shop/web", Version: "v2"}}},
		"the newest of one":            {web, ``, []graph.VersionRef{{Repo: "shop/web", Version: "v2"}}},
		"a repository":                 {everything, `"repo":"shop/web"`, []graph.VersionRef{{Repo: "shop/web", Version: "v2"}}},
		"a repository and a version":   {everything, `"repo":"shop/web","version":"v1"`, []graph.VersionRef{{Repo: "shop/web", Version: "v1"}}},
		"a version that several have":  {everything, `"version":"v1"`, []graph.VersionRef{{Repo: "secret", Version: "v1"}, {Repo: "shop/web", Version: "v1"}}},
		"a version that one has":       {everything, `"version":"v2"`, []graph.VersionRef{{Repo: "shop/web", Version: "v2"}}},
		"a version in one repository":  {web, `"version":"v1"`, []graph.VersionRef{{Repo: "shop/web", Version: "v1"}}},
		"versions of the scope":        {domain.Scope{Versions: []string{"v2", "v1"}}, ``, []graph.VersionRef{{Repo: "secret", Version: "v1"}, {Repo: "shop/web", Version: "v1"}, {Repo: "shop/web", Version: "v2"}}},
		"a scope that one repo is out": {domain.Scope{Versions: []string{"v2"}}, ``, []graph.VersionRef{{Repo: "shop/web", Version: "v2"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry, code := newRegistry(t)
			for tool, asked := range map[string]func() []graph.VersionRef{"search_symbols": code.askedSymbols, "search_text": code.askedText} {
				input := `{"query":"serve"` + strings.TrimSuffix(","+c.named, ",") + `}`
				if res, err := registry.Run(t.Context(), c.scope, tool, json.RawMessage(input)); err != nil || res.Error {
					t.Fatalf("%s: %+v, %v", tool, res, err)
				}
				if diff := cmp.Diff(c.want, asked()); diff != "" {
					t.Errorf("%s looks at (-want +got):\n%s", tool, diff)
				}
			}
		})
	}
}

// TestSearchesTellOfAnotherGraph: what the graph in use does not hold is named, and the rest is searched.
func TestSearchesTellOfAnotherGraph(t *testing.T) {
	t.Parallel()
	code := newFakeCode()
	code.elsewhere = true
	registry := tools.All(tools.Code{Sources: code, Graph: code, Local: true}, nil)
	for input, want := range map[string][]string{
		`{"query":"serve"}`:                   {"[secret:v1:", "Not searched", "shop/web v2"},
		`{"query":"serve","repo":"shop/web"}`: {"Not searched", "shop/web v2"},
	} {
		res, err := registry.Run(t.Context(), domain.Scope{}, "search_symbols", json.RawMessage(input))
		if err != nil || res.Error {
			t.Fatalf("%s: %+v, %v", input, res, err)
		}
		for _, part := range want {
			if !strings.Contains(res.Text, part) {
				t.Errorf("%s does not say %q:\n%s", input, part, res.Text)
			}
		}
		if strings.Contains(res.Text, "[shop/web:") || strings.Contains(res.Text, "No symbol") {
			t.Errorf("%s:\n%s", input, res.Text)
		}
	}
}

type oddTool struct {
	run func(context.Context) (domain.ToolResult, error)
}

func (oddTool) Spec() tools.Spec {
	return tools.Spec{ToolSpec: domain.ToolSpec{Name: "odd"}, Timeout: 20 * time.Millisecond, MaxResult: 100}
}

func (o oddTool) Run(ctx context.Context, _ domain.Scope, _ json.RawMessage) (domain.ToolResult, error) {
	return o.run(ctx)
}

func TestRunContainsTheTool(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		run       func(context.Context) (domain.ToolResult, error)
		text      string // of the result; "" for a zero result
		wantError bool
	}{
		"panic": {func(context.Context) (domain.ToolResult, error) { panic("boom") }, "Error: something went wrong", true},
		"time limit": {func(ctx context.Context) (domain.ToolResult, error) {
			<-ctx.Done()
			return domain.ToolResult{}, ctx.Err()
		}, "Error: odd took longer than 20ms", false},
		"internal": {func(context.Context) (domain.ToolResult, error) { return domain.ToolResult{}, errors.New("password=x") }, "Error: something went wrong", true},
		"its mistake": {func(context.Context) (domain.ToolResult, error) {
			return domain.ToolResult{}, domain.Invalid("file", "is required")
		}, "Error: file is required", false},
		"dependency": {func(context.Context) (domain.ToolResult, error) {
			return domain.ToolResult{}, domain.Errorf(domain.CodeUnavailable, "away")
		}, "", true},
		"long": {func(context.Context) (domain.ToolResult, error) {
			return domain.ToolResult{Text: strings.Repeat("é\n", 200)}, nil
		}, "é\n", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, err := tools.NewRegistry(oddTool{c.run}).Run(t.Context(), domain.Scope{}, "odd", nil)
			if (err != nil) != c.wantError {
				t.Errorf("error %v, want one: %v", err, c.wantError)
			}
			if !strings.HasPrefix(res.Text, c.text) || (c.text == "") != (res.Text == "") {
				t.Errorf("text %q, want %q…", res.Text, c.text)
			}
			if strings.Contains(res.Text, "password") {
				t.Error("an internal error's text reached the model")
			}
		})
	}
}

func TestLongResultsSayWhereTheyWereCut(t *testing.T) {
	t.Parallel()
	long := oddTool{func(context.Context) (domain.ToolResult, error) {
		return domain.ToolResult{Text: strings.Repeat("0123456789\n", 50)}, nil
	}}
	res, err := tools.NewRegistry(long).Run(t.Context(), domain.Scope{}, "odd", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !res.Truncated || !strings.Contains(res.Text, "cut here: 452 more bytes") {
		t.Errorf("got truncated %v: %q", res.Truncated, res.Text)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	registry, _ := newRegistry(t)
	cases := []struct{ name, input, want string }{
		{"search_symbols", `{"query":"authenticate","repo":"repo-a"}`, `Searching for symbols matching "authenticate" in repo-a`},
		{"search_symbols", `{"query":"x\ny"}`, `Searching for symbols matching "x y"`},
		{"run_command", `{"command":"ls"}`, "Running run command"},
		{"read_file", `broken`, "Reading …"},
	}
	for _, c := range cases {
		if got := registry.Describe(c.name, json.RawMessage(c.input)); got != c.want {
			t.Errorf("Describe(%s, %s) = %q, want %q", c.name, c.input, got, c.want)
		}
	}
}

func TestSchemasAreObjects(t *testing.T) {
	t.Parallel()
	registry, _ := newRegistry(t)
	for _, spec := range registry.Specs() {
		var s struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(spec.InputSchema, &s); err != nil || s.Type != "object" {
			t.Errorf("%s: schema %s: %v", spec.Name, spec.InputSchema, err)
		}
		for _, r := range s.Required {
			if _, ok := s.Properties[r]; !ok {
				t.Errorf("%s requires %q, which it does not describe", spec.Name, r)
			}
		}
		if spec.Phase == "" || spec.Activity == "" || spec.Timeout == 0 || spec.MaxResult == 0 || spec.Policy == "" {
			t.Errorf("%s: incomplete spec %+v", spec.Name, spec)
		}
	}
}

package offline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/knowledge"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
	"github.com/harvest-engine/harvest/internal/knowledge/lang"
	"github.com/harvest-engine/harvest/internal/llm/offline"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	passing   = 0.9 // the part of the golden questions that must find their source
	questions = 40  // how many there must be at the least
	rounds    = 6   // model calls that a question may take
)

// golden is a question with the sources of which one must be cited, as "repository file
// symbol".
type golden struct {
	Ask  string
	Want []string
}

// TestGoldenQuestions asks real questions about three repositories through the real tools
// over the real graph, and looks for the right file and symbol among the sources.
func TestGoldenQuestions(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("testdata", "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []golden
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < questions {
		t.Fatalf("only %d questions", len(cases))
	}
	desk := newDesk(t)
	right := 0
	for _, c := range cases {
		answer := desk.ask(t, c.Ask)
		sources := desk.sources(t, answer)
		if slices.ContainsFunc(c.Want, func(w string) bool { return slices.Contains(sources, w) }) {
			right++
			continue
		}
		t.Logf("missed: %s\n  want %s\n  got  %s", c.Ask, strings.Join(c.Want, " or "), strings.Join(sources, "; "))
	}
	t.Logf("%d of %d questions found their source", right, len(cases))
	if float64(right) < passing*float64(len(cases)) {
		t.Errorf("%d of %d are too few", right, len(cases))
	}
}

// desk answers questions the way a turn does.
type desk struct {
	store *pg.Store
	tools *tools.Registry
}

func newDesk(t *testing.T) desk {
	t.Helper()
	store := pg.New(testkit.Postgres(t))
	reader := knowledge.NewReader(knowledge.Config{
		Sources: store, Graph: store, GOROOT: runtime.GOROOT(),
		Git:       gitrepo.NewStore(gitrepo.Config{Dir: filepath.Join(t.TempDir(), "mirrors"), Environ: os.Environ()}),
		Extractor: knowledge.Extractor{Version: lang.Version, Detect: lang.Detect, Extract: lang.Extract},
	})
	cobra := newHistory(t, module(t, "github.com/spf13/cobra"))
	cobra.release("v1.10.2")
	cobra.edit()
	cobra.release("v1.11.0")
	for _, r := range []domain.Repository{
		{Name: "cobra", URL: cobra.dir, AllTags: true},
		{Name: "zerolog", URL: module(t, "github.com/rs/zerolog")},
		{Name: "gin", URL: module(t, "github.com/gin-gonic/gin")},
	} {
		ingest(t, store, reader, r)
	}
	return desk{store: store, tools: tools.All(tools.Code{Sources: store, Graph: store}, nil)}
}

// module gives the folder of a module that the project itself builds with.
func module(t *testing.T, path string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", path)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("find module %s: %v", path, err)
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	return found.Dir
}

func ingest(t *testing.T, store *pg.Store, reader *knowledge.Reader, r domain.Repository) {
	t.Helper()
	ctx := t.Context()
	if _, err := store.SaveRepository(ctx, r); err != nil {
		t.Fatal(err)
	}
	refs, err := reader.Sync(ctx, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs {
		if _, err := reader.Ingest(ctx, r, ref, nil); err != nil {
			t.Fatalf("ingest %s %s: %v", r.Name, ref.Tag, err)
		}
	}
}

// ask runs the loop of a turn: the provider asks for tools until it answers.
func (d desk) ask(t *testing.T, question string) string {
	t.Helper()
	ctx := t.Context()
	provider := offline.New("")
	req := domain.ModelRequest{Messages: []domain.Message{domain.TextMessage(domain.RoleUser, question)}}
	for _, s := range d.tools.Specs() {
		req.Tools = append(req.Tools, s.ToolSpec)
	}
	for range rounds {
		response, err := provider.Stream(ctx, req, func(domain.ModelDelta) error { return nil })
		if err != nil {
			t.Fatalf("%s: %v", question, err)
		}
		calls := response.ToolCalls()
		if len(calls) == 0 {
			return response.Message.Text()
		}
		req.Messages = append(req.Messages, response.Message, d.run(ctx, t, calls))
	}
	t.Fatalf("%s: no answer after %d calls", question, rounds)
	return ""
}

func (d desk) run(ctx context.Context, t *testing.T, calls []domain.Block) domain.Message {
	t.Helper()
	results := domain.Message{Role: domain.RoleUser}
	for _, c := range calls {
		result, err := d.tools.Run(ctx, domain.Scope{}, c.Tool, c.Input)
		if err != nil && result.Text == "" {
			t.Fatalf("%s %s: %v", c.Tool, c.Input, err)
		}
		results.Blocks = append(results.Blocks, domain.Block{Type: domain.BlockToolResult, CallID: c.CallID, Tool: c.Tool, Text: result.Text, Error: result.Error})
	}
	return results
}

// sources gives what an answer cites, as "repository file symbol".
func (d desk) sources(t *testing.T, answer string) []string {
	t.Helper()
	var out []string
	for _, c := range domain.ParseCitations(answer) {
		hits, err := d.store.FileSymbols(t.Context(), graph.FileRef{Repo: c.Repo, Version: c.Version, Path: c.File})
		if err != nil {
			t.Errorf("%+v is cited but does not exist: %v", c, err)
			continue
		}
		name := ""
		for _, h := range hits { // in order of position, so the last that holds the line is the innermost
			if h.StartLine <= c.Line && c.Line <= h.EndLine {
				name = h.QualifiedName()
			}
		}
		source := fmt.Sprintf("%s %s %s", c.Repo, c.File, name)
		if !slices.Contains(out, source) {
			out = append(out, source)
		}
	}
	return out
}

// history is a git repository made of a module's files.
type history struct {
	t   *testing.T
	dir string
}

func newHistory(t *testing.T, source string) history {
	t.Helper()
	h := history{t, t.TempDir()}
	if err := os.CopyFS(h.dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	h.git("init", "--quiet", "--initial-branch=main")
	return h
}

func (h history) git(args ...string) {
	h.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (h history) release(tag string) {
	h.t.Helper()
	h.git("add", "--all", "--force")
	h.git("commit", "--quiet", "--message", tag)
	h.git("tag", tag)
}

// edit makes the changes that questions ask about.
func (h history) edit() {
	h.t.Helper()
	for _, e := range []struct{ file, old, new string }{
		{"command.go", "suggestByPrefix := strings.HasPrefix(strings.ToLower(cmd.Name()), strings.ToLower(typedName))", "suggestByPrefix := strings.HasPrefix(cmd.Name(), typedName)"},
		{"args.go", "if len(args) != n {", "if n >= 0 && len(args) != n {"},
		{"cobra.go", "if ignoreCase {", "if ignoreCase && s != t {"},
		{"args.go", "// RangeArgs returns", "// EvenArgs returns an error if the number of args is odd.\nfunc EvenArgs(cmd *Command, args []string) error {\n\tif len(args)%2 != 0 {\n\t\treturn fmt.Errorf(\"args must come in pairs, received %d\", len(args))\n\t}\n\treturn nil\n}\n\n// RangeArgs returns"},
		{"cobra.go", "func stringInSlice(", "func inSlice("},
	} {
		path := filepath.Join(h.dir, e.file)
		text, err := os.ReadFile(path)
		if err != nil {
			h.t.Fatal(err)
		}
		if !strings.Contains(string(text), e.old) {
			h.t.Fatalf("%s does not hold %q", e.file, e.old)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), e.old, e.new, 1)), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
}

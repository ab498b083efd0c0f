package offline_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/offline"
	"github.com/harvest-engine/harvest/prompts"
	"github.com/harvest-engine/harvest/tools"
)

var _ llm.Provider = (*offline.Provider)(nil)

const notice = "No language model wrote this"

// bench is a set of tools that say what a table tells them to, by the tool's name.
type bench struct {
	says map[string]string
	used []string // the tools called, in order
	last string   // the input of the last call of each tool, by name
}

// specs are the real tools' specifications.
func specs() []domain.ToolSpec {
	var list []domain.ToolSpec
	for _, s := range tools.All(tools.Code{}, nil).Specs() {
		list = append(list, s.ToolSpec)
	}
	return list
}

// converse runs the loop of a turn over the bench and gives the answer.
func (b *bench) converse(t testing.TB, messages ...domain.Message) (answer string, calls int) {
	t.Helper()
	req := domain.ModelRequest{Messages: messages, Tools: specs()}
	for calls = range 10 {
		response, err := offline.New("").Stream(t.Context(), req, func(domain.ModelDelta) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		wanted := response.ToolCalls()
		if len(wanted) == 0 {
			return response.Message.Text(), calls
		}
		results := domain.Message{Role: domain.RoleUser}
		for _, c := range wanted {
			b.used = append(b.used, c.Tool)
			b.last += c.Tool + string(c.Input) + "\n"
			text, ok := b.says[c.Tool]
			results.Blocks = append(results.Blocks, domain.Block{Type: domain.BlockToolResult, CallID: c.CallID, Tool: c.Tool, Text: text, Error: !ok})
		}
		req.Messages = append(req.Messages, response.Message, results)
	}
	t.Fatal("no answer after ten calls")
	return "", 0
}

func ask(question string) domain.Message { return domain.TextMessage(domain.RoleUser, question) }

// world is a small repository of two versions.
func world() map[string]string {
	return map[string]string{
		"list_repositories":              "shop/web — https://example.com/shop/web\n  v2 at 0123456789ab, 2 files, 3 symbols\n  v1 at 0123456789ab, 2 files, 3 symbols",
		"search_symbols":                 "[shop/web:v2:server.go:3] function Serve (lines 3-5)\n    func Serve() error\n    // Serve answers requests.\n[shop/web:v2:main.go:8] function main (lines 8-12)\n    func main()",
		"search_text":                    "    3  func Serve() error {\n[shop/web:v2:server.go:4] return listen()\n    5  }",
		"get_symbol_source":              "[shop/web:v2:server.go:3] function Serve (lines 3-5)\n    func Serve() error\n    // Serve answers requests.\n3  func Serve() error {\n4  \treturn listen()\n5  }",
		"get_file_symbols":               "[shop/web:v2:server.go:3] function Serve (lines 3-5)\n    func Serve() error",
		"find_callers":                   "[shop/web:v2:main.go:9] in main (exact, defined at main.go:8)\n    func main()",
		"find_callees":                   "[shop/web:v2:server.go:4] calls listen (name, defined at listen.go:1)\n    func listen() error",
		"find_references":                "[shop/web:v2:main.go:9] calls from main (exact, defined at main.go:8)",
		"find_path":                      "[shop/web:v2:main.go:8] function main (lines 8-12)\n    func main()\n[shop/web:v2:main.go:9] calls Serve (scoped, defined at server.go:3)\n    func Serve() error",
		"compare_symbol_across_versions": "Diff:\n--- server.go\tv1\n+++ server.go\tv2\n@@ -1,3 +1,3 @@\n-\treturn nil\n+\treturn listen()\n\nIn v1:\n[shop/web:v1:server.go:3] function Serve (lines 3-5)\n3  func Serve() error {\n\nIn v2:\n[shop/web:v2:server.go:3] function Serve (lines 3-5)\n3  func Serve() error {",
		"repository_outline":             "shop/web v2: 2 files, 3 symbols\nLanguages (files): go 2\n\nFolders (files, symbols; most used names):\n  ./ (2, 3) Serve\n\nMost referenced symbols:\n[shop/web:v2:server.go:3] function Serve (lines 3-5)\n    func Serve() error\n\nREADME [shop/web:v2:README.md:1]\n1  # Web\n2  \n3  Web is a server.",
		"read_file":                      "[shop/web:v2:main.go:6] lines 6 to 8 of 12\n6  \n7  // main serves.\n8  func main() {",
		"get_imports":                    "[shop/web:v2:server.go:1] net/http",
	}
}

func TestKindsOfQuestions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question string
		tool     string   // that the plan must use
		says     []string // what the answer must hold
	}{
		{"Where is Serve defined?", "get_symbol_source", []string{"`Serve` (function) is defined in `server.go` [shop/web:v2:server.go:3-5]", "return listen()"}},
		{"Who calls `Serve`?", "find_callers", []string{"`Serve` is called from", "`main` [shop/web:v2:main.go:9]", "// main serves."}},
		{"who calls handle?", "find_callers", nil},
		{"what calls main", "find_callers", []string{"`main` is called from"}},
		{"What does Serve call?", "find_callees", []string{"`listen` [shop/web:v2:server.go:4] (likely"}},
		{"Who uses Serve?", "find_references", []string{"called by `main` [shop/web:v2:main.go:9]"}},
		{"How does main reach Serve?", "find_path", []string{"`main` calls `Serve` itself", "```mermaid"}},
		{"What is the path from `main` to `Serve`?", "find_path", []string{"defined at [shop/web:v2:server.go:3]"}},
		{"What changed in Serve between v1 and v2?", "compare_symbol_across_versions", []string{"```diff", "+\treturn listen()", "[shop/web:v1:server.go:3-5] and [shop/web:v2:server.go:3-5]"}},
		{"What changed since v1?", "repository_outline", []string{"From v1 to v2"}},
		{"Where is the listen address configured?", "search_text", []string{"[shop/web:v2:server.go:4]"}},
		{"How does serving work?", "find_callers", []string{"> Serve answers requests.", "`Serve` is used by"}},
		{"Give me an overview of this repository", "repository_outline", []string{"Web is a server.", "`Serve` (function) [shop/web:v2:server.go:3]"}},
		{"Which repositories are there?", "list_repositories", []string{"**shop/web**: v2, v1"}},
		{"What is in server.go?", "get_file_symbols", []string{"[shop/web:v2:server.go:3]"}},
		{"What does server.go import?", "get_imports", []string{"net/http"}},
	} {
		t.Run(c.question, func(t *testing.T) {
			t.Parallel()
			b := &bench{says: world()}
			answer, _ := b.converse(t, ask(c.question))
			if !slices.Contains(b.used, c.tool) {
				t.Errorf("%s was not used, but %v", c.tool, b.used)
			}
			for _, want := range append(c.says, notice) {
				if !strings.Contains(answer, want) {
					t.Errorf("the answer does not hold %q:\n%s", want, answer)
				}
			}
			again, _ := (&bench{says: world()}).converse(t, ask(c.question))
			if diff := cmp.Diff(answer, again); diff != "" {
				t.Errorf("the second answer differs: %s", diff)
			}
		})
	}
}

// A question is found before and after whatever was pasted beside it, and at once.
func TestQuestionsBesideLongTexts(t *testing.T) {
	t.Parallel()
	paste := strings.Repeat("at some.other.place(file.ext:17) 'quoted' `it` ", 20_000)
	for _, text := range []string{"Who calls `Serve`?\n" + paste, paste + "\nWho calls `Serve`?"} {
		began := time.Now()
		b := &bench{says: world()}
		if b.converse(t, ask(text)); !slices.Contains(b.used, "find_callers") {
			t.Errorf("find_callers was not used, but %v", b.used)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
	}
}

func TestNothingFound(t *testing.T) {
	t.Parallel()
	empty := map[string]string{
		"list_repositories": "shop/web\n  v2, 1 file, 1 symbol", "search_text": `No line matches "frobnicate".`,
		"search_symbols": `No symbol matches "frobnicate". search_text finds words in code and documents.`,
	}
	for name, c := range map[string]struct {
		says map[string]string
		want string
	}{
		"no hits":          {empty, "Nothing found in shop/web for `Frobnicate`"},
		"no repositories":  {map[string]string{"list_repositories": "No repository is in scope; one must be ingested first."}, "no repository has been read"},
		"every tool fails": {nil, "Nothing found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, calls := (&bench{says: c.says}).converse(t, ask("Where is `Frobnicate` defined?"))
			if !strings.Contains(answer, c.want) || !strings.Contains(answer, notice) || strings.Contains(answer, "```") {
				t.Errorf("got %s", answer)
			}
			if calls > 5 {
				t.Errorf("it took %d rounds", calls)
			}
		})
	}
}

func TestFollowUp(t *testing.T) {
	t.Parallel()
	b := &bench{says: world()}
	answer, _ := b.converse(t, ask("Where is `Serve` defined?"), domain.TextMessage(domain.RoleAssistant, "In `server.go`."), ask("And who calls it?"))
	if !strings.Contains(answer, "`Serve` is called from") {
		t.Errorf("got %s", answer)
	}
}

func TestFocus(t *testing.T) {
	t.Parallel()
	says := world()
	says["list_repositories"] += "\nother\n  v9, 1 file, 1 symbol"
	for question, want := range map[string]string{
		"Where is Serve in web?":          `"repo":"shop/web"`,
		"Where is Serve defined in v1?":   `"version":"v1"`,
		"Where is Serve in shop/web, v2?": `"version":"v2"`,
	} {
		b := &bench{says: says}
		b.converse(t, ask(question))
		search := b.last[strings.Index(b.last, "search_symbols"):]
		if first, _, _ := strings.Cut(search, "\n"); !strings.Contains(first, want) {
			t.Errorf("%s: searched with %s", question, first)
		}
	}
}

func TestEmptyQuestionIsAskedBack(t *testing.T) {
	t.Parallel()
	for _, question := range []string{"?", "please explain", "what is it"} {
		response, err := offline.New("").Stream(t.Context(), domain.ModelRequest{Messages: []domain.Message{ask(question)}, Tools: specs()},
			func(domain.ModelDelta) error { return nil })
		calls := response.ToolCalls()
		if err != nil || len(calls) != 1 || calls[0].Tool != tools.AskUserName {
			t.Errorf("%s: got %+v, %v", question, calls, err)
			continue
		}
		if q, err := tools.ParseQuestion(calls[0].Input); err != nil || len(q.Choices) == 0 {
			t.Errorf("%s: asked %+v, %v", question, q, err)
		}
	}
}

func TestAttachedTextIsNoQuestion(t *testing.T) {
	t.Parallel()
	asked := ask("where is Serve")
	asked.Blocks = append(asked.Blocks, domain.Block{Type: domain.BlockText, Text: "\n\nAttached file notes.md:\n\nwho calls Close"})
	response, err := offline.New("").Stream(t.Context(),
		domain.ModelRequest{Messages: []domain.Message{asked}, Tools: []domain.ToolSpec{{Name: "search_symbols"}, {Name: "find_callers"}}},
		func(domain.ModelDelta) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range response.ToolCalls() {
		if !strings.Contains(strings.ToLower(string(call.Input)), "serv") {
			t.Errorf("looked for %s %s", call.Tool, call.Input)
		}
	}
	if len(response.ToolCalls()) == 0 {
		t.Error("looked for nothing")
	}
}

func TestCallsWithoutTools(t *testing.T) {
	t.Parallel()
	askUser := []domain.ToolSpec{{Name: tools.AskUserName}}
	looked := []domain.Message{
		ask("where is Serve"),
		{Role: domain.RoleAssistant, Blocks: []domain.Block{{Type: domain.BlockToolUse, CallID: "c", Tool: "search_symbols", Input: json.RawMessage(`{}`)}}},
		{Role: domain.RoleUser, Blocks: []domain.Block{{Type: domain.BlockToolResult, CallID: "c", Tool: "search_symbols", Text: "[shop/web:v2:server.go:3] function Serve (lines 3-5)"},
			{Type: domain.BlockText, Text: prompts.Synthesis()}}},
	}
	transcript := ask("user: Where is Serve?\n\nassistant: In [shop/web:v2:server.go:3].\n\nuser: Who calls it?\n\n")
	for _, c := range []struct {
		name string
		req  domain.ModelRequest
		want []string
	}{
		{"intent of a greeting", domain.ModelRequest{System: prompts.Intent(), Messages: []domain.Message{ask("Hello there!")}}, []string{"conversational"}},
		{"intent of a question", domain.ModelRequest{System: prompts.Intent(), Messages: []domain.Message{ask("Thanks. Who calls Serve?")}}, []string{"research"}},
		{"intent of an order", domain.ModelRequest{System: prompts.Intent(), Messages: []domain.Message{ask("Please restart the server")}}, []string{"action"}},
		{"a summary", domain.ModelRequest{System: prompts.Compact(), Messages: []domain.Message{transcript}},
			[]string{"- Where is Serve?", "- Who calls it?", "- [shop/web:v2:server.go:3]"}},
		{"small talk", domain.ModelRequest{System: "s", Tools: askUser, Messages: []domain.Message{ask("hello")}}, []string{notice, "where something is defined"}},
		{"a synthesis", domain.ModelRequest{System: "s", Messages: looked}, []string{notice, "[shop/web:v2:server.go:3]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var streamed strings.Builder
			response, err := offline.New("").Stream(t.Context(), c.req, func(d domain.ModelDelta) error { streamed.WriteString(d.Text); return nil })
			if err != nil || response.Stop != domain.StopEndTurn || streamed.String() != response.Message.Text() {
				t.Fatalf("got %+v, %v, streamed %q", response, err, streamed.String())
			}
			for _, want := range c.want {
				if !strings.Contains(response.Message.Text(), want) {
					t.Errorf("%q is not in %s", want, response.Message.Text())
				}
			}
		})
	}
}

// TestSummariesOfSummaries holds that what a first summary kept is in the second.
func TestSummariesOfSummaries(t *testing.T) {
	t.Parallel()
	text := ""
	for i := range 3 {
		part := fmt.Sprintf("user: Question %d?\n\nassistant: See [a:v1:f%d.go:1].\n\n", i, i)
		if text != "" {
			part = "Summary so far:\n\n" + text + "\n\nWhat follows:\n\n" + part
		}
		response, err := offline.New("").Stream(t.Context(), domain.ModelRequest{System: prompts.Compact(), Messages: []domain.Message{ask(part)}},
			func(domain.ModelDelta) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		text = response.Message.Text()
	}
	for i := range 3 {
		for _, want := range []string{fmt.Sprintf("Question %d?", i), fmt.Sprintf("[a:v1:f%d.go:1]", i)} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%q stands %d times in:\n%s", want, strings.Count(text, want), text)
			}
		}
	}
}

// FuzzConversation holds that no question and no result of a tool, whatever they hold,
// breaks a plan or makes it go on for ever.
func FuzzConversation(f *testing.F) {
	for name, text := range world() {
		f.Add("Where is Serve configured, from main to v1?", name, text)
	}
	f.Add("how does `a::b` in x/y.go reach \"c d\"", "search_symbols", "[a:b:c:1] function x (lines 9-1)\n1  y")
	f.Add("what changed between v1 and v2", "list_repositories", "a\n  v1, 1\n  v2, 1")
	f.Fuzz(func(t *testing.T, question, tool, text string) {
		says := world()
		says[tool] = text
		if _, calls := (&bench{says: says}).converse(t, ask(question)); calls > 5 {
			t.Errorf("it took %d rounds", calls)
		}
	})
}

func TestNamesOfLibrariesAreFoundInText(t *testing.T) {
	t.Parallel()
	b := &bench{says: map[string]string{
		"list_repositories": "app — /srv/app\n  main at 0123456789, 2 files, 3 symbols",
		"search_symbols":    "[app:main:api/body.go:51] method body.Read (lines 51-63)\n    func (b *body) Read(p []byte) (int, error)",
		"search_text":       "[app:main:api/endpoint.go:130] \t\ttooLarge *http.MaxBytesError",
		"get_file_symbols":  "[app:main:api/endpoint.go:127] function bodyError (lines 127-140)\n    func bodyError(err error) error",
	}}
	answer, _ := b.converse(t, domain.TextMessage(domain.RoleUser, "Where is MaxBytesError used?"))
	if !strings.Contains(answer, "[app:main:api/endpoint.go:130]") || !strings.Contains(answer, "\n\t\ttooLarge") || strings.Contains(answer, "body.Read` is") {
		t.Errorf("the answer is about something else:\n%s", answer)
	}
}

func TestNamesThatAreNotThereAreSaidToBe(t *testing.T) {
	t.Parallel()
	b := &bench{says: map[string]string{
		"list_repositories": "app — /srv/app\n  main at 0123456789, 2 files, 3 symbols",
		"search_symbols":    "[app:main:note.go:3] method board.note (lines 3-5)\n    func (b *board) note()",
		"get_symbol_source": "[app:main:note.go:3] method board.note (lines 3-5)\n    3  func (b *board) note() {}",
	}}
	answer, _ := b.converse(t, domain.TextMessage(domain.RoleUser, "What does NoteSeen do?"))
	if !strings.Contains(answer, "No symbol `NoteSeen` was found") {
		t.Errorf("another symbol is taken for it:\n%s", answer)
	}
}

func TestNamesOfOneLetter(t *testing.T) {
	t.Parallel()
	b := &bench{says: map[string]string{
		"list_repositories": "app — /srv/app\n  main at 0123456789, 2 files, 3 symbols",
		"search_symbols":    "[app:main:a.go:3] function A (lines 3-3)\n    func A()",
		"find_callers":      "[app:main:b.go:9] function B calls it",
	}}
	_, _ = b.converse(t, domain.TextMessage(domain.RoleUser, "Where is A called?"))
	for _, want := range []string{`"query":"A"`, `\\bA\\b`} {
		if !strings.Contains(b.last, want) {
			t.Errorf("nothing is asked for by %s:\n%s", want, b.last)
		}
	}
}

func TestFilesWithBracketsAreCited(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"app/[slug]/page.tsx", "app/[[...all]]/page.tsx", "a:b.tsx"} {
		at := "[web:main:" + file + ":1]"
		b := &bench{says: map[string]string{
			"list_repositories": "web — /srv/web\n  main at 0123456789, 2 files, 3 symbols",
			"search_symbols":    at + " function SlugPage (lines 1-3)\n    function SlugPage()",
			"get_symbol_source": at + " function SlugPage (lines 1-3)\n    1  export default function SlugPage() {",
			"search_text":       at + " export default function SlugPage() {",
		}}
		answer, _ := b.converse(t, domain.TextMessage(domain.RoleUser, "Where is SlugPage defined?"))
		cited := domain.ParseCitations(answer)
		if len(cited) == 0 || cited[0].File != file {
			t.Errorf("%s is not cited:\n%s", file, answer)
		}
	}
}

func TestNamesOfTwoLetters(t *testing.T) {
	t.Parallel()
	b := &bench{says: map[string]string{
		"list_repositories": "app — /srv/app\n  main at 0123456789, 2 files, 3 symbols",
		"search_symbols":    "[app:main:a.py:3] function nl (lines 3-4)\n    def nl():",
		"get_symbol_source": "[app:main:a.py:3] function nl (lines 3-4)\n    3  def nl():",
	}}
	answer, _ := b.converse(t, domain.TextMessage(domain.RoleUser, "where is nl defined?"))
	if !strings.Contains(b.last, `"query":"nl"`) || !strings.Contains(answer, "[app:main:a.py:3-4]") {
		t.Errorf("the symbol is not found:\n%s\n%s", b.last, answer)
	}
}

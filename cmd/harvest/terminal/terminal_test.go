package terminal_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/embedded"
)

var update = flag.Bool("update", false, "write the goldens anew")

type event string

func (e event) Decode(out any) error { return json.Unmarshal([]byte(e), out) }

// play shows events given as JSON objects, and gives the end of the terminal one.
func play(t *testing.T, show func(domain.EventType, terminal.Event) error, events ...string) error {
	t.Helper()
	var end error
	for _, text := range events {
		var kind struct {
			Type domain.EventType `json:"type"`
		}
		if err := json.Unmarshal([]byte(text), &kind); err != nil {
			t.Fatal(err)
		}
		err := show(kind.Type, event(text))
		if err != nil && !kind.Type.Terminal() {
			t.Fatal(err)
		}
		end = err
	}
	return end
}

// clocks are the times that differ from run to run.
var clocks = regexp.MustCompile(`\d+\.\d s`)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	got = clocks.ReplaceAll(got, []byte("0.0 s"))
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

var answered = []string{
	`{"type":"user_message","query":"How are events stored?"}`,
	`{"type":"intent","mode":"research"}`,
	`{"type":"text_delta","text":"Let me look at the "}`,
	`{"type":"text_delta","text":"store first."}`,
	`{"type":"phase","label":"Searching the code"}`,
	`{"type":"tool_call","id":"a","name":"search_symbols","description":"search symbols like \"append\""}`,
	`{"type":"tool_call","id":"b","name":"read_file","description":"read internal/postgres/append.go"}`,
	`{"type":"tool_result","id":"b","name":"read_file","preview":"142 lines","error":false}`,
	`{"type":"tool_result","id":"a","name":"search_symbols","preview":"no such repository: other\nsecond line","error":true}`,
	`{"type":"retry","reason":"the provider is busy","wait_ms":2000,"discard":true}`,
	`{"type":"text_delta","text":"## How events are stored\n\nEach event is appended by **one "}`,
	`{"type":"text_delta","text":"statement** in ` + "`append`" + ` [harvest:main:internal/postgres/append.go:12], which bumps two counters and inserts the rows, so that no two writers can interleave.\n\n- first the attempt is checked, and a writer that was overtaken is refused, whatever it carries\n- then rows\n\n` + "```sql\\nselect   1;\\n```" + `\n\u001b[31mnot red"}`,
	`{"type":"done","turn_id":"t1","answer":"the answer","sources":[
		{"repo":"harvest","version":"main","file":"internal/postgres/append.go","line":12,"symbol":"append","verified":true,"commit":"0123456789abcdef","stale":true},
		{"repo":"harvest","version":"main","file":"gone.go","line":99,"verified":false}],
		"tool_calls_made":2,"provider_used":{"provider_id":"anthropic-0","kind":"anthropic","model":"m1"},"reason":"answered","usage":{"cost":0.0123}}`,
}

func withAnswer(answer string) []string {
	events := append([]string(nil), answered...)
	last := len(events) - 1
	text, _ := json.Marshal(answer)
	events[last] = strings.Replace(events[last], `"the answer"`, string(text), 1)
	return events
}

func streamed() string {
	return "## How events are stored\n\nEach event is appended by **one statement** in `append` [harvest:main:internal/postgres/append.go:12], which bumps two counters and inserts the rows, so that no two writers can interleave.\n\n- first the attempt is checked, and a writer that was overtaken is refused, whatever it carries\n- then rows\n\n```sql\nselect   1;\n```\n\u001b[31mnot red"
}

func TestTurn(t *testing.T) {
	t.Parallel()
	for name, fancy := range map[string]bool{"turn.plain.golden": false, "turn.fancy.golden": true} {
		var out bytes.Buffer
		screen := terminal.New(&out, fancy, func() int { return 72 })
		turn := terminal.NewTurn(screen)
		turn.Question("How are events stored?")
		if err := play(t, turn.Show, withAnswer(streamed())...); err != nil {
			t.Error(err)
		}
		screen.Close()
		golden(t, name, moving.ReplaceAll(out.Bytes(), nil))
	}
}

// moving are the frames of the moving line.
var moving = regexp.MustCompile("\x1b\\[36m[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]\x1b\\[0m [^\r]*\r\x1b\\[K")

// An answer that was not streamed to this reader is shown in the end, once.
func TestAnswerIsShownOnce(t *testing.T) {
	t.Parallel()
	for _, events := range [][]string{
		{`{"type":"done","answer":"the answer","sources":[],"provider_used":{"kind":"offline"}}`},
		{`{"type":"text_delta","text":"the answer"}`, `{"type":"done","answer":"the answer","sources":[],"provider_used":{"kind":"offline"}}`},
		{`{"type":"text_delta","text":"half of"}`, `{"type":"retry","reason":"a crash"}`, `{"type":"text_delta","text":"the answer\n"}`, `{"type":"done","answer":"the answer","sources":[],"provider_used":{"kind":"offline"}}`},
	} {
		var out bytes.Buffer
		screen := terminal.New(&out, false, func() int { return 80 })
		if err := play(t, terminal.NewTurn(screen).Show, events...); err != nil {
			t.Error(err)
		}
		screen.Close()
		if n := strings.Count(out.String(), "the answer"); n != 1 {
			t.Errorf("the answer is shown %d times:\n%s", n, out.String())
		}
		if !strings.Contains(out.String(), "No model wrote this") {
			t.Errorf("nothing says that no model wrote it:\n%s", out.String())
		}
	}
}

func TestFailedTurn(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	screen := terminal.New(&out, false, func() int { return 80 })
	err := play(t, terminal.NewTurn(screen).Show,
		`{"type":"error","message":"the provider refused the key","code":"upstream","answer":"","sources":[]}`)
	screen.Close()
	if domain.CodeOf(err) != domain.CodeUpstream || !strings.Contains(err.Error(), "refused the key") {
		t.Errorf("got %v", err)
	}
}

// shown plays the events of a turn on a plain screen and gives what people see.
func shown(t *testing.T, turn func(*terminal.Turn), events ...string) string {
	t.Helper()
	var out bytes.Buffer
	screen := terminal.New(&out, false, func() int { return 100 })
	view := terminal.NewTurn(screen)
	if turn != nil {
		turn(view)
	}
	_ = play(t, view.Show, events...)
	screen.Close()
	return out.String()
}

func TestReasonsAreToldInWords(t *testing.T) {
	t.Parallel()
	got := shown(t, nil,
		`{"type":"retry","reason":"rate_limited","message":"provider \"a\" has reached its rate limit (429): slow down","wait_ms":2000}`,
		`{"type":"retry","reason":"unavailable","wait_ms":0}`,
		`{"type":"failover","from":{"provider_id":"a","model":"m"},"to":{"provider_id":"b","model":"n"},"reason":"rate_limited"}`)
	want := `~ trying again in 2.0 s: provider "a" has reached its rate limit (429): slow down
~ trying again: can't be reached
~ going on with n (b): a has reached its rate limit
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestQuestionsAreShownOnce(t *testing.T) {
	t.Parallel()
	end := `{"type":"done","answer":%q,"reason":"asked","question":{"question":"Which one?","choices":["a","b"]},"sources":[]}`
	asked := []string{
		`{"type":"tool_call","id":"1","name":"ask_user","description":"Asking: Which one?"}`,
		`{"type":"tool_result","id":"1","name":"ask_user","preview":"waits for your answer"}`,
	}
	for name, events := range map[string][]string{
		"text before": append(append([]string{`{"type":"text_delta","text":"Hm."}`}, asked...), fmt.Sprintf(end, "Hm.")),
		"no text":     append(asked[:2:2], fmt.Sprintf(end, "Which one?")),
	} {
		got := shown(t, nil, events...)
		if strings.Count(got, "Hm.") > 1 || !strings.Contains(got, "\nWhich one?\n- a\n- b\n") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestWhoAnsweredIsTold(t *testing.T) {
	t.Parallel()
	wants := func(view *terminal.Turn) { view.Wants("nope") }
	got := shown(t, wants, `{"type":"done","answer":"x","sources":[],"provider_used":{"provider_id":"a","model":"m"}}`)
	if !strings.Contains(got, `m (a) · in place of "nope"`) {
		t.Errorf("nothing says that another provider answered:\n%s", got)
	}
	got = shown(t, nil, `{"type":"error","message":"x","code":"upstream","answer":"","sources":[],"provider_used":{"kind":"offline"}}`)
	if strings.Contains(got, "No model wrote this") {
		t.Errorf("a turn without an answer says who wrote it:\n%s", got)
	}
}

func TestIngest(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	screen := terminal.New(&out, false, func() int { return 80 })
	err := play(t, terminal.NewIngest(screen, "harvest").Show,
		`{"type":"ingest_progress","phase":"fetch"}`,
		`{"type":"ingest_progress","phase":"fetch","waiting":"its host does not answer"}`,
		`{"type":"ingest_progress","phase":"fetch"}`,
		`{"type":"ingest_progress","phase":"fetch","waiting":"its host does not answer"}`,
		`{"type":"ingest_progress","version":"v1","phase":"parse","files_done":1,"files_total":20}`,
		`{"type":"ingest_progress","version":"v1","phase":"parse","files_done":20,"files_total":20}`,
		`{"type":"ingest_progress","version":"v1","phase":"done","files_done":20,"files_total":1234,"symbols":1,"edges":50000,"reused":7,"skipped":{"binary":2,"oversized":1}}`,
		`{"type":"ingest_progress","version":"v2","phase":"parse","error":"the tree is broken"}`,
		`{"type":"ingest_failed","message":"1 of 2 versions of harvest could not be read: v2: the tree is broken","code":"unprocessable"}`)
	screen.Close()
	golden(t, "ingest.plain.golden", out.Bytes())
	if domain.CodeOf(err) != domain.CodeUnprocessable || err.Error() != "1 of 2 versions of harvest could not be read: v2: the tree is broken" {
		t.Errorf("got %v", err)
	}
}

// What is said after a screen is closed begins a line of its own.
func TestClosedInTheMiddleOfALine(t *testing.T) {
	t.Parallel()
	for _, fancy := range []bool{false, true} {
		var out bytes.Buffer
		screen := terminal.New(&out, fancy, func() int { return 80 })
		screen.Text("half a")
		screen.Close()
		screen.Close()
		if got := out.String(); got != "half a\n" {
			t.Errorf("fancy %v: %q", fancy, got)
		}
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	screen := terminal.New(&out, false, func() int { return 80 })
	start := terminal.NewStart(screen)
	step := embedded.Progress{Step: "fetching PostgreSQL", Unit: "bytes", Total: 14_900_000}
	start.Show(step)
	step.Done, step.Elapsed = 7_450_000, 11*time.Second
	start.Show(step)
	step.Elapsed = 15 * time.Second // too soon after the last line
	start.Show(step)
	step.Done, step.Elapsed, step.Ended = 15_000_000, 75*time.Second, true
	start.Show(step)
	start.Show(embedded.Progress{Step: "starting Temporal", Elapsed: 12 * time.Second, Ended: true, Failed: true})
	screen.Close()
	want := "  fetching PostgreSQL: 11 s 7.5/14.9 MB\n+ fetching PostgreSQL  1 min 15 s\n! starting Temporal  12 s\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// However the text is cut into pieces, the same is shown.
func FuzzProse(f *testing.F) {
	f.Add(streamed(), uint8(3))
	f.Add("a\n\n- b **c\n| d | e |\n1. x `y z` [a:b:c:1]", uint8(1))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		text = strings.ToValidUTF8(text, "?")
		render := func(step int) string {
			var out bytes.Buffer
			screen := terminal.New(&out, true, func() int { return 40 })
			turn := terminal.NewTurn(screen)
			screen.Status(nil)
			runes := []rune(text)
			for len(runes) > 0 {
				n := min(step, len(runes))
				turn.Prose(string(runes[:n]))
				runes = runes[n:]
			}
			screen.Close()
			return out.String()
		}
		if diff := cmp.Diff(render(1<<20), render(int(size%16)+1)); diff != "" {
			t.Errorf("in pieces (-whole +pieces):\n%s", diff)
		}
	})
}

// A citation is one piece whatever its file is called: the brackets of a route don't end it.
func TestCitationsOfFilesWithBrackets(t *testing.T) {
	t.Parallel()
	const place = "[web:main:app/[slug]/page.tsx:3]"
	var out bytes.Buffer
	screen := terminal.New(&out, true, func() int { return 100 })
	if err := play(t, terminal.NewTurn(screen).Show, `{"type":"text_delta","text":"It is in `+place+`, see [x]."}`, `{"type":"done","answer":"x","sources":[]}`); err != nil {
		t.Fatal(err)
	}
	screen.Close()
	if !strings.Contains(out.String(), "\x1b[2m"+place+"\x1b[0m, see [x].") {
		t.Errorf("the citation is not one piece: %q", out.String())
	}
}

package scripted_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ llm.Provider = (*scripted.Provider)(nil)

const script = `{
  "model": "echo-1",
  "scenes": [
    {"system": "Classify", "no_tools": true, "rounds": [{"text": "research"}]},
    {"question": "weather", "rounds": [{"text": "Söme weather", "chunk": 2}]}
  ],
  "rounds": [
    {"thinking": "hm", "text": "Let me look.", "chunk": 5,
     "calls": [{"name": "search_symbols", "input": {"query": "x"}}, {"id": "own", "name": "list_repositories"}]},
    {"text": "Done [a:v1:b.go:1].", "usage": {"input": 10, "output": 5, "cached": 4}}
  ]
}`

func ask(question string, rounds int) domain.ModelRequest {
	req := domain.ModelRequest{
		Tools: []domain.ToolSpec{{Name: "search_symbols"}},
		Messages: []domain.Message{
			domain.TextMessage(domain.RoleUser, "earlier"),
			domain.TextMessage(domain.RoleAssistant, "answered"),
			domain.TextMessage(domain.RoleUser, question),
		},
	}
	for range rounds {
		req.Messages = append(req.Messages,
			domain.Message{Role: domain.RoleAssistant, Blocks: []domain.Block{{Type: domain.BlockToolUse, CallID: "c", Tool: "t"}}},
			domain.Message{Role: domain.RoleUser, Blocks: []domain.Block{{Type: domain.BlockToolResult, CallID: "c", Text: "r"}}})
	}
	return req
}

// play calls the provider and renders its deltas: t: text, k: thinking, c: call.
func play(ctx context.Context, t *testing.T, p *scripted.Provider, req domain.ModelRequest) (domain.ModelResponse, []string, error) {
	t.Helper()
	var deltas []string
	response, err := p.Stream(ctx, req, func(d domain.ModelDelta) error {
		switch {
		case d.Text != "":
			deltas = append(deltas, "t:"+d.Text)
		case d.Thinking != "":
			deltas = append(deltas, "k:"+d.Thinking)
		default:
			deltas = append(deltas, "c:"+d.ToolName)
		}
		return nil
	})
	return response, deltas, err
}

func newProvider(t *testing.T, text string) *scripted.Provider {
	t.Helper()
	parsed, err := scripted.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return scripted.New("", parsed)
}

func TestRounds(t *testing.T) {
	t.Parallel()
	classify := ask("where is x", 0)
	classify.System, classify.Tools = "Classify this.", nil
	for _, c := range []struct {
		name   string
		req    domain.ModelRequest
		deltas []string
		stop   domain.StopReason
		calls  []string
	}{
		{"first round calls tools", ask("where is x", 0),
			[]string{"k:hm", "t:Let m", "t:e loo", "t:k.", "c:search_symbols", "c:list_repositories"}, domain.StopToolUse, []string{"call-0-0", "own"}},
		{"second round answers", ask("where is x", 1), []string{"t:Done [a:v1:b.go:1]."}, domain.StopEndTurn, nil},
		{"a scene by its question, cut between characters", ask("the weather?", 0),
			[]string{"t:Sö", "t:me", "t: w", "t:ea", "t:th", "t:er"}, domain.StopEndTurn, nil},
		{"a scene by its system prompt", classify, []string{"t:research"}, domain.StopEndTurn, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, script)
			for range 2 { // stateless: the second time is the same
				response, deltas, err := play(t.Context(), t, p, c.req)
				if err != nil {
					t.Fatal(err)
				}
				var ids []string
				for _, call := range response.ToolCalls() {
					ids = append(ids, call.CallID)
				}
				if diff := cmp.Diff(c.deltas, deltas); diff != "" {
					t.Error(diff)
				}
				if diff := cmp.Diff(c.calls, ids); diff != "" || response.Stop != c.stop {
					t.Errorf("stop %s, calls %s", response.Stop, diff)
				}
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	response, _, err := play(t.Context(), t, newProvider(t, script), ask("q", 1))
	if err != nil {
		t.Fatal(err)
	}
	want := domain.Usage{InputTokens: 10, OutputTokens: 5, CachedInputTokens: 4}
	if response.Usage != want {
		t.Errorf("usage %+v, want %+v", response.Usage, want)
	}
}

func TestBeyondTheScript(t *testing.T) {
	t.Parallel()
	_, _, err := play(t.Context(), t, newProvider(t, script), ask("q", 2))
	if domain.CodeOf(err) != domain.CodeUpstream {
		t.Errorf("got %v, want an upstream error", err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	p := newProvider(t, `{"rounds": [{"text": "abcdef", "chunk": 2, "faults": [
	  {"code": "rate_limited", "wait": "7s", "times": 2},
	  {"code": "unavailable", "after": 2}
	]}]}`)
	type outcome struct {
		Code   domain.Code
		Wait   time.Duration
		Deltas int
	}
	var got []outcome
	for range 4 {
		_, deltas, err := play(t.Context(), t, p, ask("q", 0))
		o := outcome{Code: domain.CodeOf(err), Deltas: len(deltas)}
		if e := new(domain.Error); errors.As(err, &e) {
			o.Wait = e.Wait
		}
		got = append(got, o)
	}
	want := []outcome{
		{domain.CodeRateLimited, 7 * time.Second, 0}, {domain.CodeRateLimited, 7 * time.Second, 0},
		{domain.CodeUnavailable, 0, 2}, {"", 0, 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDelaysAndHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t, `{"rounds": [{"text": "abcd", "chunk": 1, "first_delay": "1s", "delay": "100ms",
		  "faults": [{"code": "timeout", "after": 2, "hang": true}]}]}`)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		_, deltas, err := play(ctx, t, p, ask("q", 0))
		if domain.CodeOf(err) != domain.CodeCanceled || len(deltas) != 2 || time.Since(start) != 5*time.Second {
			t.Errorf("a hanging call gave %v after %v and %d deltas", err, time.Since(start), len(deltas))
		}
		start = time.Now()
		if _, _, err = play(t.Context(), t, p, ask("q", 0)); err != nil || time.Since(start) != 1300*time.Millisecond {
			t.Errorf("the next attempt gave %v after %v", err, time.Since(start))
		}
	})
}

func TestEmitErrorEndsTheCall(t *testing.T) {
	t.Parallel()
	p := newProvider(t, script)
	full := errors.New("reader is gone")
	_, err := p.Stream(t.Context(), ask("q", 0), func(domain.ModelDelta) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"good.json":    {script, ""},
		"typo.json":    {`{"rouns": []}`, "rouns"},
		"missing.json": {"", "can't be read"},
	} {
		path := filepath.Join(dir, name)
		if c.text != "" {
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := scripted.Load(path)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(domain.PublicMessage(err), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// The script that the page on the configuration shows is one, and the page tells of every key.
func TestDocumentedScript(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```json\n")
	text, _, _ = strings.Cut(text, "```")
	script, err := scripted.Parse([]byte(text))
	if err != nil || len(script.Scenes) == 0 || len(script.Rounds) == 0 {
		t.Fatalf("%+v, %v", script, err)
	}
	for _, part := range []any{scripted.Script{}, scripted.Scene{}, scripted.Round{}, scripted.Call{}, scripted.Fault{}, scripted.Usage{}} {
		for i := range reflect.TypeOf(part).NumField() {
			key, _, _ := strings.Cut(reflect.TypeOf(part).Field(i).Tag.Get("json"), ",")
			if !strings.Contains(string(page), "`"+key+"`") && !strings.Contains(text, `"`+key+`"`) {
				t.Errorf("the page does not tell of %T's %s", part, key)
			}
		}
	}
}

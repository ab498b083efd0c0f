package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// command is a tool that takes environment variables.
type command struct {
	run func(ctx context.Context) (domain.ToolResult, error)
}

func (command) Spec() tools.Spec {
	return tools.Spec{
		ToolSpec: domain.ToolSpec{Name: "command", InputSchema: json.RawMessage(`{"type":"object","properties":{"env":{},"command":{}}}`)},
		Policy:   domain.PolicyNever, Timeout: 1e9, MaxResult: 40, SecretEnv: "env",
	}
}

func (c command) Run(ctx context.Context, _ domain.Scope, _ json.RawMessage) (domain.ToolResult, error) {
	return c.run(ctx)
}

func TestHandles(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"command":"ls","env":{"A":"plain"}}`:                                      "",
		`{"env":{"A":"secret://DB","B":"secret://db@2","C":"plain"},"command":"x"}`: "A=secret://DB B=secret://DB@2",
		`{"env":{"A":"secret:\u002f\u002fDB"}}`:                                     "A=secret://DB",
		`{"env":{"A":" secret://DB"}}`:                                              "invalid",
		`{"env":{"A":"Bearer secret://DB"}}`:                                        "invalid",
		`{"env":{"A":"secret://DB@0"}}`:                                             "invalid",
		`{"env":{"A":["secret://DB"]}}`:                                             "invalid",
		`{"env":{"secret://DB":"x"}}`:                                               "invalid",
		`{"env":{"A B":"secret://DB"}}`:                                             "invalid",
		`{"env":"secret://DB"}`:                                                     "invalid",
		`{"Env":{"A":"secret://DB"}}`:                                               "invalid",
		`{"command":"echo secret://DB","env":{"A":"secret://DB"}}`:                  "invalid",
		`{"secret://DB":1}`:                                                         "invalid",
	} {
		handles, err := command{}.Spec().Handles(json.RawMessage(input))
		var got []string
		for _, name := range []string{"A", "B", "C"} {
			if ref, ok := handles[name]; ok {
				got = append(got, name+"="+ref.Handle())
			}
		}
		text := strings.Join(got, " ")
		if err != nil {
			text = string(domain.CodeOf(err))
		}
		if text != want {
			t.Errorf("%s has %q (%v), want %q", input, text, err, want)
		}
	}
	if handles, err := (tools.Spec{}).Handles(json.RawMessage(`{"a":"secret://DB"}`)); handles != nil || err != nil {
		t.Errorf("a tool that takes none has %v, %v", handles, err)
	}
}

func TestPin(t *testing.T) {
	t.Parallel()
	pinned, err := command{}.Spec().Pin(json.RawMessage(`{"n":12345678901234567890,"env":{"A":"secret://DB","B":"<b>"}}`), map[string]domain.SecretRef{"A": {Name: "DB", Version: 3}})
	if want := `{"env":{"A":"secret://DB@3","B":"<b>"},"n":12345678901234567890}`; err != nil || string(pinned) != want {
		t.Errorf("pinned is %s, %v; want %s", pinned, err, want)
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	if got := (command{}).Spec().Known(json.RawMessage(`{"Command":"rm","approved":true,"command":"ls"}`)); string(got) != `{"command":"ls"}` {
		t.Errorf("kept is %s", got)
	}
}

// What a run gives back is scrubbed before it is cut: no half of a value is left at the end.
func TestResultsAreScrubbedBeforeTheyAreCut(t *testing.T) {
	t.Parallel()
	const value = "hunter2hunter2"
	ctx := tools.WithPrivate(t.Context(), tools.Private{
		Environment: map[string]domain.SecretValue{"A": domain.NewSecretValue(value)},
		Scrub:       func(text string) string { return strings.ReplaceAll(text, value, "[secret]") },
	})
	long := func(ctx context.Context) string {
		return strings.Repeat("x", 33) + tools.Environment(ctx)["A"].Reveal()
	}
	for name, run := range map[string]func(ctx context.Context) (domain.ToolResult, error){
		"a result": func(ctx context.Context) (domain.ToolResult, error) { return domain.ToolResult{Text: long(ctx)}, nil },
		"a preview": func(ctx context.Context) (domain.ToolResult, error) {
			return domain.ToolResult{Preview: long(ctx)}, nil
		},
		"a refusal": func(ctx context.Context) (domain.ToolResult, error) {
			return domain.ToolResult{}, domain.Invalid("a", "%s", long(ctx))
		},
		"a fault": func(ctx context.Context) (domain.ToolResult, error) {
			return domain.ToolResult{}, errors.New(long(ctx))
		},
	} {
		result, _ := tools.NewRegistry(command{run}).Run(ctx, domain.Scope{}, "command", nil)
		if text := result.Text + result.Preview; strings.Contains(text, "hunter") || text == "" {
			t.Errorf("%s gives %q", name, text)
		}
	}
}

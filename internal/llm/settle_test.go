package llm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
)

// listener is a provider that keeps what it was asked.
type listener struct {
	llm.Provider
	heard []domain.Message
}

func (l *listener) Stream(_ context.Context, req domain.ModelRequest, _ func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	l.heard = req.Messages
	return domain.ModelResponse{Message: domain.TextMessage(domain.RoleAssistant, "fine")}, nil
}

// parse reads messages in a short form: u: and a: by spaces, call>ID, ID=result, words.
func parse(text string) []domain.Message {
	var messages []domain.Message
	for _, line := range strings.Split(text, "|") {
		role, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		m := domain.Message{Role: map[string]domain.Role{"u": domain.RoleUser, "a": domain.RoleAssistant}[role]}
		for _, word := range strings.Fields(rest) {
			id, result, isResult := strings.Cut(word, "=")
			callID, isCall := strings.CutPrefix(word, ">")
			switch {
			case isResult:
				m.Blocks = append(m.Blocks, domain.Block{Type: domain.BlockToolResult, CallID: id, Text: result})
			case isCall:
				m.Blocks = append(m.Blocks, domain.Block{Type: domain.BlockToolUse, CallID: callID})
			default:
				m.Blocks = append(m.Blocks, domain.Block{Type: domain.BlockText, Text: word})
			}
		}
		messages = append(messages, m)
	}
	return messages
}

func render(messages []domain.Message) string {
	var lines []string
	for _, m := range messages {
		words := []string{string(m.Role[:1]) + ":"}
		for _, b := range m.Blocks {
			switch {
			case b.Type == domain.BlockToolResult && b.Error:
				words = append(words, b.CallID+"=LOST")
			case b.Type == domain.BlockToolResult:
				words = append(words, b.CallID+"="+b.Text)
			case b.Type == domain.BlockToolUse:
				words = append(words, ">"+b.CallID)
			default:
				words = append(words, b.Text)
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, " | ")
}

func TestConversationsAreSettled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"whole", "u: hi | a: look >1 >2 | u: 1=x 2=y | a: done", "u: hi | a: look >1 >2 | u: 1=x 2=y | a: done"},
		{"a lost result", "u: hi | a: >1 >2 | u: 2=y | a: done", "u: hi | a: >1 >2 | u: 1=LOST 2=y | a: done"},
		{"all lost, before the next question", "u: hi | a: >1 | u: again", "u: hi | a: >1 | u: 1=LOST | u: again"},
		{"lost at the end", "u: hi | a: >1", "u: hi | a: >1 | u: 1=LOST"},
		{"a result without a call", "u: 9=x hi | a: done", "u: hi | a: done"},
		{"results in several messages", "u: hi | a: >1 >2 | u: 2=y | u: 1=x", "u: hi | a: >1 >2 | u: 1=x 2=y"},
		{"words beside results stay with them", "u: hi | a: >1 | u: 1=x hurry", "u: hi | a: >1 | u: 1=x hurry"},
		{"ids used again in the next turn", "u: a | a: >1 | u: 1=x | a: b | u: c | a: >1 | u: 1=y", "u: a | a: >1 | u: 1=x | a: b | u: c | a: >1 | u: 1=y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := &listener{Provider: entry("a", 0, "").Provider}
			chain := newChain(t, llm.Entry{Config: llm.Config{ID: "a", Kind: llm.KindScripted}, Provider: l})
			req := domain.ModelRequest{Messages: parse(c.in)}
			if _, _, err := call(t.Context(), chain, domain.ProviderSelection{}, req); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, render(l.heard)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(render(parse(c.in)), render(req.Messages)); diff != "" {
				t.Errorf("the caller's messages were changed: %s", diff)
			}
		})
	}
}

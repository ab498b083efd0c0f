package providers_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
)

// exchange sends req to a service that answers with events, and gives the answer with the
// body that was sent.
func exchange(t *testing.T, kind, model string, req domain.ModelRequest, events ...string) (domain.ModelResponse, []byte) {
	t.Helper()
	var sent []byte
	s := serve(t, func(_ *service, w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		send(w, events...)
	})
	response, err := open(t, s, llm.Config{Kind: kind, Model: model}).Stream(t.Context(), req, new(heard).emit)
	if err != nil {
		t.Fatal(err)
	}
	return response, sent
}

// TestRedactedThinking holds that reasoning that the service hides comes back as it was.
func TestRedactedThinking(t *testing.T) {
	t.Parallel()
	var hidden []string // the fixture's stream with its first block hidden: it has no deltas
	for _, e := range fixture(t, llm.KindAnthropic, "answer") {
		if !strings.Contains(e, `"type": "content_block_delta", "index": 0`) {
			hidden = append(hidden, strings.Replace(e, `{"type": "thinking", "thinking": "", "signature": ""}`, `{"type": "redacted_thinking", "data": "c2VjcmV0"}`, 1))
		}
	}
	response, _ := exchange(t, llm.KindAnthropic, "claude-sonnet-4-6", question(), hidden...)
	first := response.Message.Blocks[0]
	if !first.Redacted || first.Signature != "c2VjcmV0" || first.SignedBy != llm.KindAnthropic {
		t.Fatalf("got %+v", first)
	}
	req := question()
	req.Messages = append(req.Messages, response.Message, domain.TextMessage(domain.RoleUser, "And?"))
	_, sent := exchange(t, llm.KindAnthropic, "claude-sonnet-4-6", req, fixture(t, llm.KindAnthropic, "answer")...)
	if !bytes.Contains(sent, []byte(`{"data":"c2VjcmV0","type":"redacted_thinking"}`)) {
		t.Errorf("sent %s", sent)
	}
}

// TestCallsOfAnotherModel holds that Gemini 3, which wants its calls signed, gets a
// stand-in for those that another model made.
func TestCallsOfAnotherModel(t *testing.T) {
	t.Parallel()
	req := question()
	call := domain.Block{Type: domain.BlockToolUse, CallID: "c", Tool: "search_symbols", Input: []byte(`{}`), Signature: "x", SignedBy: llm.KindAnthropic}
	req.Messages = append(req.Messages, domain.Message{Role: domain.RoleAssistant, Blocks: []domain.Block{call}},
		results(domain.ModelResponse{Message: domain.Message{Blocks: []domain.Block{call}}}))
	for model, want := range map[string]bool{"gemini-3-pro-preview": true, "gemini-2.5-flash": false} {
		_, sent := exchange(t, llm.KindGemini, model, req, fixture(t, llm.KindGemini, "answer")...)
		if got := bytes.Contains(sent, []byte(`"thoughtSignature"`)); got != want {
			t.Errorf("%s: signature sent: %v", model, got)
		}
	}
}

// TestOddServices holds what services that only resemble OpenAI's do differently.
func TestOddServices(t *testing.T) {
	t.Parallel()
	chunk := func(delta, finish string) string {
		return `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
	}
	const done = "data: [DONE]\n\n"
	for _, c := range []struct {
		name   string
		events []string
		blocks string
		stop   domain.StopReason
	}{
		{"reasoning under its other name", []string{chunk(`{"reasoning":"hm"}`, "null"), chunk(`{"content":"yes"}`, "null"), chunk(`{}`, `"stop"`), done},
			"thinking text", domain.StopEndTurn},
		{"calls that all have index 0", []string{
			chunk(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"one","arguments":"{}"}}]}`, "null"),
			chunk(`{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"two","arguments":"{}"}}]}`, "null"),
			chunk(`{}`, `"tool_calls"`), done}, "one{} two{}", domain.StopToolUse},
		{"calls without ids, finished with stop", []string{
			chunk(`{"tool_calls":[{"index":0,"type":"function","function":{"name":"one","arguments":"{\"a\":1}"}}]}`, "null"),
			chunk(`{}`, `"stop"`), done}, `one{"a":1}`, domain.StopToolUse},
		{"input that is no JSON", []string{
			chunk(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"one","arguments":"{\"a\": tru"}}]}`, "null"),
			chunk(`{}`, `"tool_calls"`), done}, `one{"malformed_input":"{\"a\":tru"}`, domain.StopToolUse},
		{"an end without a mark", []string{chunk(`{"content":"yes"}`, `"stop"`)}, "text", domain.StopEndTurn},
		{"a refusal in words", []string{chunk(`{"refusal":"I can't."}`, "null"), chunk(`{}`, `"stop"`), done}, "text", domain.StopRefusal},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			response, _ := exchange(t, llm.KindOpenAI, "m", question(), c.events...)
			if diff := cmp.Diff(c.blocks, describe(response.Message)); diff != "" || response.Stop != c.stop {
				t.Errorf("stop %s, blocks %s", response.Stop, diff)
			}
		})
	}
}

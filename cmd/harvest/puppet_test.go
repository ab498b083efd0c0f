package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// puppet is a model service, speaking the chat completions of OpenAI, that does what a test
// tells it to, and remembers every byte that it was sent.
type puppet struct {
	address string
	play    func(prompted) reply

	mu     sync.Mutex
	bodies []string
}

// prompted is what a request tells the model.
type prompted struct {
	question string   // the person's last message
	round    int      // answers that the model has given since
	told     []string // every text of the conversation, in order, the system prompt first
	tools    bool     // tools are offered
}

// reply is what the model answers.
type reply struct {
	thinking string
	text     string // sent in small pieces
	calls    []puppetCall
}

type puppetCall struct{ name, input string } // input goes out as it is, JSON or not

func newPuppet(t *testing.T, play func(prompted) reply) *puppet {
	t.Helper()
	p := &puppet{play: play}
	server := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(server.Close)
	p.address = server.URL + "/v1"
	return p
}

func (p *puppet) toml() string {
	return fmt.Sprintf("[[llm]]\nprovider = \"openai-compatible\"\nmodel = \"puppet\"\nbase_url = %q\n", p.address)
}

func (p *puppet) requests() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.bodies, "\n")
}

func (p *puppet) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.bodies = append(p.bodies, string(body))
	p.mu.Unlock()
	said, err := hear(body)
	if err != nil {
		http.Error(w, `{"error":{"message":"this is no request"}}`, http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	p.play(said).send(w)
}

// hear reads a request.
func hear(body []byte) (h prompted, err error) {
	var request struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return h, err
	}
	h.tools = len(request.Tools) > 0
	for _, m := range request.Messages {
		text := contentText(m.Content)
		h.told = append(h.told, text)
		switch m.Role {
		case "user":
			h.question, h.round = text, 0
		case "assistant":
			h.round++
		}
	}
	return h, nil
}

// contentText gives the text of a message, which is one or a list of parts.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(raw, &parts) // null has none
	for _, part := range parts {
		text += part.Text
	}
	return text
}

func (a reply) send(w io.Writer) {
	chunk := func(delta map[string]any, finish any) {
		body, _ := json.Marshal(map[string]any{
			"id": "c", "object": "chat.completion.chunk",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
		})
		fmt.Fprintf(w, "data: %s\n\n", body)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
	for _, piece := range pieces(a.thinking) {
		chunk(map[string]any{"reasoning_content": piece}, nil)
	}
	for _, piece := range pieces(a.text) {
		chunk(map[string]any{"content": piece}, nil)
	}
	finish := "stop"
	for i, call := range a.calls {
		finish = "tool_calls"
		chunk(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": fmt.Sprintf("call-%d", i), "type": "function",
			"function": map[string]string{"name": call.name, "arguments": call.input},
		}}}, nil)
	}
	chunk(map[string]any{}, finish)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// pieces cuts a text between characters.
func pieces(text string) []string {
	var list []string
	var piece bytes.Buffer
	for _, r := range text {
		piece.WriteRune(r)
		if piece.Len() >= 7 {
			list = append(list, piece.String())
			piece.Reset()
		}
	}
	if piece.Len() > 0 {
		list = append(list, piece.String())
	}
	return list
}

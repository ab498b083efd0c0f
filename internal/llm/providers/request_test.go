package providers_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// conversation has all that a request can hold: an earlier turn, attachments, reasoning of
// the provider itself and of others, calls with good and malformed input, and results.
func conversation(kind string) domain.ModelRequest {
	signature := "c2lnbmVk" // base64, as one of the services signs in bytes
	if kind == llm.KindOpenAI {
		signature = "reasoning_content"
	}
	req := question()
	req.User, req.MaxTokens = "user-1", 2000
	req.Tools = append(req.Tools, domain.ToolSpec{Name: "list_repositories", Description: "List."})
	req.Messages = []domain.Message{
		domain.TextMessage(domain.RoleUser, "Hello"),
		{Role: domain.RoleAssistant, Blocks: []domain.Block{
			{Type: domain.BlockThinking, Text: "an earlier thought", Signature: signature, SignedBy: kind},
			{Type: domain.BlockText, Text: "Hi."},
		}},
		{Role: domain.RoleUser, Blocks: []domain.Block{
			{Type: domain.BlockText, Text: "Who calls this?"},
			{Type: domain.BlockMedia, MimeType: "image/png", Name: "shot.png", Data: []byte("\x89PNG\xff")},
			{Type: domain.BlockMedia, MimeType: "application/pdf", Name: "spec.pdf", Data: []byte("%PDF\xff")},
			{Type: domain.BlockMedia, MimeType: "application/x-yaml", Name: "a.yaml", Data: []byte("a: 1")},
		}},
		{Role: domain.RoleAssistant, Blocks: []domain.Block{
			{Type: domain.BlockThinking, Text: "a thought", Signature: signature, SignedBy: kind},
			{Type: domain.BlockThinking, Text: "of another", Signature: "foreign", SignedBy: "another"},
			{Type: domain.BlockText, Text: "I'll look."},
			{Type: domain.BlockToolUse, CallID: "c1", Tool: "search_symbols", Input: json.RawMessage(`{"query": "Serve"}`), Signature: "c2ln", SignedBy: kind},
			{Type: domain.BlockToolUse, CallID: "c2", Tool: "list_repositories", Input: json.RawMessage(`"cut`)},
		}},
		{Role: domain.RoleUser, Blocks: []domain.Block{
			{Type: domain.BlockToolResult, CallID: "c1", Tool: "search_symbols", Text: "[a:v1:b.go:3] function Serve"},
			{Type: domain.BlockToolResult, CallID: "c2", Tool: "list_repositories", Text: "no such field", Error: true},
		}},
	}
	return req
}

func TestRequests(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.kind, func(t *testing.T) {
			t.Parallel()
			var sent, path string
			key := ""
			events := fixture(t, d.kind, "answer")
			s := serve(t, func(_ *service, w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				sent, path = indent(t, body), r.URL.RequestURI()
				key = r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key") + r.Header.Get("Authorization")
				send(w, events...)
			})
			if _, err := open(t, s, llm.Config{Kind: d.kind, Model: d.model}).Stream(t.Context(), conversation(d.kind), new(heard).emit); err != nil {
				t.Fatal(err)
			}
			if key != secret && key != "Bearer "+secret {
				t.Errorf("the key was sent as %q", key)
			}
			golden(t, filepath.Join("testdata", d.kind, "request.golden"), "POST "+path+"\n"+sent)
		})
	}
}

func indent(t *testing.T, body []byte) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("the request is not JSON: %v", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Error(err)
	}
	return out.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

// TestSignaturesComeBack holds that what a service signed is given back as it was: the
// answer of one round is part of the next request.
func TestSignaturesComeBack(t *testing.T) {
	t.Parallel()
	signs := map[string][]string{
		llm.KindAnthropic: {"EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds"},
		llm.KindGemini:    {`"thoughtSignature":"CikBPXLqhYEaSGVsbG8gc2lnbmF0dXJlIG9mIGEgdGhvdWdodA=="`},
		llm.KindOpenAI:    {`"reasoning_content":"The caller matters."`},
	}
	for _, d := range dialects {
		t.Run(d.kind, func(t *testing.T) {
			t.Parallel()
			var last []byte
			events := fixture(t, d.kind, "tools")
			s := serve(t, func(_ *service, w http.ResponseWriter, r *http.Request) {
				last, _ = io.ReadAll(r.Body)
				send(w, events...)
			})
			p := open(t, s, llm.Config{Kind: d.kind, Model: d.model})
			req := question()
			first, err := p.Stream(t.Context(), req, new(heard).emit)
			if err != nil {
				t.Fatal(err)
			}
			req.Messages = append(req.Messages, first.Message, results(first))
			second, err := p.Stream(t.Context(), req, new(heard).emit)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range signs[d.kind] {
				if !bytes.Contains(last, []byte(want)) {
					t.Errorf("%s is not in the second request: %s", want, last)
				}
			}
			seen := map[string]bool{}
			for _, call := range append(first.ToolCalls(), second.ToolCalls()...) {
				if call.CallID == "" || seen[call.CallID] {
					t.Errorf("call id %q is empty or taken", call.CallID)
				}
				seen[call.CallID] = true
			}
		})
	}
}

func results(r domain.ModelResponse) domain.Message {
	m := domain.Message{Role: domain.RoleUser}
	for _, call := range r.ToolCalls() {
		m.Blocks = append(m.Blocks, domain.Block{Type: domain.BlockToolResult, CallID: call.CallID, Tool: call.Tool, Text: "nothing"})
	}
	return m
}

func TestUnsupportedAttachment(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		s := serve(t, func(*service, http.ResponseWriter, *http.Request) { t.Error("a request was made") })
		req := question()
		req.Messages[0].Blocks = append(req.Messages[0].Blocks, domain.Block{Type: domain.BlockMedia, MimeType: "audio/ogg", Name: "a.ogg", Data: []byte{0xff, 0xfe}})
		_, err := open(t, s, llm.Config{Kind: d.kind, Model: d.model}).Stream(t.Context(), req, new(heard).emit)
		if domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("%s: got %v", d.kind, err)
		}
	}
}

func TestThinkingIsAskedOfThoseWhoCan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, model string
		want        bool
	}{
		{llm.KindAnthropic, "claude-sonnet-4-6", true},
		{llm.KindAnthropic, "claude-opus-5", true},
		{llm.KindAnthropic, "claude-haiku-5-5", true},
		{llm.KindAnthropic, "claude-sonnet-4-5-20250929", false},
		{llm.KindAnthropic, "claude-sonnet-4-20250514", false},
		{llm.KindAnthropic, "claude-3-5-haiku-latest", false},
		{llm.KindAnthropic, "glm-5", false},
		{llm.KindGemini, "gemini-2.5-pro", true},
		{llm.KindGemini, "gemini-3-pro-preview", true},
		{llm.KindGemini, "gemini-2.0-flash", false},
		{llm.KindGemini, "gemma-3-27b-it", false},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			var sent []byte
			events := fixture(t, c.kind, "answer")
			s := serve(t, func(_ *service, w http.ResponseWriter, r *http.Request) {
				sent, _ = io.ReadAll(r.Body)
				send(w, events...)
			})
			if _, err := open(t, s, llm.Config{Kind: c.kind, Model: c.model}).Stream(t.Context(), question(), new(heard).emit); err != nil {
				t.Fatal(err)
			}
			if got := bytes.Contains(sent, []byte(`"thinking`)); got != c.want {
				t.Errorf("thinking asked for: %v", got)
			}
		})
	}
}

package providers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/providers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-very-secret-0123456789"

// dialects are the wire formats under test, with how each says what went wrong.
var dialects = []struct {
	kind, model string
	problem     func(status int, message string) string
}{
	{llm.KindAnthropic, "claude-sonnet-4-6", func(status int, message string) string {
		kinds := map[int]string{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
			413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kinds[status], message)
	}},
	{llm.KindGemini, "gemini-2.5-flash", func(status int, message string) string {
		kinds := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
			429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q}}`, status, message, kinds[status])
	}},
	{llm.KindOpenAI, "llama-3.3-70b-versatile", func(status int, message string) string {
		codes := map[int]string{400: "invalid_request", 401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
		return fmt.Sprintf(`{"error":{"message":%q,"type":"error","param":null,"code":%q}}`, message, codes[status])
	}},
}

// fixture gives the events of a recorded stream.
func fixture(t *testing.T, kind, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", kind, name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	events := strings.SplitAfter(string(data), "\n\n")
	return events[:len(events)-1]
}

// service is a fake model service.
type service struct {
	*httptest.Server
	calls    atomic.Int64
	released chan struct{} // closed when the test ends
}

func serve(t *testing.T, handler func(s *service, w http.ResponseWriter, r *http.Request)) *service {
	t.Helper()
	s := &service{released: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		handler(s, w, r)
	}))
	t.Cleanup(func() {
		close(s.released)
		s.Close()
	})
	return s
}

// send writes events as a stream, each at once.
func send(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		_, _ = w.Write([]byte(e))
		w.(http.Flusher).Flush()
	}
}

// stall says nothing until the client is gone.
func (s *service) stall(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.released:
	}
}

func drop(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func open(t *testing.T, s *service, config llm.Config) llm.Provider {
	t.Helper()
	config.ID, config.APIKey, config.BaseURL = "main", secret, s.URL
	if config.Timeout == 0 {
		config.Timeout = 30 * time.Second
	}
	p, err := providers.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if closer, ok := p.(interface{ Close() error }); ok {
		t.Cleanup(func() { _ = closer.Close() })
	}
	return p
}

func question() domain.ModelRequest {
	return domain.ModelRequest{
		System:   "You answer questions about code.",
		Messages: []domain.Message{domain.TextMessage(domain.RoleUser, "Who calls Serve?")},
		Tools:    []domain.ToolSpec{{Name: "search_symbols", Description: "Search.", InputSchema: []byte(`{"type":"object","properties":{"query":{"type":"string"}}}`)}},
	}
}

// heard gathers deltas in a readable form.
type heard struct{ text, thinking, tools strings.Builder }

func (h *heard) emit(d domain.ModelDelta) error {
	h.text.WriteString(d.Text)
	h.thinking.WriteString(d.Thinking)
	if d.ToolName != "" {
		h.tools.WriteString(d.ToolName + ";")
	}
	return nil
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		usage := domain.Usage{InputTokens: 1125, OutputTokens: 57, CachedInputTokens: 1000}
		if d.kind == llm.KindAnthropic { // the one that bills what is written to its cache apart
			usage.CacheWriteTokens = 100
		}
		for _, c := range []struct {
			fixture               string
			text, thinking, tools string
			blocks                string
			stop                  domain.StopReason
			code                  domain.Code
		}{
			{"answer", "I'll look for ünïcode.", "The caller matters.", "", "thinking text", domain.StopEndTurn, ""},
			{"tools", "I'll look for ünïcode.", "The caller matters.", "search_symbols;list_repositories;",
				`thinking text search_symbols{"query":"Serve"} list_repositories{}`, domain.StopToolUse, ""},
			{"cut", "I'll look for ünïcode.", "", "search_symbols;",
				"text search_symbols{", domain.StopMaxTokens, ""}, // what came of its input is the service's affair
			{"empty", "", "", "", "", "", domain.CodeUpstream},
			{"refusal", "", "", "", "", "", domain.CodeUpstream},
			{"overloaded", "I'll look ", "", "", "", "", domain.CodeOverloaded},
			{"broken", "I'll look ", "", "", "", "", domain.CodeUpstream},
		} {
			t.Run(d.kind+"/"+c.fixture, func(t *testing.T) {
				t.Parallel()
				events := fixture(t, d.kind, c.fixture)
				s := serve(t, func(_ *service, w http.ResponseWriter, _ *http.Request) { send(w, events...) })
				var h heard
				response, err := open(t, s, llm.Config{Kind: d.kind, Model: d.model}).Stream(t.Context(), question(), h.emit)
				if domain.CodeOf(err) != c.code {
					t.Fatalf("error %v, want %q", err, c.code)
				}
				if diff := cmp.Diff([]string{c.text, c.thinking, c.tools}, []string{h.text.String(), h.thinking.String(), h.tools.String()}); diff != "" {
					t.Errorf("deltas: %s", diff)
				}
				if err != nil {
					return
				}
				if got := describe(response.Message); !strings.HasPrefix(got, c.blocks) || response.Stop != c.stop || response.Usage != usage {
					t.Errorf("blocks %s, stop %s, usage %+v", got, response.Stop, response.Usage)
				}
			})
		}
	}
}

func TestWebPagesAreNoAnswers(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.kind, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(_ *service, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = w.Write([]byte("<html>Sign in</html>"))
			})
			var h heard
			_, err := open(t, s, llm.Config{Kind: d.kind, Model: d.model}).Stream(t.Context(), question(), h.emit)
			if domain.CodeOf(err) != domain.CodeUpstream || !strings.Contains(domain.PublicMessage(err), "base_url") || s.calls.Load() != 1 {
				t.Errorf("%d calls: %v", s.calls.Load(), err)
			}
		})
	}
}

// describe renders a message's blocks: their types, or a call with its input.
func describe(m domain.Message) string {
	var out []string
	for _, b := range m.Blocks {
		if b.Type != domain.BlockToolUse {
			out = append(out, string(b.Type))
			continue
		}
		out = append(out, b.Tool+strings.ReplaceAll(string(b.Input), " ", ""))
		if b.CallID == "" {
			out = append(out, "(no id)")
		}
	}
	return strings.Join(out, " ")
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, d := range dialects {
		for _, c := range []struct {
			name    string
			status  int
			message string
			header  map[string]string
			body    string // in place of the dialect's own
			code    domain.Code
			wait    time.Duration
			says    string
		}{
			{name: "429 without retry-after", status: 429, message: "Too many requests", code: domain.CodeRateLimited, says: "Too many requests"},
			{name: "429 with seconds", status: 429, header: map[string]string{"Retry-After": "17"}, code: domain.CodeRateLimited, wait: 17 * time.Second},
			{name: "429 with a date", status: 429, code: domain.CodeRateLimited, wait: 90 * time.Second,
				header: map[string]string{"Date": date.Format(http.TimeFormat), "Retry-After": date.Add(90 * time.Second).Format(http.TimeFormat)}},
			{name: "429 with milliseconds", status: 429, header: map[string]string{"Retry-After-Ms": "2500"}, code: domain.CodeRateLimited, wait: 2500 * time.Millisecond},
			{name: "429 with a wait in the body", status: 429, code: domain.CodeRateLimited, wait: 34 * time.Second,
				body: `[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"quota","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`},
			{name: "500", status: 500, message: "Internal", code: domain.CodeUpstream, says: "(500): Internal"},
			{name: "502 in HTML", status: 502, body: "<html>Bad gateway</html>", code: domain.CodeOverloaded},
			{name: "503", status: 503, message: "Try later", code: domain.CodeOverloaded, says: "Try later"},
			{name: "529", status: 529, message: "Overloaded", code: domain.CodeOverloaded},
			{name: "504", status: 504, message: "Gateway time-out", code: domain.CodeTimeout},
			{name: "401", status: 401, message: "Incorrect API key provided: " + secret, code: domain.CodeUpstream, says: `provider "main" refused the API key (401): check api_key`},
			{name: "403", status: 403, message: "Not allowed", code: domain.CodeUpstream, says: "api_key"},
			{name: "400 for a bad key", status: 400, code: domain.CodeUpstream, says: "api_key",
				body: `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`},
			{name: "404", status: 404, message: "model: nope", code: domain.CodeInvalid, says: d.model},
			{name: "too long", status: 400, message: "prompt is too long: 250000 tokens > 200000 maximum", code: domain.CodeTooLarge, says: d.model},
			{name: "too long for the window", status: 400, message: "This model's maximum context length is 8192 tokens", code: domain.CodeTooLarge},
			{name: "too many tokens", status: 400, message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", code: domain.CodeTooLarge},
			{name: "413", status: 413, body: "too big", code: domain.CodeTooLarge},
			{name: "400", status: 400, message: "bad \"" + secret + "\" field", code: domain.CodeUpstream, says: "[key]"},
		} {
			t.Run(d.kind+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				body := c.body
				if body == "" {
					body = d.problem(c.status, c.message)
				}
				s := serve(t, func(_ *service, w http.ResponseWriter, _ *http.Request) {
					for name, value := range c.header {
						w.Header().Set(name, value)
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(c.status)
					_, _ = w.Write([]byte(body))
				})
				_, err := open(t, s, llm.Config{Kind: d.kind, Model: d.model}).Stream(t.Context(), question(), new(heard).emit)
				var e *domain.Error
				if !errors.As(err, &e) || e.Code != c.code || e.Wait != c.wait || !strings.Contains(e.Message, c.says) {
					t.Errorf("got %#v, want %s, %v and %q", err, c.code, c.wait, c.says)
				}
				checkFailure(t, s, err)
			})
		}
	}
}

// checkFailure holds what is true of every failure: it names the provider, never the key,
// and came from one request, since the SDKs' own retries are off.
func checkFailure(t *testing.T, s *service, err error) {
	t.Helper()
	if text := fmt.Sprintf("%+v", err); strings.Contains(text, secret) {
		t.Errorf("the key is in the error: %s", text)
	}
	if !strings.Contains(domain.PublicMessage(err), `"main"`) {
		t.Errorf("the message does not name the provider: %s", domain.PublicMessage(err))
	}
	if n := s.calls.Load(); n != 1 {
		t.Errorf("%d requests were made", n)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		for _, c := range []struct {
			name   string
			handle func(s *service, w http.ResponseWriter, r *http.Request, events []string)
			code   domain.Code
			heard  bool // a part of the text came through before
		}{
			{"silence before the first byte", func(s *service, _ http.ResponseWriter, r *http.Request, _ []string) { s.stall(r) }, domain.CodeTimeout, false},
			{"silence after the head", func(s *service, w http.ResponseWriter, r *http.Request, _ []string) { send(w, ""); s.stall(r) }, domain.CodeTimeout, false},
			{"silence in mid-stream", func(s *service, w http.ResponseWriter, r *http.Request, events []string) {
				send(w, events[:len(events)-2]...)
				s.stall(r)
			}, domain.CodeTimeout, true},
			{"silence in an error's body", func(s *service, w http.ResponseWriter, r *http.Request, _ []string) {
				w.WriteHeader(http.StatusInternalServerError)
				w.(http.Flusher).Flush()
				s.stall(r)
			}, domain.CodeTimeout, false},
			{"dropped before the head", func(_ *service, w http.ResponseWriter, _ *http.Request, _ []string) { drop(w) }, domain.CodeUnavailable, false},
			{"dropped in mid-stream", func(_ *service, w http.ResponseWriter, _ *http.Request, events []string) {
				send(w, events[:len(events)-2]...)
				drop(w)
			}, domain.CodeUnavailable, true},
			{"ended in mid-stream", func(_ *service, w http.ResponseWriter, _ *http.Request, events []string) {
				send(w, events[:len(events)/2+1]...)
			}, domain.CodeUnavailable, true},
			{"no body at all", func(_ *service, w http.ResponseWriter, _ *http.Request, _ []string) { send(w) }, domain.CodeUpstream, false},
		} {
			t.Run(d.kind+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				events := fixture(t, d.kind, "cut")
				s := serve(t, func(s *service, w http.ResponseWriter, r *http.Request) { c.handle(s, w, r, events) })
				var h heard
				config := llm.Config{Kind: d.kind, Model: d.model}
				if c.code == domain.CodeTimeout {
					config.Timeout = 200 * time.Millisecond
				}
				_, err := open(t, s, config).Stream(t.Context(), question(), h.emit)
				if domain.CodeOf(err) != c.code || (h.text.Len() > 0) != c.heard {
					t.Errorf("got %v after %q, want %s", err, h.text.String(), c.code)
				}
				checkFailure(t, s, err)
			})
		}
	}
}

func TestRefusedConnection(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		s := serve(t, func(*service, http.ResponseWriter, *http.Request) {})
		p := open(t, s, llm.Config{Kind: d.kind, Model: d.model})
		s.Close()
		if _, err := p.Stream(t.Context(), question(), new(heard).emit); domain.CodeOf(err) != domain.CodeUnavailable {
			t.Errorf("%s: got %v", d.kind, err)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.kind, func(t *testing.T) {
			t.Parallel()
			events := fixture(t, d.kind, "answer")
			s := serve(t, func(s *service, w http.ResponseWriter, r *http.Request) {
				send(w, events[:len(events)-1]...)
				s.stall(r)
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var at time.Time
			_, err := open(t, s, llm.Config{Kind: d.kind, Model: d.model}).Stream(ctx, question(), func(d domain.ModelDelta) error {
				if d.Text != "" {
					at = time.Now()
					cancel()
				}
				return nil
			})
			if domain.CodeOf(err) != domain.CodeCanceled || time.Since(at) > time.Second {
				t.Errorf("got %v after %v", err, time.Since(at))
			}
		})
	}
}

func TestEmitErrorEndsTheCall(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		events := fixture(t, d.kind, "answer")
		s := serve(t, func(_ *service, w http.ResponseWriter, _ *http.Request) { send(w, events...) })
		gone := errors.New("superseded")
		_, err := open(t, s, llm.Config{Kind: d.kind, Model: d.model}).Stream(t.Context(), question(), func(domain.ModelDelta) error { return gone })
		if !errors.Is(err, gone) {
			t.Errorf("%s: got %v", d.kind, err)
		}
	}
}

// TestLongStream holds that the timeout bounds gaps, not the whole, and that a slow reader
// is not taken for a silent service.
func TestLongStream(t *testing.T) {
	t.Parallel()
	const timeout = time.Second
	for _, d := range dialects {
		t.Run(d.kind, func(t *testing.T) {
			t.Parallel()
			events := fixture(t, d.kind, "tools")
			s := serve(t, func(s *service, w http.ResponseWriter, _ *http.Request) {
				pace := time.NewTicker(timeout / 4)
				defer pace.Stop()
				for _, e := range events {
					send(w, e)
					<-pace.C
				}
			})
			var slow <-chan time.Time
			_, err := open(t, s, llm.Config{Kind: d.kind, Model: d.model, Timeout: timeout}).Stream(t.Context(), question(), func(d domain.ModelDelta) error {
				if slow == nil {
					slow = time.After(timeout * 3 / 2)
					<-slow
				}
				return nil
			})
			if err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	lists := map[string]string{
		llm.KindAnthropic: `{"data":[{"type":"model","id":"claude-sonnet-4-6","display_name":"Claude Sonnet 4.6","created_at":"2026-02-01T00:00:00Z"}],"has_more":false,"first_id":"a","last_id":"a"}`,
		llm.KindGemini: `{"models":[{"name":"models/gemini-2.5-flash","displayName":"Gemini 2.5 Flash","supportedGenerationMethods":["generateContent"]},
			{"name":"models/embedding-001","supportedGenerationMethods":["embedContent"]}]}`,
		llm.KindOpenAI: `{"object":"list","data":[{"id":"llama-3.3-70b-versatile","object":"model","created":1,"owned_by":"Meta"}]}`,
	}
	names := map[string]string{llm.KindAnthropic: "Claude Sonnet 4.6", llm.KindGemini: "Gemini 2.5 Flash"}
	for _, d := range dialects {
		t.Run(d.kind, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(_ *service, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(lists[d.kind]))
			})
			got, err := open(t, s, llm.Config{Kind: d.kind, Model: d.model}).Models(t.Context())
			want := []domain.ModelInfo{{ID: d.model, DisplayName: names[d.kind]}}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
			bad := serve(t, func(_ *service, w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusUnauthorized)
				_, _ = w.Write([]byte(d.problem(401, secret)))
			})
			_, err = open(t, bad, llm.Config{Kind: d.kind, Model: d.model}).Models(t.Context())
			checkFailure(t, bad, err)
		})
	}
}

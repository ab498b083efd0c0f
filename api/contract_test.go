package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/google/go-cmp/cmp"
	"github.com/harvest-engine/harvest/internal/domain"
)

var contract = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background()) // with its examples
})

func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := contract()
	if err != nil {
		t.Fatalf("openapi.yaml: %v", err)
	}
	return doc
}

func TestDocumentHasTheRoutes(t *testing.T) {
	t.Parallel()
	f := start(t, withTemporal(t, http.NotFoundHandler()))
	var want []string
	for _, r := range f.server.Routes() {
		if strings.HasSuffix(r, "/*path") {
			continue // pages of another program
		}
		var parts []string
		for part := range strings.SplitSeq(r, "/") {
			if name, isParam := strings.CutPrefix(part, ":"); isParam {
				part = "{" + name + "}"
			}
			parts = append(parts, part)
		}
		want = append(want, strings.Join(parts, "/"))
	}
	var got []string
	ids := map[string]bool{}
	for path, item := range document(t).Paths.Map() {
		for method, op := range item.Operations() {
			got = append(got, method+" "+path)
			if op.OperationID == "" || op.Summary == "" || ids[op.OperationID] {
				t.Errorf("%s %s needs an id of its own and a summary", method, path)
			}
			ids[op.OperationID] = true
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-routes.go +openapi.yaml):\n%s", diff)
	}
}

func TestDocumentIsServed(t *testing.T) {
	t.Parallel()
	f := start(t)
	want, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if resp, text := f.call(t, "GET", "/openapi.yaml", "", "Authorization: "); resp.StatusCode != 200 || text != string(want) {
		t.Errorf("%d, %d bytes", resp.StatusCode, len(text))
	}
}

// checkContract holds a real request and its answer against the document.
func checkContract(t *testing.T, req *http.Request, body string, resp *http.Response, text string) {
	t.Helper()
	doc, err := contract()
	if err != nil {
		t.Errorf("openapi.yaml: %v", err) // not fatal: calls may run on other goroutines
		return
	}
	path, item, params := findPath(doc, req.URL.EscapedPath())
	if item == nil || item.GetOperation(req.Method) == nil {
		return // a route that does not exist: nothing is promised
	}
	req.Body = io.NopCloser(strings.NewReader(body))
	if body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true, ExcludeResponseBody: strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"),
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
	}
	input := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Options: options,
		Route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: req.Method, Operation: item.GetOperation(req.Method)},
	}
	err = openapi3filter.ValidateRequest(t.Context(), input)
	if err != nil && resp.StatusCode < 400 {
		t.Errorf("%s %s was accepted against the document: %v", req.Method, path, err)
	}
	err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: resp.StatusCode, Header: resp.Header,
		Body: io.NopCloser(bytes.NewReader([]byte(text))), Options: options,
	})
	if err != nil {
		t.Errorf("%s %s: %d is not as documented: %v", req.Method, path, resp.StatusCode, err)
	}
	checkTold(t, item.GetOperation(req.Method), resp, text)
}

func findPath(doc *openapi3.T, escaped string) (string, *openapi3.PathItem, map[string]string) {
	parts := strings.Split(escaped, "/")
	best, params := "", map[string]string{}
	for path := range doc.Paths.Map() {
		pattern := strings.Split(path, "/")
		if len(pattern) != len(parts) {
			continue
		}
		found := map[string]string{}
		fits := true
		for i, p := range pattern {
			switch {
			case strings.HasPrefix(p, "{"):
				found[strings.Trim(p, "{}")] = parts[i]
			case p != parts[i]:
				fits = false
			}
		}
		if fits && (best == "" || len(found) < len(params)) {
			best, params = path, found
		}
	}
	if best == "" {
		return "", nil, nil
	}
	return best, doc.Paths.Value(best), params
}

// Each event type has its schema, and the payloads that the engine writes fit it.
func TestEventsAreAsDocumented(t *testing.T) {
	t.Parallel()
	schema := document(t).Components.Schemas["Event"].Value
	action := domain.Action{ID: "a", CallID: "c", Name: "n", Input: json.RawMessage("{}"), Status: domain.ActionExpired}
	payloads := map[domain.EventType]string{
		domain.EventUserMessage:         `{"query":"q","username":"owner","attachments":[{"name":"a","mime_type":"b/c","size":1}],"turn_id":"t","conv_id":"c"}`,
		domain.EventIntent:              `{"mode":"research"}`,
		domain.EventPhase:               `{"label":"Searching codebase"}`,
		domain.EventThinkingDelta:       `{"text":"a"}`,
		domain.EventTextDelta:           `{"text":"a"}`,
		domain.EventToolCall:            `{"id":"c","name":"n","input":{},"description":"d"}`,
		domain.EventToolResult:          `{"id":"c","name":"n","preview":"p","error":false,"truncated":true}`,
		domain.EventQuestion:            `{"question":"q","choices":["a"]}`,
		domain.EventConfirmAction:       string(action.Event().Payload),
		domain.EventActionDecided:       string(action.DecidedEvent().Payload),
		domain.EventTitleUpdated:        `{"title":"t","conv_id":"c"}`,
		domain.EventRetry:               `{"reason":"timeout","message":"m","wait_ms":5,"discard":true}`,
		domain.EventFailover:            `{"from":{"provider_id":"a","kind":"k","model":"m"},"to":{"provider_id":"b","kind":"k","model":"m"},"reason":"rate_limited"}`,
		domain.EventCompacted:           `{"messages":4,"characters":50000,"summary_characters":900}`,
		domain.EventIngestDone:          `{"ingest_id":"i","repository":"r","kind":"read","versions":1}`,
		domain.EventIngestFailed:        `{"ingest_id":"i","repository":"r","kind":"read","versions":0,"failed":[{"version":"v1","error":"e"}],"message":"m","code":"upstream"}`,
		domain.EventPresence:            `{"users":[{"user_id":"u","name":"Ada","conv_id":""}]}`,
		domain.EventUserJoin:            `{"user_id":"u","name":"Ada","conv_id":"c"}`,
		domain.EventUserLeave:           `{"user_id":"u","name":"Ada"}`,
		domain.EventLock:                `{"by":"Ada","user_id":"u","conv_id":"c","turn_id":"t"}`,
		domain.EventUnlock:              `{"conv_id":"c","turn_id":"t","turn_seq":9}`,
		domain.EventConversationCreated: `{"conv_id":"c","conversation":{"id":"c","title":"","created_by":"u","created_by_name":"Ada","message_count":0,"created_at":"2026-11-30T12:00:00Z","updated_at":"2026-11-30T12:00:00Z"}}`,
		domain.EventConversationUpdated: `{"conv_id":"c","updated_at":"2026-11-30T12:00:00Z"}`,
		domain.EventConversationDeleted: `{"conv_id":"c"}`,
		domain.EventSuggestions:         `{"conv_id":"c","turn_id":"t","choices":["a"]}`,
		domain.EventTrimmed:             `{"message":"m","events":7}`,
	}
	used := domain.ProviderUsed{ProviderID: "a", Kind: "k", Model: "m"}
	for _, turn := range []domain.Turn{
		{Status: domain.TurnDone, Reason: domain.EndAnswered, ConversationID: "c", Answer: "a", ProviderUsed: &used},
		{Status: domain.TurnFailed, Reason: domain.EndFailed, Error: "e", ErrorCode: domain.CodeTimeout},
		{Status: domain.TurnCanceled, Reason: domain.EndCanceled},
	} {
		turn.ID, turn.Sources = "t", []domain.Source{}
		end := turn.EndEvent()
		payloads[end.Type] = string(end.Payload)
	}
	progress, err := json.Marshal(domain.IngestProgress{Repository: "r", Version: "v", Phase: "parse", Symbols: 1, Edges: 1, Error: "e"})
	if err != nil {
		t.Fatal(err)
	}
	payloads[domain.EventIngestProgress] = string(progress)
	for kind, payload := range payloads {
		var value any
		if err := json.Unmarshal(domain.Event{Type: kind, Payload: json.RawMessage(payload)}.JSON(), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.VisitJSON(value); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		for _, name := range undocumented(schema, kind, value.(map[string]any)) {
			t.Errorf("%s: the field %q is not documented", kind, name)
		}
	}
	for _, wrong := range []string{`{"type":"nothing"}`, `{"type":"text_delta"}`, `{"type":"done","answer":1}`, `{}`} {
		var value any
		_ = json.Unmarshal([]byte(wrong), &value)
		if schema.VisitJSON(value) == nil {
			t.Errorf("%s fits the schema", wrong)
		}
	}
}

// undocumented gives the fields of an event that the schema of its type does not tell of.
func undocumented(events *openapi3.Schema, kind domain.EventType, event map[string]any) []string {
	var names []string
	for _, ref := range events.OneOf {
		if !slices.Contains(ref.Value.Properties["type"].Value.Enum, any(string(kind))) {
			continue
		}
		for name := range event {
			if ref.Value.Properties[name] == nil {
				names = append(names, name)
			}
		}
	}
	return names
}

package postgres_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// newStore gives a store on a database of the test's own.
func newStore(t *testing.T) *postgres.Store {
	t.Helper()
	return postgres.NewStore(testkit.Postgres(t))
}

func request() domain.TurnRequest {
	return domain.TurnRequest{UserID: "ada", Query: "Where is the server started?"}
}

func create(t *testing.T, s *postgres.Store, req domain.TurnRequest) domain.Turn {
	t.Helper()
	turn, created, err := s.CreateTurn(context.Background(), req)
	if err != nil || !created {
		t.Fatalf("create a turn: created %v, error %v", created, err)
	}
	return turn
}

func begin(t *testing.T, s *postgres.Store, id string) {
	t.Helper()
	event := domain.NewPayload(domain.EventIntent, map[string]string{"mode": "research"})
	if err := s.BeginTurn(context.Background(), id, domain.IntentResearch, event); err != nil {
		t.Fatalf("begin: %v", err)
	}
}

func claim(t *testing.T, s *postgres.Store, turnID, callID string) domain.CallClaim {
	t.Helper()
	c, err := s.ClaimModelCall(context.Background(), domain.ModelCall{TurnID: turnID, CallID: callID})
	if err != nil {
		t.Fatalf("claim %s: %v", callID, err)
	}
	return c
}

func finish(t *testing.T, s *postgres.Store, end domain.TurnEnd) domain.Turn {
	t.Helper()
	turn, err := s.FinishTurn(context.Background(), end)
	if err != nil {
		t.Fatalf("finish: %v", err)
	}
	return turn
}

// log reads a turn's whole log; the turn must have ended.
func log(t *testing.T, s *postgres.Store, id string) []domain.Event {
	t.Helper()
	var events []domain.Event
	for e, err := range s.Follow(context.Background(), id, domain.Cursor{}) {
		if err != nil {
			t.Fatalf("follow: %v", err)
		}
		events = append(events, e)
	}
	return events
}

func types(events []domain.Event) (names []string) {
	for _, e := range events {
		names = append(names, string(e.Type))
	}
	return names
}

func wantCode(t *testing.T, doing string, err error, want domain.Code) {
	t.Helper()
	if domain.CodeOf(err) != want {
		t.Errorf("%s: error %v (code %q), want code %q", doing, err, domain.CodeOf(err), want)
	}
}

func TestATurnFromQueryToAnswer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	turn := create(t, s, request())
	begin(t, s, turn.ID)

	c := claim(t, s, turn.ID, "m0")
	if c.Attempt != 1 || c.LastSeq != 2 || c.Outcome != nil {
		t.Fatalf("claim = %+v, want attempt 1 at 2", c)
	}
	said := domain.Message{Role: domain.RoleAssistant, Blocks: []domain.Block{
		{Type: domain.BlockText, Text: "Let me look."},
		{Type: domain.BlockToolUse, CallID: "t1", Tool: "search_symbols", Input: json.RawMessage(`{"query":"Serve"}`)},
	}}
	last, err := s.CommitModelCall(ctx, domain.ModelCommit{
		CallWrite: domain.CallWrite{Claim: c, Close: &domain.ClosedBlock{Seq: 3, Type: domain.EventTextDelta, Text: "Let me look."},
			Events: []domain.NewEvent{
				domain.NewPayload(domain.EventPhase, map[string]string{"label": "Searching codebase"}),
				domain.NewPayload(domain.EventToolCall, map[string]string{"id": "t1", "name": "search_symbols"}),
			}},
		Outcome: json.RawMessage(`{"stop":"tool_use"}`), Usage: domain.Usage{InputTokens: 10, OutputTokens: 5, Cost: 0.25},
		Provider: &domain.ProviderUsed{ProviderID: "p", Kind: "scripted", Model: "m"}, Message: &said,
		Tools: []domain.ToolCall{{ID: "t1", Name: "search_symbols", Input: json.RawMessage(`{"query":"Serve"}`), Local: true, Status: domain.CallPending}},
	})
	if err != nil || last != 5 {
		t.Fatalf("commit = %d, %v, want 5", last, err)
	}

	call, scope, err := s.ClaimToolCall(ctx, turn.ID, "t1")
	if err != nil || call.Attempt != 1 || string(call.Input) != `{"query":"Serve"}` || scope.UserID != "ada" {
		t.Fatalf("claim tool = %+v, %+v, %v", call, scope, err)
	}
	call.Result = domain.ToolResult{Text: "server.go:10\x00", Preview: "1 symbol"}
	if err := s.CommitToolCall(ctx, call, domain.NewPayload(domain.EventToolResult, map[string]string{"id": "t1"})); err != nil {
		t.Fatalf("commit tool: %v", err)
	}
	wantCode(t, "commit tool again", s.CommitToolCall(ctx, call, domain.NewPayload(domain.EventToolResult, nil)), domain.CodeSuperseded)
	again, _, err := s.ClaimToolCall(ctx, turn.ID, "t1")
	if err != nil || again.Status != domain.CallDone || again.Attempt != 1 || again.Result.Preview != "1 symbol" {
		t.Errorf("claim a done call = %+v, %v; want its outcome", again, err)
	}

	d, err := s.Dialogue(ctx, turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Rounds) != 1 || len(d.Rounds[0].Calls) != 1 || d.Rounds[0].Message.Blocks[1].CallID != "t1" || d.Message.Text() != turn.Query {
		t.Errorf("dialogue = %+v", d)
	}
	repeated := claim(t, s, turn.ID, "m0")
	if string(repeated.Outcome) != `{"stop":"tool_use"}` {
		t.Errorf("claim of a committed call = %+v, want its outcome", repeated)
	}

	ended := finish(t, s, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "In server.go.", Note: " (no evidence)"})
	if ended.Answer != "In server.go. (no evidence)" || ended.ToolCallsMade != 1 || ended.Usage.Cost != 0.25 || ended.ProviderUsed.Model != "m" {
		t.Errorf("turn = %+v", ended)
	}
	events := log(t, s, turn.ID)
	want := []string{"user_message", "intent", "text_delta", "phase", "tool_call", "tool_result", "text_delta", "done"}
	if diff := cmp.Diff(want, types(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	var done map[string]any
	if err := json.Unmarshal(events[len(events)-1].Payload, &done); err != nil || done["answer"] != ended.Answer || done["turn_id"] != turn.ID {
		t.Errorf("done = %v, %v", done, err)
	}
	finish(t, s, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnFailed, Error: "late"})
	if got := log(t, s, turn.ID); len(got) != len(events) {
		t.Errorf("a second end changed the log: %v", types(got))
	}
}

package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"google.golang.org/protobuf/proto"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/workflows"
)

// rounds is how many rounds of tools the played model asks for, a local and a remote one each.
const rounds = 6

const spoken = "the answer that nobody but its reader may see"

// playedModel asks for tools in each round and then answers; asked to stall, it hangs.
func playedModel(t *testing.T) *llm.Chain {
	t.Helper()
	var script scripted.Script
	for n := range rounds {
		script.Rounds = append(script.Rounds, scripted.Round{Text: fmt.Sprintf("Looking, round %d. ", n), Calls: []scripted.Call{
			{Name: "peek", Input: json.RawMessage(`{"size":10}`)}, {Name: "dig", Input: json.RawMessage(`{"size":10}`)},
		}})
	}
	script.Rounds = append(script.Rounds, scripted.Round{Text: spoken})
	script.Scenes = []scripted.Scene{
		{Question: "stall", Rounds: []scripted.Round{{Text: "One moment. ", Chunk: 4, Faults: []scripted.Fault{{Code: domain.CodeTimeout, Hang: true, After: 2, Times: -1}}}}},
		{Question: "flood", Rounds: []scripted.Round{{Calls: []scripted.Call{{Name: "dig", Input: json.RawMessage(`{"size":3000000}`)}}}, {Text: spoken}}},
	}
	chain, err := llm.NewChain([]llm.Entry{{Config: llm.Config{ID: "played", Kind: scripted.Kind}, Provider: scripted.New("played", script)}})
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

func playedTools() *tools.Registry {
	return tools.NewRegistry(playedTool{"peek", true}, playedTool{"dig", false}, tools.AskUser{})
}

// playedTool gives a text of the size that is asked for.
type playedTool struct {
	name  string
	local bool
}

func (p playedTool) Spec() tools.Spec {
	return tools.Spec{
		ToolSpec: domain.ToolSpec{Name: p.name, Description: "Gives text.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Policy:   domain.PolicyNever, Local: p.local, Timeout: 2 * time.Second, MaxResult: 24 << 10, Phase: tools.PhaseSearch,
	}
}

func (p playedTool) Run(_ context.Context, _ domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	var in struct {
		Size int `json:"size"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return domain.ToolResult{}, domain.Invalid("input", "is not an object")
	}
	return domain.ToolResult{Text: strings.Repeat("found ", in.Size/6+1)}, nil
}

// size sums the events of a history up.
func size(t *testing.T, s *stack, id string) (events, bytes int) {
	t.Helper()
	for _, event := range s.history(t, id) {
		events++
		bytes += proto.Size(event)
	}
	return events, bytes
}

func wait(t *testing.T, s *stack, id string) domain.Turn {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	turn, err := s.WaitTurn(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func TestTurnOnTheStack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	turn, err := s.StartTurn(t.Context(), domain.TurnRequest{
		UserID: "owner", ConversationID: domain.NewID(), Query: "How does the frobnicator work?", Repositories: []string{"r"},
	})
	if err != nil {
		t.Fatal(err)
	}
	id := workflows.TurnWorkflowID(turn.ID)
	turn = wait(t, s, turn.ID)
	if turn.Status != domain.TurnDone || !strings.Contains(turn.Answer, spoken) || turn.ToolCallsMade != 2*rounds {
		t.Fatalf("turn %+v", turn)
	}
	closed(t, s.client, id)
	history := s.history(t, id)
	if len(history) > 100 {
		t.Errorf("a turn of %d rounds has %d events, want at most 100", rounds, len(history))
	}
	if !history[0].GetWorkflowExecutionStartedEventAttributes().GetEagerExecutionAccepted() {
		t.Error("the workflow was not started eagerly")
	}
	for _, event := range history {
		wire, err := proto.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"frobnicator", spoken, "found found"} {
			if bytes.Contains(wire, []byte(secret)) {
				t.Errorf("event %d (%s) shows %q in clear", event.EventId, event.EventType, secret)
			}
		}
	}
	fields := history[0].GetWorkflowExecutionStartedEventAttributes().GetSearchAttributes().GetIndexedFields()
	for name, want := range map[string]string{
		"HarvestKind": `"turn"`, "HarvestUser": `"owner"`, "HarvestSubject": fmt.Sprintf("%q", turn.ID),
		"HarvestConversation": fmt.Sprintf("%q", turn.ConversationID), "HarvestRepositories": `["r"]`,
	} {
		if got := string(fields[name].GetData()); got != want {
			t.Errorf("search attribute %s = %s, want %s", name, got, want)
		}
	}
	described, err := s.client.DescribeWorkflow(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	if summary, err := described.GetStaticSummary(); err != nil || summary != "How does the frobnicator work?" {
		t.Errorf("summary %q, %v", summary, err)
	}
}

// Each queue has a worker of its own, as in production.
func TestTurnOnQueuesApartOnTheStack(t *testing.T) {
	t.Parallel()
	id := domain.NewID()
	s := newStackOn(t, workflows.Queues{Turns: "turns-" + id, Models: "models-" + id, Tools: "tools-" + id, Ingest: "ingest-" + id, Deploy: "deploy-" + id})
	s.reader.versions = []domain.VersionRef{{Tag: "v1", Commit: "c1"}}
	run, err := s.AddRepository(t.Context(), domain.IngestRequest{UserID: "owner", URL: "https://git.example.com/team/app"})
	if err != nil {
		t.Fatal(err)
	}
	turn, err := s.StartTurn(t.Context(), domain.TurnRequest{UserID: "owner", Query: "How does the frobnicator work?"})
	if err != nil {
		t.Fatal(err)
	}
	if turn = wait(t, s, turn.ID); turn.Status != domain.TurnDone || turn.ToolCallsMade != 2*rounds {
		t.Errorf("turn %+v", turn)
	}
	if run, _ = s.end(t, run.ID); run.Status != domain.IngestDone {
		t.Errorf("run %+v", run)
	}
}

// What a person pastes and what tools find may be as large as it likes: histories stay small.
func TestHistoriesStaySmallOnTheStack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	small, err := s.StartTurn(t.Context(), domain.TurnRequest{UserID: "owner", Query: "Where does the flood come from?"})
	if err != nil {
		t.Fatal(err)
	}
	large, err := s.StartTurn(t.Context(), domain.TurnRequest{
		UserID: "owner", Query: "Where does the flood come from? " + strings.Repeat("pasted log line\n", 60<<20/16),
		Attachments: []domain.Attachment{{Name: "a.bin", MimeType: "application/octet-stream", Data: bytes.Repeat([]byte{1}, 4<<20)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, s, small.ID)
	if turn := wait(t, s, large.ID); turn.Status != domain.TurnDone {
		t.Errorf("the large turn ended %s: %s", turn.Status, turn.Error)
	}
	for _, id := range []string{small.ID, large.ID} {
		closed(t, s.client, workflows.TurnWorkflowID(id))
	}
	_, least := size(t, s, workflows.TurnWorkflowID(small.ID))
	if events, bytes := size(t, s, workflows.TurnWorkflowID(large.ID)); events > 60 || bytes > least+16<<10 {
		t.Errorf("64 MiB of input make a history of %d events and %d bytes; the same turn without has %d bytes", events, bytes, least)
	}
}

func TestCancelOnTheStack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	turn, err := s.StartTurn(t.Context(), domain.TurnRequest{UserID: "owner", Query: "Where does the server stall?"})
	if err != nil {
		t.Fatal(err)
	}
	for event, err := range s.Follow(t.Context(), turn.ID, domain.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Type == domain.EventTextDelta {
			break
		}
	}
	asked := time.Now()
	if _, err := s.CancelTurn(t.Context(), turn.ID); err != nil {
		t.Fatal(err)
	}
	turn = wait(t, s, turn.ID)
	if turn.Status != domain.TurnCanceled || !strings.Contains(turn.Answer, "One mom") {
		t.Errorf("turn %+v, want canceled with what was said", turn)
	}
	if took := time.Since(asked); took > 4*time.Second {
		t.Errorf("it took %v to stop", took)
	}
}

// An operator terminates the workflow: the turn still comes to its one end.
func TestTerminateOnTheStack(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	turn, err := s.StartTurn(t.Context(), domain.TurnRequest{UserID: "owner", ConversationID: domain.NewID(), Query: "Where does the server stall?"})
	if err != nil {
		t.Fatal(err)
	}
	for event, err := range s.Follow(t.Context(), turn.ID, domain.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Type == domain.EventTextDelta {
			break
		}
	}
	if err := s.client.TerminateWorkflow(t.Context(), workflows.TurnWorkflowID(turn.ID), "", "by the test"); err != nil {
		t.Fatal(err)
	}
	open, err := s.store.OpenTurns(t.Context(), 0, "", 10)
	if err != nil || len(open) != 1 {
		t.Fatalf("open turns %+v, %v", open, err)
	}
	if err := s.ReconcileTurn(t.Context(), open[0]); err != nil {
		t.Fatal(err)
	}
	turn = wait(t, s, turn.ID)
	if turn.Status != domain.TurnCanceled || !strings.Contains(turn.Error, "terminated") {
		t.Errorf("turn %+v, want canceled by an operator", turn)
	}
	last := domain.Event{}
	for event, err := range s.Follow(t.Context(), turn.ID, domain.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		last = event
	}
	if last.Type != domain.EventCanceled {
		t.Errorf("the log ends with %s", last.Type)
	}
	if _, err := s.StartTurn(t.Context(), domain.TurnRequest{UserID: "owner", ConversationID: turn.ConversationID, Query: "next"}); err != nil {
		t.Errorf("the conversation is still locked: %v", err)
	}
	status := enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	if described, err := s.client.DescribeWorkflow(t.Context(), workflows.TurnWorkflowID(turn.ID), ""); err != nil || described.Status != status {
		t.Errorf("workflow %v, %v", described, err)
	}
}

package activities_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
)

const cited = "The server starts in Start [app:v1:main.go:5]."

func TestAnswerWithTools(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(calling("Let me look.", "peek", "dig"), scripted.Round{Thinking: "Found it.", Text: cited}))
	turn, events := r.ask(query("Where does the server start?"))
	want := "user_message intent text_delta phase tool_call tool_call tool_result tool_result thinking_delta text_delta done"
	if diff := cmp.Diff(want, types(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if turn.Status != domain.TurnDone || turn.Reason != domain.EndAnswered || turn.Answer != cited || turn.ToolCallsMade != 2 {
		t.Errorf("turn = %+v", turn)
	}
	source := domain.Source{Repo: "app", Version: "v1", File: "main.go", Line: 5, Symbol: "Server.Start", Verified: true, Stale: true, Commit: "c0ffee"}
	if diff := cmp.Diff([]domain.Source{source}, turn.Sources); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	if label := field(t, first(t, events, domain.EventPhase), "label"); label != "Searching codebase" {
		t.Errorf("phase = %q", label)
	}
	call := first(t, events, domain.EventToolCall)
	if field(t, call, "description") != "Looking at main.go" || field(t, call, "name") != "peek" {
		t.Errorf("tool_call = %s", call.Payload)
	}
	if turn.Usage.InputTokens == 0 || turn.Usage.Cost == 0 || turn.ProviderUsed == nil || turn.ProviderUsed.ProviderID != "p0" {
		t.Errorf("usage %+v, provider %+v", turn.Usage, turn.ProviderUsed)
	}
	second := r.seen.all()[1]
	results := second.Messages[len(second.Messages)-1]
	if len(results.Blocks) != 2 || results.Blocks[0].Text != "peek found main.go:3" || results.Blocks[1].Tool != "dig" {
		t.Errorf("the model was given %+v", results)
	}
}

func TestAnAnswerWithoutEvidenceSaysSo(t *testing.T) {
	t.Parallel()
	for text, note := range map[string]string{
		"It starts somewhere.":                     "cites no source",
		"In [app:v9:main.go:5].":                   "none of the cited places",
		"In [app:v1:gone.go:5].":                   "none of the cited places",
		"In [app:v1:main.go:15-21], past the end.": "none of the cited places",
	} {
		r := newRig(t, rounds(scripted.Round{Text: text}))
		turn, events := r.ask(query("Where does the server start?"))
		if !strings.HasPrefix(turn.Answer, text) || !strings.Contains(turn.Answer, note) {
			t.Errorf("answer = %q, want %q with a note that holds %q", turn.Answer, text, note)
		}
		if got, want := types(events), "user_message intent text_delta text_delta done"; got != want {
			t.Errorf("events = %s, want %s", got, want)
		}
		if streamed := field(t, events[2], "text") + field(t, events[3], "text"); streamed != turn.Answer {
			t.Errorf("streamed %q, want the answer %q", streamed, turn.Answer)
		}
	}
}

func TestScopeHidesOtherCode(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(scripted.Round{Text: cited}))
	req := query("Where does the server start?")
	req.Repositories = []string{"other"}
	turn, _ := r.ask(req)
	if len(turn.Sources) != 1 || turn.Sources[0].Verified || turn.Sources[0].Symbol != "" || turn.Sources[0].Commit != "" {
		t.Errorf("sources = %+v, want one that tells nothing", turn.Sources)
	}
	if system := r.seen.all()[0].System; !strings.Contains(system, "`other`") {
		t.Errorf("the system prompt does not name the repository: %s", system)
	}
}

func TestAGraphThatIsAwayDoesNotKeepATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(scripted.Round{Text: cited}))
	r.code = code{down: true}
	turn, _ := r.ask(query("Where does the server start?"))
	if turn.Status != domain.TurnDone || len(turn.Sources) != 1 || turn.Sources[0].Verified {
		t.Errorf("turn = %+v", turn)
	}
}

func TestGreetingsTakeNoLookUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(scripted.Round{Text: "Hello!"}))
	turn, events := r.ask(query("Hi there!"))
	if turn.Intent != domain.IntentConversational || turn.Answer != "Hello!" || field(t, events[1], "mode") != "conversational" {
		t.Errorf("turn = %+v", turn)
	}
	asked := r.seen.all()[0]
	if len(asked.Tools) != 1 || asked.Tools[0].Name != "ask_user" {
		t.Errorf("tools = %v, want ask_user alone", asked.Tools)
	}
}

func TestAConversationalTurnRunsNoTools(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(calling("", "peek"), scripted.Round{Text: "Hello!"}))
	turn, events := r.ask(query("hello"))
	if turn.Answer != "Hello!" || r.probe("peek").runs.Load() != 0 {
		t.Errorf("answer %q, tool runs %d", turn.Answer, r.probe("peek").runs.Load())
	}
	if result := first(t, events, domain.EventToolResult); field(t, result, "error") != "true" {
		t.Errorf("tool_result = %s", result.Payload)
	}
}

func TestAThreadIsTheHistory(t *testing.T) {
	t.Parallel()
	script := rounds(scripted.Round{Text: cited})
	script.Scenes = []scripted.Scene{{System: "Classify the last message", Rounds: []scripted.Round{{Text: "conversational"}}}}
	r := newRig(t, script)
	req := query("Where does the server start?\nIn which file?")
	req.ConversationID = "thread"
	_, events := r.ask(req)
	title := first(t, events, domain.EventTitleUpdated)
	if field(t, title, "title") != "Where does the server start?" || field(t, title, "conv_id") != "thread" {
		t.Errorf("title_updated = %s", title.Payload)
	}
	req.Query = "So that is it?"
	turn, events := r.ask(req)
	if want := "user_message intent text_delta done"; types(events) != want || turn.Intent != domain.IntentConversational {
		t.Errorf("events = %s (intent %s), want %s", types(events), turn.Intent, want)
	}
	all := r.seen.all()
	last := all[len(all)-1]
	if len(last.Messages) != 3 || last.Messages[1].Text() != cited || last.Messages[2].Text() != "So that is it?" {
		t.Errorf("the model was told %+v", last.Messages)
	}
}

func TestAskUserEndsTheTurn(t *testing.T) {
	t.Parallel()
	ask := calling("I need to know.", "peek")
	ask.Calls = append(ask.Calls, scripted.Call{Name: "ask_user", Input: []byte(`{"question":"Which one?","choices":["a","b"]}`)})
	r := newRig(t, rounds(ask))
	turn, events := r.ask(query("Where does it start?"))
	want := "user_message intent text_delta phase tool_call tool_result tool_call tool_result question done"
	if types(events) != want {
		t.Errorf("events = %s, want %s", types(events), want)
	}
	question := &domain.Question{Question: "Which one?", Choices: []string{"a", "b"}}
	if diff := cmp.Diff(question, turn.Question); diff != "" || turn.Reason != domain.EndAsked || turn.Answer != "I need to know." {
		t.Errorf("turn = %+v", turn)
	}
	if r.probe("peek").runs.Load() != 0 {
		t.Error("a call beside the question was run")
	}
}

func TestAMalformedQuestionGoesBackToTheModel(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(calling("", "ask_user"), scripted.Round{Text: cited}))
	turn, events := r.ask(query("Where does it start?"))
	if turn.Reason != domain.EndAnswered || field(t, first(t, events, domain.EventToolResult), "error") != "true" {
		t.Errorf("turn = %+v, events %s", turn, types(events))
	}
}

func TestRoundsEndInASynthesis(t *testing.T) {
	t.Parallel()
	script := rounds(calling("", "peek"), calling("", "peek"), calling("", "peek"))
	script.Scenes = []scripted.Scene{{NoTools: true, Rounds: []scripted.Round{{}, {}, {Text: cited}}}}
	r := newRig(t, script)
	r.limits.MaxIterations = 2
	turn, _ := r.ask(query("Where does it start?"))
	if turn.Reason != domain.EndSynthesized || turn.Answer != cited || turn.ToolCallsMade != 2 {
		t.Errorf("turn = %+v", turn)
	}
	last := r.seen.all()[2]
	final := last.Messages[len(last.Messages)-1]
	if len(last.Tools) != 0 || len(final.Blocks) != 2 || !strings.Contains(final.Blocks[1].Text, "used up") {
		t.Errorf("the synthesis was asked with %d tools and %+v", len(last.Tools), final)
	}
}

func TestATurnThatWasCanceledBeforeItBegan(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(scripted.Round{Text: cited}))
	turn, _, err := r.store.CreateTurn(t.Context(), query("Where?"))
	if err != nil {
		t.Fatal(err)
	}
	if launched, err := r.store.RequestCancel(t.Context(), turn.ID); err != nil || launched {
		t.Fatalf("cancel: launched %v, %v", launched, err)
	}
	turn, events := r.run(turn.ID)
	if turn.Status != domain.TurnCanceled || types(events) != "user_message canceled" {
		t.Errorf("turn %s, events %s", turn.Status, types(events))
	}
}

func TestATurnThatHasEndedIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(scripted.Round{Text: cited}))
	turn, _, err := r.store.CreateTurn(t.Context(), query("Where?"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.FinishTurn(t.Context(), domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnFailed, Reason: domain.EndFailed, Error: "gone"}); err != nil {
		t.Fatal(err)
	}
	_, events := r.run(turn.ID)
	if types(events) != "user_message error" || len(r.seen.all()) != 0 {
		t.Errorf("events %s, model calls %d", types(events), len(r.seen.all()))
	}
}

package activities_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
)

// faulty is a round of three words that meets a fault before it succeeds.
func faulty(f scripted.Fault) scripted.Round {
	return scripted.Round{Text: "one two three " + cited, Chunk: 4, Faults: []scripted.Fault{f}}
}

func TestAProviderThatRecoversIsAskedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(faulty(scripted.Fault{Code: domain.CodeOverloaded, After: 2, Times: 3})))
	turn, events := r.ask(query("Where does it start?"))
	if want := "user_message intent retry retry retry text_delta done"; types(events) != want {
		t.Errorf("events = %s, want %s", types(events), want)
	}
	retry := first(t, events, domain.EventRetry)
	if field(t, retry, "reason") != "overloaded" || field(t, retry, "wait_ms") != "5000" || field(t, retry, "discard") != "true" {
		t.Errorf("retry = %s", retry.Payload)
	}
	if turn.Answer != "one two three "+cited {
		t.Errorf("answer = %q", turn.Answer)
	}
}

func TestAProviderThatStaysAwayFailsTheTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(faulty(scripted.Fault{Code: domain.CodeTimeout, Message: "no answer", After: 2, Times: -1})))
	turn, events := r.ask(query("Where does it start?"))
	if want := "user_message intent retry retry retry text_delta error"; types(events) != want {
		t.Errorf("events = %s, want %s", types(events), want)
	}
	if turn.Status != domain.TurnFailed || turn.ErrorCode != domain.CodeTimeout || turn.Error != "no answer" || turn.Answer != "one two" {
		t.Errorf("turn = %+v", turn)
	}
	last := events[len(events)-1]
	if field(t, last, "code") != "timeout" || field(t, last, "message") != "no answer" || field(t, last, "turn_id") != turn.ID {
		t.Errorf("error = %s", last.Payload)
	}
}

func TestErrorsThatWaitingDoesNotMendFailAtOnce(t *testing.T) {
	t.Parallel()
	for code, round := range map[domain.Code]scripted.Round{
		domain.CodeUpstream: {}, // an empty answer
		domain.CodeInvalid:  faulty(scripted.Fault{Code: domain.CodeInvalid, Times: -1}),
		domain.CodeTooLarge: faulty(scripted.Fault{Code: domain.CodeTooLarge, Times: -1, Message: "p0 takes 10 tokens"}),
	} {
		r := newRig(t, rounds(round))
		turn, events := r.ask(query("Where does it start?"))
		if want := "user_message intent error"; types(events) != want || turn.ErrorCode != code || len(r.seen.all()) != 1 {
			t.Errorf("%s: events %s, code %q, %d model calls", code, types(events), turn.ErrorCode, len(r.seen.all()))
		}
	}
}

func TestAnotherProviderTakesOver(t *testing.T) {
	t.Parallel()
	limited := faulty(scripted.Fault{Code: domain.CodeRateLimited, After: 2, Times: -1})
	r := newRig(t, rounds(limited), rounds(scripted.Round{Text: cited}))
	turn, events := r.ask(query("Where does it start?"))
	if want := "user_message intent text_delta failover retry text_delta done"; types(events) != want {
		t.Errorf("events = %s, want %s", types(events), want)
	}
	if turn.Answer != cited || turn.ProviderUsed.ProviderID != "p1" {
		t.Errorf("answer %q from %+v", turn.Answer, turn.ProviderUsed)
	}
	if f := first(t, events, domain.EventFailover); !strings.Contains(string(f.Payload), `"reason":"rate_limited"`) {
		t.Errorf("failover = %s", f.Payload)
	}
}

func TestCutOffCallsAreNotRun(t *testing.T) {
	t.Parallel()
	cut := calling("", "peek")
	cut.Stop = domain.StopMaxTokens
	r := newRig(t, rounds(cut, scripted.Round{Text: cited, Stop: domain.StopMaxTokens}))
	turn, events := r.ask(query("Where does it start?"))
	if r.probe("peek").runs.Load() != 0 {
		t.Error("a call that the token limit cut off was run")
	}
	if want := "user_message intent phase tool_call tool_result text_delta done"; types(events) != want {
		t.Errorf("events = %s, want %s", types(events), want)
	}
	if turn.Reason != domain.EndMaxTokens || turn.Answer != cited {
		t.Errorf("turn = %+v", turn)
	}
}

func TestCallsWithoutAnObjectAreNotRun(t *testing.T) {
	t.Parallel()
	broken := calling("", "peek")
	broken.Calls[0].Input = json.RawMessage(`{"malformed_input":"{\"query\":"}`)
	r := newRig(t, rounds(broken, scripted.Round{Text: cited}))
	turn, events := r.ask(query("Where does it start?"))
	if r.probe("peek").runs.Load() != 0 {
		t.Error("a call whose input is no JSON object was run")
	}
	if result := first(t, events, domain.EventToolResult); !strings.Contains(string(result.Payload), "not a JSON object") {
		t.Errorf("the model reads %s", result.Payload)
	}
	if turn.Answer != cited {
		t.Errorf("turn = %+v", turn)
	}
}

func TestReadersGetALongInputInPart(t *testing.T) {
	t.Parallel()
	long := calling("", "peek")
	long.Calls[0].Input = json.RawMessage(`{"at":"main.go","content":"` + strings.Repeat("x", 100_000) + `"}`)
	r := newRig(t, rounds(long, scripted.Round{Text: cited}))
	_, events := r.ask(query("Write it down"))
	shown := first(t, events, domain.EventToolCall)
	if len(shown.Payload) > 20_000 || !strings.Contains(string(shown.Payload), "[cut: 100000 bytes in all]") || field(t, shown, "input_bytes") != "100029" {
		t.Errorf("readers get %d bytes: %.200s", len(shown.Payload), shown.Payload)
	}
	for _, m := range r.seen.all()[1].Messages {
		for _, b := range m.Blocks {
			if b.Type == domain.BlockToolUse && len(b.Input) != 100_029 {
				t.Errorf("the model is given back %d bytes of its call", len(b.Input))
			}
		}
	}
}

func TestAnswersThatAreCutOffBeforeTheyBegin(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(scripted.Round{Thinking: "Hm.", Stop: domain.StopMaxTokens}))
	turn, _ := r.ask(query("Where does it start?"))
	if turn.Status != domain.TurnFailed || !strings.Contains(turn.Error, "max_tokens") {
		t.Errorf("turn = %s, %q; want a failure that names max_tokens", turn.Status, turn.Error)
	}
}

func TestIDsThatAServiceGivesTwice(t *testing.T) {
	t.Parallel()
	again := func(names ...string) scripted.Round {
		round := calling("", names...)
		for i := range round.Calls {
			round.Calls[i].ID = "m0"
		}
		return round
	}
	r := newRig(t, rounds(again("peek", "peek"), again("dig"), scripted.Round{Text: cited}))
	turn, _ := r.ask(query("Where does it start?"))
	if turn.Answer != cited || r.probe("peek").runs.Load() != 2 || r.probe("dig").runs.Load() != 1 {
		t.Errorf("turn = %+v", turn)
	}
	ids := map[string]bool{}
	for _, m := range r.seen.all()[2].Messages {
		for _, b := range m.Blocks {
			if b.Type == domain.BlockToolUse && ids[b.CallID] {
				t.Errorf("id %q is given twice", b.CallID)
			}
			ids[b.CallID] = ids[b.CallID] || b.Type == domain.BlockToolUse
		}
	}
}

func TestBudgetsEndATurn(t *testing.T) {
	t.Parallel()
	for name, budget := range map[string]activities.Budgets{"turn": {PerTurn: 1.005}, "day": {PerDay: 1.005}, "tokens": {TurnTokens: 100_500}} {
		r := newRig(t, rounds(withUsage(calling("So far: "+cited, "peek"), 100_000), scripted.Round{Text: "never said"}))
		r.budget = budget
		turn, events := r.ask(query("Where does it start?"))
		if turn.Status != domain.TurnDone || turn.Reason != domain.EndBudgetExhausted || turn.Answer != "So far: "+cited {
			t.Errorf("%s: turn = %+v", name, turn)
		}
		if field(t, events[len(events)-1], "reason") != "budget_exhausted" || !turn.Sources[0].Verified {
			t.Errorf("%s: done = %s", name, events[len(events)-1].Payload)
		}
		spent, reserved, err := r.store.Spent(context.Background(), "ada")
		if err != nil || spent < 1 || reserved != 0 {
			t.Errorf("%s: spent %v, reserved %v, %v", name, spent, reserved, err)
		}
	}
}

func TestABudgetThatIsUsedUpSaysSo(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(scripted.Round{Text: cited}))
	for says, budget := range map[string]activities.Budgets{
		"the day's budget of 1e-06, which begins anew at midnight UTC, leaves too little": {PerDay: 0.000001},
		"the turn's budget of 1e-06 leaves too little":                                    {PerTurn: 0.000001, PerDay: 1},
		"the turn's budget of 7 tokens leaves too little":                                 {TurnTokens: 7},
	} {
		r.budget = budget
		turn, _ := r.ask(query("Where does it start?"))
		if turn.Reason != domain.EndBudgetExhausted || !strings.Contains(turn.Answer, says) || len(r.seen.all()) != 0 {
			t.Errorf("want %q, turn = %+v", says, turn)
		}
	}
}

// What costs nothing is not held back by a budget that is overdrawn.
func TestAFreeModelNeedsNoBudget(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(withUsage(scripted.Round{Text: cited}, 100_000)))
	r.ask(query("Where does it start?"))
	r.price, r.budget = 0, activities.Budgets{PerDay: 0.5}
	r.answers(100)
	if turn, _ := r.ask(query("Where does it start?")); turn.Reason != domain.EndAnswered || turn.Usage.Cost != 0 {
		t.Errorf("turn = %+v", turn)
	}
}

// An answer that the budget does not allow in full length is asked for in what it allows.
func TestABudgetShortensTheLastAnswer(t *testing.T) {
	t.Parallel()
	for name, budget := range map[string]activities.Budgets{"cost": {PerTurn: 1.09}, "day": {PerDay: 1.09}, "tokens": {TurnTokens: 109_000}} {
		cut := scripted.Round{Text: "Cut " + cited, Stop: domain.StopMaxTokens}
		r := newRig(t, rounds(withUsage(calling("So far.", "peek"), 100_000), cut))
		r.answers(20_000)
		r.budget = budget
		turn, events := r.ask(query("Where does it start?"))
		if turn.Reason != domain.EndBudgetExhausted || turn.Answer != "So far.\n\nCut "+cited || field(t, events[len(events)-1], "reason") != "budget_exhausted" {
			t.Errorf("%s: turn = %+v", name, turn)
		}
		asked := r.seen.all()
		if asked[0].MaxTokens != 20_000 || asked[1].MaxTokens < 200 || asked[1].MaxTokens > 9_000 {
			t.Errorf("%s: asked for %d and %d tokens", name, asked[0].MaxTokens, asked[1].MaxTokens)
		}
	}
}

// withUsage says what a round took.
func withUsage(r scripted.Round, tokens int) scripted.Round {
	r.Usage = scripted.Usage{Input: tokens}
	return r
}

func TestALongHistoryIsSummedUp(t *testing.T) {
	t.Parallel()
	script := rounds(scripted.Round{Text: cited + strings.Repeat(" and more", 30)})
	script.Scenes = []scripted.Scene{
		{System: "Classify the last message", Rounds: []scripted.Round{{Text: "research"}}},
		{System: "Sum up the conversation", Rounds: []scripted.Round{{Text: "They asked where it starts."}}},
	}
	r := newRig(t, script)
	r.limits.CompactThreshold, r.limits.CompactKeep = 700, 2
	req := query("Where does it start?")
	req.ConversationID = "thread"
	for range 3 {
		r.ask(req)
	}
	_, events := r.ask(req)
	if compacted := first(t, events, domain.EventCompacted); field(t, compacted, "messages") != "4" {
		t.Errorf("compacted = %s", compacted.Payload)
	}
	all := r.seen.all()
	last := all[len(all)-1]
	if head := last.Messages[0].Text(); !strings.Contains(head, "They asked where it starts.") || len(last.Messages) != 3 {
		t.Errorf("the model was told %d messages, the first %q", len(last.Messages), head)
	}
}

func TestADialogueThatIsTooLongIsMadeToFit(t *testing.T) {
	t.Parallel()
	small := faulty(scripted.Fault{Code: domain.CodeTooLarge, Message: "too long for p0"})
	script := rounds(calling("", "peek"), calling("", "peek"), small)
	script.Scenes = []scripted.Scene{{System: "Sum up the conversation", Rounds: []scripted.Round{{Text: "Seen: main.go."}}}}
	// With the first rounds summed up the model answers the request of one round.
	r := newRig(t, script)
	turn, events := r.ask(query("Where does it start?"))
	compacted := first(t, events, domain.EventCompacted)
	if field(t, compacted, "messages") != "1" {
		t.Errorf("compacted = %s", compacted.Payload)
	}
	if turn.Status != domain.TurnDone || turn.Answer != "one two three "+cited {
		t.Errorf("turn = %+v\nevents %s", turn, types(events))
	}
	if sum := r.seen.all()[3]; !strings.Contains(sum.Messages[0].Text(), "peek found main.go:3") {
		t.Errorf("the summary was made of %q", sum.Messages[0].Text())
	}
}

func TestAttachmentsThatAreTextAreRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(scripted.Round{Text: cited}))
	req := query("What is this?")
	req.Attachments = []domain.Attachment{
		{Name: "notes.md", MimeType: "text/markdown", Data: []byte("# Notes")}, {Name: "a.png", MimeType: "image/png", Data: []byte{0x89, 0x50, 0, 0xff}},
	}
	r.ask(req)
	blocks := r.seen.all()[0].Messages[0].Blocks
	if len(blocks) != 3 || !strings.Contains(blocks[1].Text, "# Notes") || string(blocks[2].Data) != "\x89P\x00\xff" || blocks[2].Name != "a.png" {
		t.Errorf("the model was given %+v", blocks)
	}
}

func TestTextIsStoredWhileItStreams(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 60) + cited
	r := newRig(t, rounds(scripted.Round{Thinking: "I think.", Text: text, Chunk: 10, Delay: scripted.Duration(8 * time.Millisecond)}))
	turn, _, err := r.store.CreateTurn(t.Context(), query("Where does it start?"))
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		text   string
		pieces int
	}
	followed := make(chan seen)
	go func() {
		var s seen
		for e, err := range r.store.Follow(t.Context(), turn.ID, domain.Cursor{}) {
			if err != nil {
				break
			}
			if e.Type == domain.EventTextDelta {
				var body struct{ Text string }
				_ = json.Unmarshal(e.Payload, &body)
				s.text += body.Text
				s.pieces++
			}
		}
		followed <- s
	}()
	ended, events := r.run(turn.ID)
	got := <-followed
	if got.text != text || ended.Answer != text || got.pieces < 10 {
		t.Errorf("followed %d bytes in %d pieces, want %d bytes in many; answer of %d", len(got.text), got.pieces, len(text), len(ended.Answer))
	}
	if want := "user_message intent thinking_delta text_delta done"; types(events) != want {
		t.Errorf("events = %s, want %s", types(events), want)
	}
}

// What a stream stores while it goes on is its text from the first byte, each byte once: that
// is all that is left of it when its worker dies.
func TestAStreamIsStoredAsItGoesOn(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Nothing of this may be lost. ", 4) + cited
	r := newRig(t, rounds(scripted.Round{Text: text, Chunk: 9, Delay: scripted.Duration(40 * time.Millisecond)}))
	var mu sync.Mutex
	stored, count := "", 0
	r.stored = func(f domain.TextFlush) {
		mu.Lock()
		defer mu.Unlock()
		if int(f.From) != len(stored) || f.Open != (count == 0) {
			t.Errorf("flush %d is at byte %d (opening %v), %d are stored", count, f.From, f.Open, len(stored))
		}
		stored, count = stored+f.Text, count+1
	}
	turn, _ := r.ask(query("Where does it start?"))
	mu.Lock()
	defer mu.Unlock()
	if turn.Answer != text || count < 2 || !strings.HasPrefix(text, stored) {
		t.Errorf("%d flushes stored %q of %q", count, stored, turn.Answer)
	}
}

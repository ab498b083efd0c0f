package activities_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
)

// result gives what the model was told of its first round's calls.
func results(t *testing.T, r *rig) []domain.Block {
	t.Helper()
	all := r.seen.all()
	messages := all[len(all)-1].Messages
	return messages[len(messages)-1].Blocks
}

func TestAToolThatPanicsFailsItsCallAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(calling("", "boom", "peek", "crash", "nothing"), scripted.Round{Text: cited}))
	panics := func(context.Context) (domain.ToolResult, error) { panic("secret detail") }
	r.tools(&probe{name: "boom", local: true, run: panics}, &probe{name: "crash", run: panics}, &probe{name: "peek", local: true})
	turn, _ := r.ask(query("Where does it start?"))
	if turn.Answer != cited {
		t.Errorf("turn = %+v", turn)
	}
	got := results(t, r)
	for i, want := range []bool{true, false, true, true} {
		if got[i].Error != want || strings.Contains(got[i].Text, "secret") {
			t.Errorf("result %d = %+v, want error %v and no detail", i, got[i], want)
		}
	}
	if !strings.Contains(got[3].Text, "no tool") {
		t.Errorf("an unknown tool gave %q", got[3].Text)
	}
}

func TestToolsHaveALimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(calling("", "stuck", "slow"), scripted.Round{Text: cited}))
	waits := func(ctx context.Context) (domain.ToolResult, error) {
		<-ctx.Done()
		return domain.ToolResult{}, ctx.Err()
	}
	r.tools(&probe{name: "stuck", limit: 50 * time.Millisecond, run: waits}, &probe{name: "slow", local: true, limit: 50 * time.Millisecond, run: waits})
	turn, _ := r.ask(query("Where does it start?"))
	for _, got := range results(t, r) {
		if !got.Error || !strings.Contains(got.Text, "took longer than 50ms") {
			t.Errorf("result = %+v", got)
		}
	}
	if turn.Answer != cited {
		t.Errorf("turn = %+v", turn)
	}
}

func TestALocalToolThatIsSlowGoesOnApart(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(calling("", "slow"), scripted.Round{Text: cited}))
	var begun atomic.Int32
	r.tools(&probe{name: "slow", local: true, limit: 5 * time.Second, run: func(ctx context.Context) (domain.ToolResult, error) {
		if begun.Add(1) < 3 {
			<-ctx.Done()
			return domain.ToolResult{}, ctx.Err()
		}
		return domain.ToolResult{Text: "at last"}, nil
	}})
	r.ask(query("Where does it start?"))
	if got := results(t, r); got[0].Text != "at last" {
		t.Errorf("result = %+v", got[0])
	}
}

func TestAToolWhoseDependencyIsAwayIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(calling("", "dig", "peek"), scripted.Round{Text: cited}))
	var tries atomic.Int32
	away := func(context.Context) (domain.ToolResult, error) {
		if tries.Add(1) < 4 {
			return domain.ToolResult{}, domain.Errorf(domain.CodeUnavailable, "the graph is away")
		}
		return domain.ToolResult{Text: "back"}, nil
	}
	r.tools(&probe{name: "dig", run: away}, &probe{name: "peek", local: true, run: away})
	r.ask(query("Where does it start?"))
	for _, got := range results(t, r) {
		if got.Error || got.Text != "back" {
			t.Errorf("result = %+v", got)
		}
	}
}

func TestAToolThatNeverCanBeRunIsGivenUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(calling("", "dig"), scripted.Round{Text: cited}))
	dig := &probe{name: "dig", run: func(context.Context) (domain.ToolResult, error) {
		return domain.ToolResult{}, domain.Errorf(domain.CodeUnavailable, "the graph is away")
	}}
	r.tools(dig)
	turn, events := r.ask(query("Where does it start?"))
	if got := results(t, r); !got[0].Error || turn.Answer != cited {
		t.Errorf("result = %+v, turn %+v", got[0], turn)
	}
	if n := dig.runs.Load(); n > 10 {
		t.Errorf("the tool was run %d times", n)
	}
	if want := "user_message intent phase tool_call tool_result text_delta done"; types(events) != want {
		t.Errorf("events = %s, want %s", types(events), want)
	}
}

func TestCallsRunAtOnceWithinABound(t *testing.T) {
	t.Parallel()
	names := strings.Fields(strings.Repeat("dig ", 12))
	r := newRig(t, rounds(calling("", names...), scripted.Round{Text: cited}))
	r.limits.ParallelTools = 3
	var now, most atomic.Int32
	r.tools(&probe{name: "dig", run: func(context.Context) (domain.ToolResult, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		<-time.After(20 * time.Millisecond)
		return domain.ToolResult{Text: "dug"}, nil
	}})
	turn, _ := r.ask(query("Where does it start?"))
	if turn.ToolCallsMade != 12 || most.Load() > 3 || most.Load() < 2 {
		t.Errorf("%d calls, at most %d at once", turn.ToolCallsMade, most.Load())
	}
}

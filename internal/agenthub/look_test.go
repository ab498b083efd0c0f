package agenthub_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// An agent whose posts reach this process lives, though no ping of it came to the database.
func TestPostsAreSignsOfLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		r.connect(domain.AgentHello{})
		for range 6 {
			time.Sleep(agentwire.PingEvery)
			if _, err := r.Identify(context.Background(), r.token); err != nil {
				t.Fatal(err)
			}
		}
		if !r.Connected(r.agent.ID) {
			t.Error("it was given up")
		}
	})
}

// Of the streams of an agent, here and elsewhere, the newest is the one that the database has, in
// whichever order they came to be known here, and though no hint told of it.
func TestTheDatabaseSaysWhichIsTheNewest(t *testing.T) {
	t.Parallel()
	for _, process := range []string{"one", "another"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.run()
			l := r.connect(domain.AgentHello{})
			r.m.do(func() {
				newer := r.m.current[r.agent.ID]
				newer.ID, newer.ProcessID = "newer", process
				r.m.current[r.agent.ID] = newer
			})
			if notice := l.next(); notice.Type != agentwire.ErrorNotice || !strings.Contains(notice.Message, "has connected elsewhere") {
				t.Errorf("with the newest at %s it is told %+v", process, notice)
			}
			<-l.over
		})
	}
}

// A stream that delivers and finds that it is none any more ends at once, with no look.
func TestAStreamThatWasTakenOverEndsAsItDelivers(t *testing.T) {
	t.Parallel()
	r := newRig(t) // it does not run
	l := r.connect(domain.AgentHello{})
	r.m.do(func() { r.m.failing = domain.Errorf(domain.CodeSuperseded, "another connection") })
	r.order("c1", true)
	if notice := l.next(); notice.Type != agentwire.ErrorNotice || !strings.Contains(notice.Message, "has connected elsewhere") {
		t.Errorf("it is told %+v", notice)
	}
	<-l.over
}

// A command that may run on its machine is not settled because it can't be sent again.
func TestWhatCantBeSentAgainIsLeftToItsAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t, with(safe{opened: map[string]string{"secret://DB@1": "correct horse"}}))
	r.orderWith("c1", map[string]string{"DB": "secret://DB@1"})
	l := r.connect(ours("m"))
	if got := l.next(); got.RequestID != "c1" {
		t.Fatalf("sent is %+v", got)
	}
	l.hangUp()
	again := newHub(r.m, "two", with(safe{})) // the secret was removed meanwhile
	l = connect(t, again, r.token, ours("m"))
	r.order("c2", true)
	if got := l.next(); got.RequestID != "c2" {
		t.Errorf("then comes %+v", got)
	}
	l.hangUp()
	if kept := r.m.command("c1"); kept.Status != domain.CommandDelivered {
		t.Errorf("it is %s: %s", kept.Status, kept.Error)
	}
}

// Lines of a plain agent that may be a secret's wait; those behind them take nobody's place, and
// the result brings all.
func TestLinesBehindWhatIsHeldBackKeepTheirPlace(t *testing.T) {
	t.Parallel()
	r := newRig(t, with(safe{values: []string{"first line\nsecond line"}}))
	r.runs("c1")
	for _, line := range []string{"first line", "other"} {
		if _, err := r.Output(t.Context(), r.agent, agentwire.Output{RequestID: "c1", Stream: agentwire.Stdout}, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	const whole = "first line\nother\n"
	if log := r.m.text("c1", "stdout"); !strings.HasPrefix(whole, log) {
		t.Errorf("the log is %q", log)
	}
	ended := agentwire.Result{RequestID: "c1", Outcome: agentwire.Exited, StdoutHead: []byte(whole), StdoutBytes: int64(len(whole))}
	if err := r.Result(t.Context(), r.agent, ended); err != nil {
		t.Fatal(err)
	}
	if log := r.m.text("c1", "stdout"); log != whole {
		t.Errorf("the log is %q", log)
	}
}

// Each way for a command to end on its machine leads to a state of its own.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[agentwire.Outcome]domain.CommandStatus{
		"": domain.CommandDone, agentwire.Exited: domain.CommandDone, agentwire.TimedOut: domain.CommandTimedOut, agentwire.Canceled: domain.CommandCanceled,
		agentwire.NotStarted: domain.CommandFailed, agentwire.Unknown: domain.CommandUnknown,
	} {
		r := newRunning(t)
		if err := r.Result(t.Context(), r.agent, agentwire.Result{RequestID: "c1", Outcome: outcome}); err != nil {
			t.Fatal(err)
		}
		if got := r.m.command("c1").Status; got != want {
			t.Errorf("%q leads to %s", outcome, got)
		}
	}
}

// Messages for an agent that does not read are refused once many wait.
func TestMessagesForADeafAgentAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	deaf, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		_ = r.Stream(ctx, r.token, domain.AgentHello{Hostname: "box"}, func() (func(agentwire.Message) error, error) {
			return func(agentwire.Message) error {
				select {
				case deaf <- struct{}{}: // at the greeting
				case <-ctx.Done():
				}
				<-ctx.Done()
				return ctx.Err()
			}, nil
		})
	}()
	<-deaf
	var err error
	for n := 0; err == nil; n++ {
		if n > 1000 {
			t.Fatal("a thousand messages wait")
		}
		err = r.Send(ctx, r.agent.ID, agentwire.Message{Type: agentwire.OpenShell, SessionID: "s"})
	}
	if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(err.Error(), "does not read") {
		t.Errorf("it is refused with %v", err)
	}
	stop()
	<-over
}

package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// writer does what a model call does to a turn's log, step by step.
type writer struct {
	t     *rapid.T
	store *postgres.Store
	turn  string
	round int
	claim domain.CallClaim
	open  *block
}

// block is a block that a writer has open.
type block struct {
	domain.ClosedBlock
	flushed int
}

func (w *writer) must(doing string, err error) {
	if err != nil {
		w.t.Fatalf("%s: %v", doing, err)
	}
}

func (w *writer) callID() string { return fmt.Sprintf("m%d", w.round) }

// take claims the call, as its first attempt or after a crash of the one before.
func (w *writer) take() {
	claim, err := w.store.ClaimModelCall(context.Background(), domain.ModelCall{TurnID: w.turn, CallID: w.callID(), Round: w.round})
	w.must("claim", err)
	w.claim, w.open = claim, nil
}

// say publishes text, after closing a block of the other type.
func (w *writer) say(typ domain.EventType, text string) {
	if w.open != nil && w.open.Type != typ {
		w.write()
	}
	if w.open == nil {
		w.open = &block{ClosedBlock: domain.ClosedBlock{Seq: w.claim.LastSeq + 1, Type: typ}}
	}
	w.store.Publish(domain.TextPiece{
		Subject: w.turn, Seq: w.open.Seq, Attempt: w.claim.Attempt, Type: typ, From: int64(len(w.open.Text)), Text: text,
	})
	w.open.Text += text
}

func (w *writer) flush() {
	if w.open == nil || w.open.flushed == len(w.open.Text) {
		return
	}
	last, err := w.store.FlushModelCall(context.Background(), domain.TextFlush{
		Claim: w.claim, Open: !w.open.Stored, Seq: w.open.Seq, Type: w.open.Type, From: int64(w.open.flushed), Text: w.open.Text[w.open.flushed:],
	})
	w.must("flush", err)
	w.claim.LastSeq, w.open.Stored, w.open.flushed = last, true, len(w.open.Text)
}

func (w *writer) closing() *domain.ClosedBlock {
	if w.open == nil {
		return nil
	}
	b := w.open.ClosedBlock
	w.open = nil
	return &b
}

func (w *writer) write(events ...domain.NewEvent) {
	last, err := w.store.WriteModelCall(context.Background(), domain.CallWrite{Claim: w.claim, Close: w.closing(), Events: events})
	w.must("write", err)
	w.claim.LastSeq = last
}

// fail ends the attempt as a provider's failure does, and takes the next.
func (w *writer) fail() {
	w.must("fail", w.store.FailModelCall(context.Background(), w.claim, 1, domain.NewPayload(domain.EventRetry, map[string]any{"discard": true})))
	w.take()
}

// commit ends the round and begins the next.
func (w *writer) commit() {
	_, err := w.store.CommitModelCall(context.Background(), domain.ModelCommit{
		CallWrite: domain.CallWrite{Claim: w.claim, Close: w.closing(), Events: []domain.NewEvent{domain.NewPayload(domain.EventPhase, map[string]int{"round": w.round})}},
		Outcome:   json.RawMessage(`{}`), Round: w.round, Message: &domain.Message{Role: domain.RoleAssistant},
	})
	w.must("commit", err)
	w.round++
	w.take()
}

// overtaken checks that an attempt that was overtaken can write nothing, though it publishes.
func (w *writer) overtaken(old domain.CallClaim, open *block) {
	ctx := context.Background()
	w.store.Publish(domain.TextPiece{Subject: w.turn, Seq: old.LastSeq + 1, Attempt: old.Attempt, Type: domain.EventTextDelta, Text: "ZOMBIE"})
	_, flush := w.store.FlushModelCall(ctx, domain.TextFlush{Claim: old, Open: true, Seq: old.LastSeq + 1, Type: domain.EventTextDelta, Text: "ZOMBIE"})
	if open != nil && open.Stored {
		_, flush = w.store.FlushModelCall(ctx, domain.TextFlush{Claim: old, Seq: open.Seq, Type: open.Type, From: int64(open.flushed), Text: "ZOMBIE"})
	}
	_, write := w.store.WriteModelCall(ctx, domain.CallWrite{Claim: old, Close: &domain.ClosedBlock{Seq: old.LastSeq + 1, Type: domain.EventTextDelta, Text: "ZOMBIE"}})
	_, commit := w.store.CommitModelCall(ctx, domain.ModelCommit{CallWrite: domain.CallWrite{Claim: old}, Outcome: json.RawMessage(`{}`)})
	fail := w.store.FailModelCall(ctx, old, 1, domain.NewPayload(domain.EventRetry, nil))
	for _, err := range []error{flush, write, commit, fail} {
		if domain.CodeOf(err) != domain.CodeSuperseded {
			w.t.Fatalf("a writer that was overtaken got %v, want superseded", err)
		}
	}
}

// step does one random thing.
func (w *writer) step() {
	text := rapid.StringN(1, 20, 60).Draw(w.t, "text")
	switch rapid.SampledFrom([]string{"text", "text", "text", "thinking", "flush", "flush", "crash", "fail", "events", "commit"}).Draw(w.t, "step") {
	case "text":
		w.say(domain.EventTextDelta, domain.CleanText(text))
	case "thinking":
		w.say(domain.EventThinkingDelta, domain.CleanText(text))
	case "flush":
		w.flush()
	case "crash":
		old, open := w.claim, w.open
		w.take()
		w.overtaken(old, open)
	case "fail":
		w.fail()
	case "events":
		w.write(domain.NewPayload(domain.EventFailover, map[string]string{"to": "other"}))
	case "commit":
		w.commit()
	}
}

// follower reads a turn's log, coming and going.
type follower struct {
	testkit.Transcript
	err error
}

// read follows until the log ends, going away after every few events and coming back.
func (f *follower) read(ctx context.Context, s *postgres.Store, turn string, patience []int) {
	for visit := 0; f.err == nil && !f.Ended; visit++ {
		left := 0
		for e, err := range s.Follow(ctx, turn, f.Cursor) {
			if err == nil {
				err = f.Take(e)
			}
			if err != nil {
				f.err = err
				return
			}
			left++
			if visit < len(patience) && left >= patience[visit] {
				break
			}
		}
	}
}

// Whatever writers, crashes and readers do: each reader puts together every block's text
// without a gap or a repetition, and gets exactly one terminal event.
func TestFollowersAgree(t *testing.T) {
	t.Parallel()
	dsn := testkit.DSN(t)
	here, there := open(t, dsn), open(t, dsn)
	rapid.Check(t, func(rt *rapid.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		turn, _, err := here.CreateTurn(ctx, request())
		if err != nil {
			rt.Fatal(err)
		}
		var reading sync.WaitGroup
		followers := make([]*follower, 6)
		for i := range followers {
			followers[i] = &follower{}
			store, patience := here, rapid.SliceOfN(rapid.IntRange(1, 6), 0, 8).Draw(rt, "patience")
			if i%2 == 1 {
				store = there
			}
			reading.Go(func() { followers[i].read(ctx, store, turn.ID, patience) })
		}
		w := &writer{t: rt, store: here, turn: turn.ID}
		w.take()
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			w.step()
		}
		kept := rapid.Bool().Draw(rt, "kept")
		if kept && w.open != nil { // what a canceled call does last, unless it is killed
			w.write()
		}
		if _, err := here.FinishTurn(ctx, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnCanceled, Reason: domain.EndCanceled}); err != nil {
			rt.Fatal(err)
		}
		reading.Wait()
		var stored []domain.Event
		for e, err := range here.Follow(ctx, turn.ID, domain.Cursor{}) {
			if err != nil {
				rt.Fatal(err)
			}
			stored = append(stored, e)
		}
		for i, f := range followers {
			if f.err == nil {
				f.err = f.Agrees(stored, !kept)
			}
			if err := f.err; err != nil {
				rt.Errorf("follower %d: %v", i, err)
			}
		}
	})
}

// open gives a store that hears other processes.
func open(t *testing.T, dsn string) *postgres.Store {
	t.Helper()
	pool, err := postgres.Open(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	s := postgres.NewStore(pool)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		pool.Close()
	})
	return s
}

// What is stored of a block that is still open is all that was flushed of it, for a reader of
// another process, from any place, and for the end of a turn whose writer is gone.
func TestAnOpenBlockIsStoredWhole(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	pool := testkit.Postgres(t)
	s := postgres.NewStore(pool)
	turn := create(t, s, request())
	c := claim(t, s, turn.ID, "m0")
	const said = "one two three four"
	seq, from := c.LastSeq+1, 0
	for _, piece := range []string{"one ", "two ", "three ", "four"} {
		last, err := s.FlushModelCall(ctx, domain.TextFlush{Claim: c, Open: from == 0, Seq: seq, Type: domain.EventTextDelta, From: int64(from), Text: piece})
		if err != nil {
			t.Fatalf("flush %q: %v", piece, err)
		}
		c.LastSeq, from = last, from+len(piece)
	}
	for _, offset := range []int64{0, 1, 4, 9, 17} {
		after := domain.Cursor{Seq: seq - 1}
		if offset > 0 {
			after = domain.Cursor{Seq: seq, Offset: offset}
		}
		// A store of its own has heard of nothing: all that it gives is in the database.
		for e, err := range postgres.NewStore(pool).Follow(ctx, turn.ID, after) {
			var piece struct{ Text string }
			if err == nil {
				err = json.Unmarshal(e.Payload, &piece)
			}
			if want := said[offset:]; err != nil || piece.Text != want || e.Cursor != (domain.Cursor{Seq: seq, Offset: int64(len(said))}) {
				t.Errorf("from byte %d: %q at %s, %v; want %q", offset, piece.Text, e.Cursor, err, want)
			}
			break
		}
	}
	if text, err := s.PartialAnswer(ctx, turn.ID); err != nil || text != said {
		t.Errorf("the partial answer is %q, %v", text, err)
	}
	finish(t, s, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnCanceled, Reason: domain.EndCanceled})
	if text, err := s.PartialAnswer(ctx, turn.ID); err != nil || text != said {
		t.Errorf("once it has ended the partial answer is %q, %v", text, err)
	}
}

// Text that is not committed reaches readers of another process: only a notification can
// bring it.
func TestTextReachesAnotherProcess(t *testing.T) {
	t.Parallel()
	dsn := testkit.DSN(t)
	here, there := open(t, dsn), open(t, dsn)
	turn := create(t, here, request())
	c := claim(t, here, turn.ID, "m0")
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	piece := domain.TextPiece{Subject: turn.ID, Seq: c.LastSeq + 1, Attempt: c.Attempt, Type: domain.EventTextDelta, Text: "not stored"}
	for e, err := range there.Follow(ctx, turn.ID, domain.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == domain.EventTextDelta {
			return
		}
		// The other process may not listen yet: what is said meanwhile is lost, as a hint may be.
		go func() {
			for ctx.Err() == nil {
				here.Publish(piece)
				select {
				case <-ctx.Done():
				case <-time.After(50 * time.Millisecond):
				}
			}
		}()
	}
	t.Error("the text did not come")
}

// A reader that no notification reaches still gets what is committed.
func TestAReaderThatHearsNothing(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t)
	here, deaf := postgres.NewStore(pool), postgres.NewStore(pool)
	turn := create(t, here, request())
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var got []string
	for e, err := range deaf.Follow(ctx, turn.ID, domain.Cursor{}) {
		if err != nil {
			t.Fatalf("after %v: %v", got, err)
		}
		if got = append(got, string(e.Type)); len(got) == 1 {
			finish(t, here, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "Here."})
		}
	}
	if len(got) != 2 || got[1] != "done" {
		t.Errorf("got %v", got)
	}
}

// A log that nobody reads any more takes no memory, however its readers went.
func TestReadersGiveTheirFeedBack(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := newStore(t)
	turn := create(t, s, request())
	for e, err := range s.Follow(ctx, turn.ID, domain.Cursor{}) {
		if err != nil || e.Cursor.Seq != 1 {
			t.Fatalf("%+v, %v", e, err)
		}
		break
	}
	for range s.Follow(ctx, turn.ID, domain.Cursor{}) {
		cancel()
	}
	if err := s.AppendEvents(context.Background(), turn.ID, domain.NewPayload(domain.EventPhase, nil)); err != nil {
		t.Fatal(err)
	}
	feed := s.Feed(turn.ID)
	defer feed.Close()
	if at := feed.Committed(); at != (domain.Cursor{}) {
		t.Errorf("a feed without readers was told of %s", at)
	}
}

package activities

import (
	"context"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// flushEvery and flushBytes coalesce a stream's commits: text reaches readers at once,
	// and the store a few times a second.
	flushEvery = 150 * time.Millisecond
	flushBytes = 4 << 10
	// commitPatience bounds one write to the store. A cancel does not cut it off: it is short,
	// and nobody would know whether it was done.
	commitPatience = 10 * time.Second
)

// StreamStore takes the events of a running model call.
type StreamStore interface {
	// Publish tells readers of text ahead of its commit.
	Publish(p domain.TextPiece)
	// FlushModelCall and WriteModelCall give the log's new end; superseded where a later
	// attempt has claimed the call.
	FlushModelCall(ctx context.Context, f domain.TextFlush) (last int64, err error)
	WriteModelCall(ctx context.Context, w domain.CallWrite) (last int64, err error)
}

// textStream turns the deltas of a model call into blocks of the turn's log. The call is the
// turn's only writer while it runs, so the stream knows the place of its next event before
// it is committed; no more than one block is ever ahead of the store.
type textStream struct {
	ctx   context.Context
	store StreamStore
	stop  context.CancelCauseFunc // ends the model call when the store refuses
	said  bool                    // deltas were published since the last drop
	timer *time.Timer             // the next flush; nil while none is due

	commits sync.Mutex // held by whoever writes to the store; taken before state

	state sync.Mutex
	claim domain.CallClaim // LastSeq is the log's end as committed
	open  *openBlock
	done  []domain.ClosedBlock // those that were closed, oldest first
	since int                  // of done: where what readers have not been told to drop begins
	err   error                // why the store refused
}

type openBlock struct {
	seq     int64
	typ     domain.EventType
	text    []byte
	stored  bool // its event is there
	flushed int  // bytes that are there
}

func newTextStream(ctx context.Context, store StreamStore, claim domain.CallClaim, stop context.CancelCauseFunc) *textStream {
	return &textStream{ctx: context.WithoutCancel(ctx), store: store, claim: claim, stop: stop}
}

// delta takes a piece of the answer.
func (s *textStream) delta(d domain.ModelDelta) error {
	typ, text := domain.EventTextDelta, d.Text
	if d.Thinking != "" {
		typ, text = domain.EventThinkingDelta, d.Thinking
	}
	if text == "" {
		return s.failure()
	}
	s.state.Lock()
	turning := s.open != nil && s.open.typ != typ
	s.state.Unlock()
	if turning { // a block is committed before the next is heard of
		if err := s.write(nil); err != nil {
			return err
		}
	}
	s.append(typ, domain.CleanText(text))
	return s.failure()
}

func (s *textStream) append(typ domain.EventType, text string) {
	s.state.Lock()
	defer s.state.Unlock()
	if s.open == nil {
		s.open = &openBlock{seq: s.claim.LastSeq + 1, typ: typ}
	}
	b := s.open
	s.store.Publish(domain.TextPiece{
		Subject: s.claim.TurnID, Seq: b.seq, Attempt: s.claim.Attempt, Type: typ, From: int64(len(b.text)), Text: text,
	})
	b.text = append(b.text, text...)
	s.said = true
	switch pending := len(b.text) - b.flushed; {
	case s.timer == nil:
		s.timer = time.AfterFunc(flushEvery, s.flush)
	case pending >= flushBytes && pending-len(text) < flushBytes:
		s.timer.Reset(0)
	}
}

func (s *textStream) failure() error {
	s.state.Lock()
	defer s.state.Unlock()
	return s.err
}

// flush stores what the open block has gained.
func (s *textStream) flush() {
	s.commits.Lock()
	defer s.commits.Unlock()
	s.state.Lock()
	s.timer = nil
	b, claim, err := s.open, s.claim, s.err
	if b == nil || err != nil || b.flushed == len(b.text) {
		s.state.Unlock()
		return
	}
	f := domain.TextFlush{Claim: claim, Open: !b.stored, Seq: b.seq, Type: b.typ, From: int64(b.flushed), Text: string(b.text[b.flushed:])}
	s.state.Unlock()

	ctx, cancel := context.WithTimeout(s.ctx, commitPatience)
	defer cancel()
	last, err := s.store.FlushModelCall(ctx, f)

	s.state.Lock()
	defer s.state.Unlock()
	if err != nil {
		s.err = err
		s.stop(err)
		return
	}
	b.stored, b.flushed, s.claim.LastSeq = true, b.flushed+len(f.Text), last
}

// write closes the open block and appends events.
func (s *textStream) write(events []domain.NewEvent) error {
	s.commits.Lock()
	defer s.commits.Unlock()
	block, claim := s.closing()
	if block == nil && len(events) == 0 {
		return s.failure()
	}
	ctx, cancel := context.WithTimeout(s.ctx, commitPatience)
	defer cancel()
	last, err := s.store.WriteModelCall(ctx, domain.CallWrite{Claim: claim, Close: block, Events: events})
	s.state.Lock()
	defer s.state.Unlock()
	if err != nil {
		s.err = err
		return err
	}
	s.claim.LastSeq, s.open = last, nil
	if block != nil {
		s.done = append(s.done, *block)
	}
	return nil
}

// blocks gives those that were closed, and the first of them that still counts.
func (s *textStream) blocks() (closed []domain.ClosedBlock, since int) {
	s.state.Lock()
	defer s.state.Unlock()
	return s.done, s.since
}

// closing gives the open block as the store is to keep it.
func (s *textStream) closing() (*domain.ClosedBlock, domain.CallClaim) {
	s.state.Lock()
	defer s.state.Unlock()
	if s.open == nil {
		return nil, s.claim
	}
	return &domain.ClosedBlock{Seq: s.open.seq, Type: s.open.typ, Text: string(s.open.text), Stored: s.open.stored}, s.claim
}

// failover drops what the provider left behind has said.
func (s *textStream) failover(f domain.ModelFailover) error {
	events := []domain.NewEvent{domain.NewPayload(domain.EventFailover, map[string]any{"from": f.From, "to": f.To, "reason": f.Reason})}
	if s.said {
		events = append(events, retryEvent(f.Reason, "", 0))
		s.said = false
	}
	if err := s.write(events); err != nil {
		return err
	}
	s.state.Lock()
	defer s.state.Unlock()
	s.since = len(s.done)
	return nil
}

// end waits for a flush that is under way and lets no other begin. What remains open is
// given to the caller, who commits it.
func (s *textStream) end() (*domain.ClosedBlock, domain.CallClaim, error) {
	s.state.Lock()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.state.Unlock()
	s.commits.Lock()
	defer s.commits.Unlock()
	block, claim := s.closing()
	err := s.failure()
	s.state.Lock()
	defer s.state.Unlock()
	s.open = nil // a flush that comes late finds nothing
	return block, claim, err
}

// retryEvent tells readers to drop what the call has said.
func retryEvent(reason domain.Code, text string, wait time.Duration) domain.NewEvent {
	payload := map[string]any{"reason": reason, "wait_ms": wait.Milliseconds(), "discard": true}
	if text != "" {
		payload["message"] = text
	}
	return domain.NewPayload(domain.EventRetry, payload)
}

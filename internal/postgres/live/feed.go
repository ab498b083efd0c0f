package live

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The bounds of what a feed keeps; beyond them the oldest goes first.
const (
	maxEntries = 256
	maxBytes   = 256 << 10
)

// Row is a committed event on its way to readers.
type Row struct {
	Subject string           `json:"s"`
	Seq     int64            `json:"q"`
	Attempt int              `json:"a,omitempty"`
	Type    domain.EventType `json:"t"`
	Payload json.RawMessage  `json:"p,omitempty"` // absent of a block, and where it is too long to travel
	Length  int64            `json:"n,omitempty"` // of a closed block: its bytes
	At      time.Time        `json:"at"`
}

// entry is an event in a feed.
type entry struct {
	Row
	open bool
	base int64  // of a block: the place of text in it; what is before must be read elsewhere
	text []byte // of a block
}

func (e *entry) end() int64 { return e.base + int64(len(e.text)) }

// Feed is the newest end of one subject's log.
type Feed struct {
	hub     *Hub
	subject string
	readers int // guarded by the hub

	mu        sync.Mutex
	entries   []entry // of consecutive Seq
	bytes     int
	committed domain.Cursor // known to be in the database
	changed   chan struct{} // closed at the next change
}

// Changed gives a channel that is closed at the next change of the feed.
func (f *Feed) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// Committed gives the newest place that is known to be in the database.
func (f *Feed) Committed() domain.Cursor {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.committed
}

// Close gives the feed back; the last reader's Close forgets it.
func (f *Feed) Close() { f.hub.release(f) }

func (f *Feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// reset forgets everything, so that every reader asks the database.
func (f *Feed) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.entries, f.bytes, f.committed = nil, 0, domain.Cursor{Seq: maxSeq}
	f.wake()
}

const maxSeq = 1<<63 - 1

func (f *Feed) find(seq int64) *entry {
	if len(f.entries) == 0 {
		return nil
	}
	i := seq - f.entries[0].Seq
	if i < 0 || i >= int64(len(f.entries)) {
		return nil
	}
	return &f.entries[i]
}

// cutFrom drops the entries from seq on: something else stands there.
func (f *Feed) cutFrom(seq int64) {
	for i := range f.entries {
		if f.entries[i].Seq >= seq {
			for _, e := range f.entries[i:] {
				f.bytes -= len(e.text) + len(e.Payload)
			}
			f.entries = f.entries[:i]
			return
		}
	}
}

// add puts e at the end. Entries that e does not continue are forgotten, and so is the text
// of a block whose end was not told: only the database knows where it ends.
func (f *Feed) add(e entry) {
	if n := len(f.entries); n > 0 && f.entries[n-1].Seq+1 != e.Seq {
		f.entries, f.bytes = nil, 0
	} else if n > 0 && f.entries[n-1].open {
		last := &f.entries[n-1]
		f.bytes -= len(last.text)
		last.open, last.base, last.text = false, maxSeq, nil
	}
	f.entries = append(f.entries, e)
	f.bytes += len(e.text) + len(e.Payload)
}

// trim keeps the bounds.
func (f *Feed) trim() {
	for len(f.entries) > 1 && (len(f.entries) > maxEntries || f.bytes > maxBytes) {
		f.bytes -= len(f.entries[0].text) + len(f.entries[0].Payload)
		f.entries = append(f.entries[:0], f.entries[1:]...)
	}
	if f.bytes <= maxBytes || len(f.entries) == 0 {
		return
	}
	e := &f.entries[0] // one long block: keep its end
	if cut := len(e.text) - maxBytes/2; cut > 0 {
		e.base += int64(cut)
		e.text = append([]byte(nil), e.text[cut:]...)
		f.bytes -= cut
	}
}

// piece takes text that continues an open block, or begins the next one.
func (f *Feed) piece(p domain.TextPiece) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.find(p.Seq)
	switch {
	case e == nil && len(f.entries) > 0 && p.Seq < f.entries[0].Seq:
		return
	case e != nil && (!e.Type.Block() || !e.open || p.Attempt < e.Attempt):
		return // a writer that was overtaken
	case e != nil && p.Attempt > e.Attempt:
		f.cutFrom(p.Seq)
		e = nil
	}
	switch {
	case e == nil:
		row := Row{Subject: p.Subject, Seq: p.Seq, Attempt: p.Attempt, Type: p.Type, At: time.Now()}
		f.add(entry{Row: row, open: true, base: p.From, text: []byte(p.Text)})
	case p.From == e.end():
		e.text = append(e.text, p.Text...)
		f.bytes += len(p.Text)
	case p.From > e.end(): // pieces between were lost on the way
		f.bytes += len(p.Text) - len(e.text)
		e.base, e.text = p.From, []byte(p.Text)
	case p.End() > e.end():
		e.text = append(e.text, p.Text[e.end()-p.From:]...)
		f.bytes += int(p.End() - e.end())
	default:
		return
	}
	f.trim()
	f.wake()
}

// row takes a committed event. It replaces what was there from its place on, save that the
// closing of a block keeps the text.
func (f *Feed) row(r Row) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commit(domain.Cursor{Seq: r.Seq, Offset: r.Length})
	e := f.find(r.Seq)
	switch {
	case e != nil && e.Type == r.Type && e.Attempt == r.Attempt && r.Type.Block():
		if e.open && e.end() != r.Length { // not all pieces came
			f.bytes -= len(e.text)
			e.base, e.text = r.Length, nil
		}
		e.open = false
	case e != nil && !e.Type.Block(): // told twice
	case e == nil && len(f.entries) > 0 && r.Seq < f.entries[0].Seq:
	default:
		f.cutFrom(r.Seq)
		f.add(entry{Row: r, base: r.Length})
	}
	f.trim()
	f.wake()
}

// mark notes that the database holds everything up to c.
func (f *Feed) mark(c domain.Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commit(c)
	f.wake()
}

func (f *Feed) commit(c domain.Cursor) {
	if f.committed.Seq == maxSeq {
		f.committed = domain.Cursor{}
	}
	if c.Seq > f.committed.Seq || c.Seq == f.committed.Seq && c.Offset > f.committed.Offset {
		f.committed = c
	}
}

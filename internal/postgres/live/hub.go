package live

import (
	"sync"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Hub is the set of feeds of a process. It is safe for concurrent use.
type Hub struct {
	mu    sync.RWMutex
	feeds map[string]*Feed
}

// NewHub builds an empty hub.
func NewHub() *Hub { return &Hub{feeds: map[string]*Feed{}} }

// Open gives the feed of a subject to one more reader, who must close it. What happened
// before the first Open is in the database only.
func (h *Hub) Open(subject string) *Feed {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[subject]
	if f == nil {
		f = &Feed{hub: h, subject: subject, changed: make(chan struct{})}
		h.feeds[subject] = f
	}
	f.readers++
	return f
}

func (h *Hub) release(f *Feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.readers--
	if f.readers == 0 {
		delete(h.feeds, f.subject)
	}
}

func (h *Hub) feed(subject string) *Feed {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.feeds[subject]
}

// Piece tells readers of text that a writer has just received.
func (h *Hub) Piece(p domain.TextPiece) {
	if f := h.feed(p.Subject); f != nil {
		f.piece(p)
	}
}

// Row tells readers of a committed event.
func (h *Hub) Row(r Row) {
	if f := h.feed(r.Subject); f != nil {
		f.row(r)
	}
}

// Mark tells readers that the database holds a subject's log up to c.
func (h *Hub) Mark(subject string, c domain.Cursor) {
	if f := h.feed(subject); f != nil {
		f.mark(c)
	}
}

// Reset makes every reader ask the database: messages may have been missed.
func (h *Hub) Reset() {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, f := range h.feeds {
		f.reset()
	}
}

// Len gives the number of feeds.
func (h *Hub) Len() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.feeds)
}

// Package sse writes and reads server-sent events (the text/event-stream format of the
// HTML standard): unnamed events whose data is one JSON object.
package sse

import (
	"bytes"
	"net/http"
	"time"
)

// keptBuffer is the most that a stream keeps to write into, in bytes.
const keptBuffer = 16 << 10

// Writer sends events to one client.
type Writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
	buf     bytes.Buffer
}

// NewWriter sends the response's head. Each write must be done within limit: a client that
// does not read costs its own connection, nothing else.
func NewWriter(w http.ResponseWriter, limit time.Duration) (*Writer, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache, no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &Writer{w: w, control: http.NewResponseController(w), limit: limit}
	return out, out.Flush()
}

// Event buffers an event; "" leaves the id out. data is JSON: its line breaks, which carry
// no meaning there, become blanks, for clients read one line per event.
func (w *Writer) Event(id string, data []byte) {
	if id != "" {
		w.buf.WriteString("id: ")
		w.buf.WriteString(id)
		w.buf.WriteByte('\n')
	}
	w.buf.WriteString("data: ")
	for _, b := range data {
		if b == '\n' || b == '\r' {
			b = ' '
		}
		w.buf.WriteByte(b)
	}
	w.buf.WriteString("\n\n")
}

// Comment buffers a line that clients skip: a sign of life.
func (w *Writer) Comment(text string) {
	w.buf.WriteString(": ")
	w.buf.WriteString(text)
	w.buf.WriteString("\n\n")
}

// Buffered gives the number of bytes that the next Flush will send.
func (w *Writer) Buffered() int { return w.buf.Len() }

// Flush sends what is buffered. After an error the client is gone.
func (w *Writer) Flush() error {
	// A recorder in a test has no deadline; a real connection always has.
	_ = w.control.SetWriteDeadline(time.Now().Add(w.limit))
	if _, err := w.w.Write(w.buf.Bytes()); err != nil {
		return err
	}
	if w.buf.Reset(); w.buf.Cap() > keptBuffer {
		w.buf = bytes.Buffer{} // a stream may be silent for hours after one large event
	}
	return w.control.Flush()
}

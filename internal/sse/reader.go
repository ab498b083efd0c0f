package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// ErrTooLong reports an event beyond the reader's limit.
var ErrTooLong = errors.New("sse: event is too long")

// Event is one event of a stream.
type Event struct {
	ID   string // the last id that the stream gave, of this event or an earlier one
	Type string // "" for an unnamed event
	Data []byte // lines joined by "\n"
}

// Reader reads events from a stream. Comments and events without data are skipped.
type Reader struct {
	in     *bufio.Reader
	limit  int
	lastID string
	// A line may end in "\r\n": after "\r" a "\n" is skipped when it comes, never waited for.
	skipLF bool
	begun  bool // the first line, which may carry a byte order mark, is read
	line   []byte
}

// NewReader reads from in; an event's lines may hold limit bytes in all.
func NewReader(in io.Reader, limit int) *Reader {
	return &Reader{in: bufio.NewReader(in), limit: limit}
}

// Next gives the next event, or io.EOF at the end of the stream. An event that the stream's
// end cuts off is dropped, as the standard says.
func (r *Reader) Next() (Event, error) {
	var (
		event Event
		data  []byte
		has   bool
		size  int
		id    = r.lastID
	)
	for {
		if err := r.readLine(r.limit - size); err != nil {
			return Event{}, err
		}
		if !r.begun {
			r.begun, r.line = true, bytes.TrimPrefix(r.line, []byte("\xef\xbb\xbf"))
		}
		size += len(r.line)
		if len(r.line) == 0 {
			r.lastID = id
			if has {
				event.ID, event.Data = id, data
				return event, nil
			}
			event, size = Event{}, 0
			continue
		}
		field, value, _ := bytes.Cut(r.line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if has {
				data = append(data, '\n')
			}
			data, has = append(data, value...), true
		case "event":
			event.Type = string(value)
		case "id":
			if !strings.ContainsRune(string(value), 0) {
				id = string(value)
			}
		}
	}
}

// readLine reads a line, without its end, into r.line.
func (r *Reader) readLine(limit int) error {
	r.line = r.line[:0]
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if r.skipLF {
			r.skipLF = false
			if b == '\n' {
				continue
			}
		}
		switch b {
		case '\r':
			r.skipLF = true
			return nil
		case '\n':
			return nil
		}
		if len(r.line) >= limit {
			return ErrTooLong
		}
		r.line = append(r.line, b)
	}
}

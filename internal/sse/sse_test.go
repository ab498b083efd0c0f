package sse_test

import (
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/harvest-engine/harvest/internal/sse"
)

func readAll(t *testing.T, r *sse.Reader) []sse.Event {
	t.Helper()
	var events []sse.Event
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	stream := "\xef\xbb\xbf: hello\n\nid: 1\ndata: {\"a\":1}\n\ndata:no blank\r\ndata:  two blanks\r\n\r\n" +
		"id: 2.5\n\nevent: named\rdata\rretry: 5\rother: x\r\rid: a\x00b\ndata: last\n\nid: 9\ndata: cut off"
	r := sse.NewReader(strings.NewReader(stream), 1000)
	want := []sse.Event{
		{ID: "1", Data: []byte(`{"a":1}`)},
		{ID: "1", Data: []byte("no blank\n two blanks")},
		{ID: "2.5", Type: "named", Data: nil},
		{ID: "2.5", Data: []byte("last")},
	}
	if diff := cmp.Diff(want, readAll(t, r)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A line that ends in "\r" must be delivered before the next byte comes.
func TestReaderDoesNotWaitBehindReturn(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	defer in.Close()
	go func() { _, _ = io.WriteString(out, "data: x\r\r") }()
	if e, err := sse.NewReader(in, 100).Next(); err != nil || string(e.Data) != "x" {
		t.Errorf("got %q, %v", e.Data, err)
	}
}

func TestReaderRefusesLongEvents(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{strings.Repeat("a", 101), strings.Repeat("data: 12345678901234\n", 10)} {
		if _, err := sse.NewReader(strings.NewReader(stream), 100).Next(); !errors.Is(err, sse.ErrTooLong) {
			t.Errorf("%q: %v, want ErrTooLong", stream[:20], err)
		}
	}
}

func TestWriter(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	w, err := sse.NewWriter(rec, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	w.Event("3.2", []byte("{\"type\":\"done\",\n\"a\":1}"))
	w.Comment("keep-alive")
	w.Event("", []byte(`{}`))
	if w.Buffered() == 0 || rec.Body.Len() != 0 {
		t.Error("written before Flush")
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "id: 3.2\ndata: {\"type\":\"done\", \"a\":1}\n\n: keep-alive\n\ndata: {}\n\n"
	if got := rec.Body.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for k, v := range map[string]string{"X-Accel-Buffering": "no", "Content-Type": "text/event-stream; charset=utf-8"} {
		if rec.Header().Get(k) != v {
			t.Errorf("%s = %q, want %q", k, rec.Header().Get(k), v)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("id: 1\ndata: x\n\n"), uint8(3))
	f.Add([]byte("\r\r\n\n:c\rdata\n\n\xef\xbb\xbf"), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, chunk uint8) {
		whole := drain(t, bytes.NewReader(stream), len(stream))
		// How the bytes arrive must not matter.
		pieces := drain(t, &chunks{stream, int(chunk%7) + 1}, len(stream))
		if diff := cmp.Diff(whole, pieces); diff != "" {
			t.Errorf("by chunks (-whole +chunks):\n%s", diff)
		}
	})
}

func drain(t *testing.T, in io.Reader, size int) []sse.Event {
	r := sse.NewReader(in, 256)
	var events []sse.Event
	for range size + 1 {
		e, err := r.Next()
		if err != nil {
			return events
		}
		events = append(events, e)
	}
	t.Fatal("more events than bytes")
	return nil
}

type chunks struct {
	rest []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(c.size, len(p))], c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("1.2", `{"type":"text_delta","text":"a\nb"}`)
	f.Fuzz(func(t *testing.T, id, data string) {
		if strings.ContainsAny(id, "\r\n\x00") || id == "" {
			return
		}
		rec := httptest.NewRecorder()
		w, _ := sse.NewWriter(rec, time.Second)
		w.Event(id, []byte(data))
		_ = w.Flush()
		e, err := sse.NewReader(rec.Body, len(id)+len(data)+100).Next()
		want := strings.NewReplacer("\n", " ", "\r", " ").Replace(data)
		if err != nil || e.ID != id || string(e.Data) != want {
			t.Errorf("wrote %q %q, read %q %q, %v", id, want, e.ID, e.Data, err)
		}
	})
}

package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
)

// client is an open event stream.
type client struct {
	*sse.Reader
	resp  *http.Response
	leave context.CancelFunc
}

func (f *fixture) open(t *testing.T, method, path, body string, headers ...string) *client {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, f.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return &client{sse.NewReader(resp.Body, 1<<20), resp, cancel}
}

// next reads one event and gives "id type".
func (c *client) next(t *testing.T) string {
	t.Helper()
	e, err := c.Next()
	if err != nil {
		t.Fatalf("next event: %v", err)
	}
	var body struct{ Type string }
	if err := json.Unmarshal(e.Data, &body); err != nil {
		t.Fatalf("event %q: %v", e.Data, err)
	}
	return e.ID + " " + body.Type
}

func (c *client) rest(t *testing.T) []string {
	t.Helper()
	var got []string
	for {
		e, err := c.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatalf("after %v: %v", got, err)
		}
		var body struct{ Type string }
		_ = json.Unmarshal(e.Data, &body)
		got = append(got, e.ID+" "+body.Type)
	}
}

var wholeTurn = []string{"1 user_message", "2 text_delta", "3 done"}

func TestQueryStream(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.answers()
	c := f.open(t, "POST", "/query/stream", `{"query":"q"}`)
	if c.resp.StatusCode != 200 || c.resp.Header.Get("X-Turn-Id") != "turn-1" || c.resp.Header.Get("X-Accel-Buffering") != "no" ||
		!strings.HasPrefix(c.resp.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%d %v", c.resp.StatusCode, c.resp.Header)
	}
	raw, err := io.ReadAll(c.resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "stream", string(raw))
}

func TestResume(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.answers()
	f.call(t, "POST", "/query", `{"query":"q"}`, "Idempotency-Key: k")
	cases := []struct {
		path   string
		header []string
		want   []string
	}{
		{"/turns/turn-1/events", nil, wholeTurn},
		{"/turns/turn-1/events?after=1", nil, wholeTurn[1:]},
		{"/turns/turn-1/events", []string{"Last-Event-ID: 2"}, wholeTurn[2:]},
		{"/turns/turn-1/events?after=1", []string{"Last-Event-ID: 2"}, wholeTurn[2:]},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, f.open(t, "GET", c.path, "", c.header...).rest(t)); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", c.path, c.header, diff)
		}
	}
	again := f.open(t, "POST", "/query/stream", `{"query":"q"}`, "Idempotency-Key: k", "Last-Event-ID: 1")
	if diff := cmp.Diff(wholeTurn[1:], again.rest(t)); diff != "" {
		t.Errorf("repeated query (-want +got):\n%s", diff)
	}
	if resp, _ := f.call(t, "GET", "/turns/turn-1/events?after=3", ""); resp.StatusCode != http.StatusNoContent {
		t.Errorf("after the last event: %d, want 204 so that browsers stop", resp.StatusCode)
	}
	for _, after := range []string{"x", "-1", "1.-1", "1.2.3"} {
		if resp, text := f.call(t, "GET", "/turns/turn-1/events?after="+after, ""); resp.StatusCode != 400 || failureOf(t, text).Field != "after" {
			t.Errorf("after=%s: %d %s", after, resp.StatusCode, text)
		}
	}
	if resp, _ := f.call(t, "GET", "/turns/none/events", ""); resp.StatusCode != 404 {
		t.Errorf("unknown turn: %d", resp.StatusCode)
	}
}

// A turn that is another user's does not exist for the caller.
func TestTurnsOfOthers(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.engine.turns["theirs"] = domain.Turn{ID: "theirs", UserID: "someone", Status: domain.TurnRunning}
	for _, c := range [][2]string{{"GET", "/turns/theirs"}, {"GET", "/turns/theirs/events"}, {"POST", "/turns/theirs/cancel"}} {
		if resp, text := f.call(t, c[0], c[1], ""); resp.StatusCode != 404 {
			t.Errorf("%s %s: %d %s", c[0], c[1], resp.StatusCode, text)
		}
	}
	if len(f.engine.canceled) > 0 {
		t.Error("another's turn was canceled")
	}
}

func TestTwoClientsAndADisconnect(t *testing.T) {
	t.Parallel()
	f := start(t)
	a := f.open(t, "POST", "/query/stream", `{"query":"q"}`)
	b := f.open(t, "GET", "/turns/turn-1/events", "")
	f.engine.emit("turn-1", domain.EventPhase, `{"label":"Searching"}`)
	for _, c := range []*client{a, b} {
		if got := c.next(t); got != "1 phase" {
			t.Fatalf("got %q", got)
		}
	}
	a.leave()
	if err := f.engine.wait(t.Context(), func() bool { return f.engine.readers == 1 }); err != nil {
		t.Fatal(err)
	}
	if got := f.engine.turns["turn-1"]; got.Status != domain.TurnRunning || len(f.engine.canceled) > 0 {
		t.Errorf("the turn ended with its client: %+v", got)
	}
	f.engine.end("turn-1", answered)
	if diff := cmp.Diff([]string{"2 done"}, b.rest(t)); diff != "" {
		t.Errorf("the other client (-want +got):\n%s", diff)
	}
}

// A client that leaves a blocking query leaves the turn running.
func TestBlockingClientLeaves(t *testing.T) {
	t.Parallel()
	f := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", f.url+"/query", strings.NewReader(`{"query":"q"}`))
	req.Header.Set("Authorization", "Bearer "+token)
	done := make(chan error, 1)
	go func() {
		_, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		done <- err
	}()
	if err := f.engine.wait(t.Context(), func() bool { return len(f.engine.turns) == 1 }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("the client got an answer")
	}
	f.engine.end("turn-1", answered)
	if resp, text := f.call(t, "GET", "/turns/turn-1", ""); resp.StatusCode != 200 || !strings.Contains(text, `"status":"done"`) {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}

func TestKeepAliveAndDrain(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.server.SetKeepAlive(time.Millisecond)
	c := f.open(t, "POST", "/query/stream", `{"query":"q"}`)
	line, err := bufio.NewReader(c.resp.Body).ReadString('\n')
	if err != nil || line != ": keep-alive\n" {
		t.Errorf("first line %q, %v", line, err)
	}
	blocked := make(chan string, 1)
	go func() {
		defer close(blocked)
		resp, text := f.call(t, "POST", "/query", `{"query":"q"}`)
		blocked <- fmt.Sprint(resp.StatusCode, " ", text)
	}()
	if err := f.engine.wait(t.Context(), func() bool { return len(f.engine.turns) == 2 }); err != nil {
		t.Fatal(err)
	}
	f.server.Drain()
	if got := <-blocked; !strings.HasPrefix(got, "503") || !strings.Contains(got, "/turns/turn-2") {
		t.Errorf("a waiting query at the end: %s", got)
	}
	if rest, err := io.ReadAll(c.resp.Body); err != nil || !strings.HasSuffix(string(rest), ": the server is stopping\n\n") {
		t.Errorf("the stream ended with %q, %v", rest, err)
	}
}

// A fault behind a stream ends it without an event, so that the client resumes.
func TestBrokenStream(t *testing.T) {
	t.Parallel()
	f := start(t)
	c := f.open(t, "POST", "/query/stream", `{"query":"q"}`)
	f.engine.emit("turn-1", domain.EventPhase, `{"label":"x"}`)
	if got := c.next(t); got != "1 phase" {
		t.Fatal(got)
	}
	f.engine.change(func() { f.engine.broken = errors.New("s3cret database") })
	if got := c.rest(t); len(got) > 0 {
		t.Errorf("got %v after the fault", got)
	}
	if !strings.Contains(f.log.String(), "stream_broken") {
		t.Errorf("not logged: %s", f.log)
	}
	f.engine.turns["turn-9"] = domain.Turn{ID: "turn-9", UserID: "owner", Status: domain.TurnDone}
	if resp, text := f.call(t, "GET", "/turns/turn-9/events", ""); resp.StatusCode != 500 || strings.Contains(text, "s3cret") {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}

// A client that never reads must not hold up the turn, the other clients or the server, and
// is dropped.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.server.SetSendLimit(time.Second)
	fast := f.open(t, "POST", "/query/stream", `{"query":"q"}`)
	slow, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "GET /turns/turn-1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token)
	if err := f.engine.wait(t.Context(), func() bool { return f.engine.readers == 2 }); err != nil {
		t.Fatal(err)
	}
	const events, size = 200, 64 << 10
	payload := `{"text":"` + strings.Repeat("x", size) + `"}`
	var sending sync.WaitGroup
	sending.Go(func() {
		for range events {
			f.engine.emit("turn-1", domain.EventTextDelta, payload)
		}
		f.engine.end("turn-1", answered)
	})
	if got := fast.rest(t); len(got) != events+1 {
		t.Errorf("the fast client got %d events, want %d", len(got), events+1)
	}
	sending.Wait()
	if err := f.engine.wait(t.Context(), func() bool { return f.engine.readers == 0 }); err != nil {
		t.Errorf("the slow client was not dropped: %v", err)
	}
	if resp, _ := f.call(t, "GET", "/turns/turn-1", ""); resp.StatusCode != 200 {
		t.Errorf("the server: %d", resp.StatusCode)
	}
}

func TestIngestEvents(t *testing.T) {
	t.Parallel()
	f := start(t)
	resp, _ := f.call(t, "POST", "/repositories", `{"url":"x"}`)
	at := resp.Header.Get("Location")
	c := f.open(t, "GET", at+"/events", "")
	f.engine.emit("run-1", domain.EventIngestProgress, `{"phase":"parse"}`)
	if got := c.next(t); got != "1 ingest_progress" {
		t.Errorf("got %q", got)
	}
	f.engine.emit("run-1", domain.EventIngestDone, `{}`)
	if diff := cmp.Diff([]string{"2 ingest_done"}, c.rest(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

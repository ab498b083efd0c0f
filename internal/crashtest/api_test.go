package crashtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/sse"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// client reads a turn's events by HTTP.
type client struct {
	testkit.Transcript
	t       *testing.T
	address string
	turnID  string
	lastID  string
}

func (c *client) do(method, path string, body []byte) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, "http://"+c.address+path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if c.lastID != "" {
		req.Header.Set("Last-Event-ID", c.lastID)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// read takes events until there were n, the turn's end, or the stream's.
func (c *client) read(resp *http.Response, n int) {
	c.t.Helper()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		c.t.Fatalf("status %d: %s", resp.StatusCode, text)
	}
	events := sse.NewReader(resp.Body, 1<<20)
	for range n {
		e, err := events.Next()
		if err != nil {
			return
		}
		cursor, err := domain.ParseCursor(e.ID)
		if err != nil {
			c.t.Fatal(err)
		}
		var head struct{ Type domain.EventType }
		if err := json.Unmarshal(e.Data, &head); err != nil {
			c.t.Fatal(err)
		}
		c.lastID = e.ID
		if err := c.Take(domain.Event{Cursor: cursor, Type: head.Type, Payload: e.Data}); err != nil {
			c.t.Fatal(err)
		}
		if c.Ended {
			return
		}
	}
}

// The API is killed while a client reads, again and again; the client comes back with the
// last id that it has, and misses nothing.
func TestKilledAPI(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker()
	c := &client{t: t, address: freeAddress(t)}
	api := s.api(c.address, false)
	resp := c.do(http.MethodPost, "/query/stream", []byte(`{"query":"Where does the server start?"}`))
	c.turnID = resp.Header.Get("X-Turn-Id")
	for visit := 0; ; visit++ {
		c.read(resp, 15+5*visit)
		api.kill()
		if c.Ended {
			break
		}
		api = s.api(c.address, false)
		resp = c.do(http.MethodGet, fmt.Sprintf("/turns/%s/events", c.turnID), nil)
	}
	stored := s.stored(c.turnID)
	for i := range stored {
		stored[i].Attempt = 0 // the wire has no attempts
	}
	if err := c.Agrees(stored, false); err != nil {
		t.Error(err)
	}
	turn, err := s.Turn(t.Context(), c.turnID)
	if err != nil {
		t.Fatal(err)
	}
	s.undisturbed(turn)
}

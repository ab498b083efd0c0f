package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
)

func TestGraphIsCachedUntilReadAgain(t *testing.T) {
	t.Parallel()
	f := start(t)
	const path = "/graph/team%2Fapp/v1"
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if resp, text := f.call(t, "GET", path, ""); resp.StatusCode != 200 {
				t.Errorf("%d %s", resp.StatusCode, text)
			}
		})
	}
	all.Wait()
	first, _ := f.call(t, "GET", path, "")
	if f.graph.draws != 1 {
		t.Errorf("the graph was read %d times for 9 requests", f.graph.draws)
	}
	etag := first.Header.Get("ETag")
	for _, known := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
		if resp, text := f.call(t, "GET", path, "", "If-None-Match: "+known); resp.StatusCode != http.StatusNotModified || text != "" {
			t.Errorf("If-None-Match %s: %d %q", known, resp.StatusCode, text)
		}
	}
	if resp, _ := f.call(t, "GET", path, "", `If-None-Match: "x"`); resp.StatusCode != 200 {
		t.Errorf("another ETag: %d", resp.StatusCode)
	}
	f.graph.mu.Lock()
	f.graph.read = day.Add(time.Minute)
	f.graph.mu.Unlock()
	again, _ := f.call(t, "GET", path, "", "If-None-Match: "+etag)
	if again.StatusCode != 200 || again.Header.Get("ETag") == etag || f.graph.draws != 2 {
		t.Errorf("after reading again: %d, ETag %s, %d readings", again.StatusCode, again.Header.Get("ETag"), f.graph.draws)
	}
	f.call(t, "DELETE", "/repositories/team%2Fapp", "")
	f.call(t, "GET", path, "")
	if f.graph.draws != 3 {
		t.Errorf("a deleted repository stays in the cache")
	}
	f.graph.mu.Lock()
	f.graph.failing = errors.New("down")
	f.graph.mu.Unlock()
	if resp, _ := f.call(t, "GET", "/repositories", ""); resp.StatusCode != 500 {
		t.Errorf("graph down: %d", resp.StatusCode)
	}
}

func TestProvidersAreCached(t *testing.T) {
	t.Parallel()
	f := start(t)
	var seconds atomic.Int64
	f.server.SetClock(func() time.Time { return day.Add(time.Duration(seconds.Load()) * time.Second) })
	for _, c := range []struct {
		at    int64
		path  string
		asked int
	}{{0, "", 1}, {299, "", 1}, {299, "?refresh=true", 2}, {400, "?refresh=false", 2}, {600, "", 3}} {
		seconds.Store(c.at)
		if resp, _ := f.call(t, "GET", "/llm/providers"+c.path, ""); resp.StatusCode != 200 || f.providers.asked != c.asked {
			t.Errorf("at %d s %q: %d, asked %d times, want %d", c.at, c.path, resp.StatusCode, f.providers.asked, c.asked)
		}
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	var asked atomic.Int64
	var clock atomic.Int64
	f := start(t, func(c *api.Config) {
		c.Checks = []api.Check{
			{Name: "postgres", Test: func(context.Context) error {
				asked.Add(1)
				if down.Load() {
					return errors.New("dial tcp s3cret: refused")
				}
				return nil
			}},
			{Name: "temporal", Test: func(context.Context) error {
				if down.Load() {
					return domain.Errorf(domain.CodeUnavailable, "Temporal does not answer at its address")
				}
				return nil
			}},
			{Name: "odd", Test: func(context.Context) error {
				if down.Load() {
					panic("odd")
				}
				return nil
			}},
		}
	})
	f.server.SetClock(func() time.Time { return day.Add(time.Duration(clock.Load())) })
	f.expect(t, "ready_bare", "GET", "/ready", "", "Authorization: ")
	f.expect(t, "ready_owner", "GET", "/ready", "")
	if asked.Load() != 1 {
		t.Errorf("asked %d times within a second", asked.Load())
	}
	down.Store(true)
	clock.Store(int64(2 * time.Second))
	f.expect(t, "unready_bare", "GET", "/ready", "", "Authorization: ")
	f.expect(t, "unready_owner", "GET", "/ready", "")
	if _, text := f.call(t, "GET", "/ready", ""); strings.Contains(text, "s3cret") {
		t.Errorf("shows the inside: %s", text)
	}
	if resp, _ := f.call(t, "GET", "/ready", "", "Authorization: Bearer x"); resp.StatusCode != 401 {
		t.Errorf("wrong token: %d", resp.StatusCode)
	}
}

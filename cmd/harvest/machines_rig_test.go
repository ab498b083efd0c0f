package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// machines is as much of a Harvest as commands about machines need: a project "engine" with the
// machines web1, which is connected, and box, a container that is not.
type machines struct {
	*http.ServeMux
	mu    sync.Mutex
	calls []string // method, path and body
}

const (
	fakeMachines = `[{"id":"a1","hostname":"web1","online":true,"last_seen":"2026-11-30T10:00:00Z","created_at":"2026-11-30T09:00:00Z","provider":"manual","description":"the \u001b[31mfirst","version":"0.3.0","capabilities":["ack","cancel"]},
{"id":"a2","hostname":"box","online":false,"last_seen":"2026-11-30T10:00:00Z","created_at":"2026-11-30T09:00:00Z","provider":"lxd","description":""}]`
	ofWeb1 = "/projects/p1/agents/a1"
)

// newMachines gives a fake server, and somebody at a terminal on it.
func newMachines(t *testing.T) (*machines, *teamProgram) {
	t.Helper()
	m := &machines{ServeMux: http.NewServeMux()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Authorization") != "Bearer the-token" {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		m.mu.Lock()
		m.calls = append(m.calls, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		m.mu.Unlock()
		m.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	m.answer("GET /projects", `[{"id":"p1","name":"engine"}]`)
	m.answer("GET /projects/p1/agents", fakeMachines)
	m.answer("GET /agents", strings.ReplaceAll(fakeMachines, `"id":`, `"project_id":"p1","project_name":"engine","id":`))
	return m, newTeamProgram(t, map[string]string{urlVariable: server.URL, tokenVariable: "the-token"})
}

// answer has a route answer with JSON: as it is, or as the refusal of "409 conflict: why".
func (m *machines) answer(pattern, body string) {
	m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(body, "{") || strings.HasPrefix(body, "[") {
			fmt.Fprint(w, body)
			return
		}
		var status int
		var code string
		_, _ = fmt.Sscanf(body, "%d %s", &status, &code)
		_, why, _ := strings.Cut(body, ": ")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"code": strings.TrimSuffix(code, ":"), "error": why})
	})
}

// stream has a route answer with events.
func (m *machines) stream(pattern string, events ...string) {
	m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { writeEvents(w, events...) })
}

func writeEvents(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i, e := range events {
		fmt.Fprintf(w, "id: %d\ndata: %s\n\n", i+1, e)
	}
	w.(http.Flusher).Flush()
}

// called gives the calls of a method and a path.
func (m *machines) called(prefix string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []string
	for _, c := range m.calls {
		if strings.HasPrefix(c, prefix) {
			found = append(found, c)
		}
	}
	return found
}

// wants checks that a call was made, once.
func (m *machines) wants(t *testing.T, call string) {
	t.Helper()
	if found := m.called(call); len(found) != 1 {
		m.mu.Lock()
		defer m.mu.Unlock()
		t.Errorf("%q was called %d times; calls:\n%s", call, len(found), strings.Join(m.calls, "\n"))
	}
}

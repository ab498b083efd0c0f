package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
)

// Who stops waiting for an answer is told whether the turn has ended with that.
func TestCtrlCTellsWhetherATurnWasCanceled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ answer, says string }{
		{`{"turn_id":"t1","status":"running"}`, "the turn t1 was canceled"},
		{`503 unavailable: the server is being stopped`, "the turn t1 was not canceled and goes on: the server is being stopped; harvest turns cancel t1 ends it"},
	} {
		for _, args := range [][]string{{"ask", "What?"}, {"ask", "What?", "--json"}} {
			m, ada := newMachines(t)
			begun := make(chan struct{})
			m.HandleFunc("POST /query/stream", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Turn-Id", "t1")
				writeEvents(w, `{"type":"intent","intent":"research"}`)
			})
			m.HandleFunc("GET /turns/t1/events", func(w http.ResponseWriter, r *http.Request) {
				close(begun)
				<-r.Context().Done()
			})
			m.answer("POST /turns/t1/cancel", c.answer)
			ctx, interrupt := context.WithCancel(t.Context())
			over := ada.beside(ctx, nil, args...)
			<-begun
			interrupt()
			if code, text := over(); code != exitStopped || !strings.Contains(text, c.says) {
				t.Errorf("%s: %d:\n%s", strings.Join(args, " "), code, text)
			}
		}
	}
}

// A turn is followed and ended by its id, also by who did not ask in this terminal.
func TestTurnsByCommands(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("GET /turns/t1", `{"turn_id":"t1","query":"Who calls it?","status":"running"}`)
	m.answer("GET /turns/t2", `{"turn_id":"t2","query":"Who?","status":"done"}`)
	m.answer("GET /turns/t3", `404 not_found: there is no such turn`)
	m.answer("POST /turns/t1/cancel", `{"turn_id":"t1","status":"running"}`)
	m.stream("GET /turns/t1/events", `{"type":"text_delta","text":"Nobody does."}`, `{"type":"done","turn_id":"t1","reason":"answered"}`)
	ada.says(exitOK, "", []string{"Who calls it?", "Nobody does.", "turn t1"}, "turns", "follow", "t1")
	ada.says(exitOK, "", []string{"asked for the end of the turn t1"}, "turns", "cancel", "t1")
	m.wants(t, "POST /turns/t1/cancel {}")
	ada.says(exitFailed, "", []string{"the turn t2 has ended already: it is done"}, "turns", "cancel", "t2")
	ada.says(exitFailed, "", []string{"there is no such turn"}, "turns", "follow", "t3")
	ada.says(exitUsage, "", []string{"by the id that harvest ask shows"}, "turns", "cancel")
}

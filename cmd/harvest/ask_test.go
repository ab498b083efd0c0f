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
		{`503 unavailable: the server is being stopped`, "the turn t1 was not canceled and goes on: the server is being stopped"},
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

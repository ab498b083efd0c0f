package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/domain"
)

// busy is a server on which a run holds the repository "app" at first. Run "held" never ends
// where endless is set.
func busy(t *testing.T, endless bool) *client.Client {
	t.Helper()
	var orders atomic.Int32
	gone := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /repositories", func(w http.ResponseWriter, _ *http.Request) {
		if orders.Add(1) == 1 {
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"error":"app is being read already (run held)","code":"conflict","holder":"held"}`)
			return
		}
		fmt.Fprint(w, `{"ingest_id":"mine","repository":"app"}`)
	})
	mux.HandleFunc("GET /ingests/{id}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"ingest_id":%q,"repository":"app"}`, r.PathValue("id"))
	})
	mux.HandleFunc("GET /ingests/{id}/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: 1\ndata: {\"type\":\"ingest_progress\",\"repository\":\"app\",\"version\":%q,\"phase\":\"done\"}\n\n", r.PathValue("id"))
		if endless {
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-gone:
			}
			return
		}
		fmt.Fprint(w, "id: 2\ndata: {\"type\":\"ingest_done\"}\n\n")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		close(gone)
		server.Close()
	})
	api := client.New(server.URL, "token", client.DefaultPatience)
	t.Cleanup(api.Close)
	return api
}

func TestIngestWaitsForTheRunThatHoldsTheRepository(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	screen := terminal.New(&out, false, func() int { return 80 })
	name, err := showIngest(t.Context(), busy(t, false), screen, client.Source{URL: "https://git.example.com/app"})
	screen.Close()
	if err != nil || name != "app" {
		t.Fatalf("read %q: %v", name, err)
	}
	wantParts(t, out.String(), "app is being read already (run held); waiting for it", "+ app held", "+ app mine")
}

// lines tells of each write to it.
type lines func(text string)

func (l lines) Write(p []byte) (int, error) {
	l(string(p))
	return len(p), nil
}

func TestIngestThatNobodyWatchesGoesOn(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	screen := terminal.New(lines(func(text string) {
		if strings.Contains(text, "app held") {
			stop()
		}
	}), false, func() int { return 80 })
	defer screen.Close()
	_, err := showIngest(ctx, busy(t, true), screen, client.Source{URL: "https://git.example.com/app"})
	if domain.CodeOf(err) != domain.CodeCanceled || !strings.Contains(err.Error(), "the reading of app goes on") {
		t.Errorf("got %v", err)
	}
}

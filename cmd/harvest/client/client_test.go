package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func serve(t *testing.T, handler http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c := client.New(server.URL, "the-token", 3*time.Second)
	t.Cleanup(c.Close)
	return c
}

// flaky streams three events, hanging up after each one, and after the first with a server
// that is away for a moment.
func flaky(t *testing.T, resumed *[]string) http.HandlerFunc {
	var calls atomic.Int32
	return func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer the-token" {
			t.Errorf("authorization is %q", got)
		}
		n := calls.Add(1)
		if n == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"error":"stopping","code":"unavailable"}`)
			return
		}
		*resumed = append(*resumed, r.Method+" "+r.URL.Path+" "+r.Header.Get("Last-Event-ID"))
		w.Header().Set("X-Turn-Id", "t1")
		w.Header().Set("Content-Type", "text/event-stream")
		switch n {
		case 1:
			fmt.Fprint(w, "id: 1\ndata: {\"type\":\"intent\",\"mode\":\"research\"}\n\n: alive\n\n")
		case 3:
			fmt.Fprint(w, "id: 2.3\ndata: {\"type\":\"text_delta\",\"text\":\"abc\"}\n\nid: 2.9\ndata: {\"type\":\"te")
		case 4:
			fmt.Fprint(w, "id: 3\ndata: {\"type\":\"done\",\"answer\":\"abc\"}\n\n")
		}
	}
}

func TestAskResumesWhereItWas(t *testing.T) {
	t.Parallel()
	var resumed []string
	c := serve(t, flaky(t, &resumed))
	id, events, err := c.Ask(context.Background(), client.Query{Query: "why?"}, "key")
	if err != nil || id != "t1" {
		t.Fatalf("turn %q, %v", id, err)
	}
	var types []domain.EventType
	for event, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, event.Type)
	}
	if diff := cmp.Diff([]domain.EventType{"intent", "text_delta", "done"}, types); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	want := []string{"POST /query/stream ", "GET /turns/t1/events 1", "GET /turns/t1/events 2.3"}
	if diff := cmp.Diff(want, resumed); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestRefusalsAreDomainErrors(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, `{"error":"the conversation is busy","code":"conflict"}`)
	})
	_, err := c.Answer(context.Background(), client.Query{Query: "why?"}, "key")
	if domain.CodeOf(err) != domain.CodeConflict || domain.PublicMessage(err) != "the conversation is busy" {
		t.Errorf("got %v", err)
	}
}

func TestAnotherProgramOnThePort(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<h1>Hello</h1>", http.StatusNotFound) })
	err := c.Ready(context.Background())
	if domain.CodeOf(err) != domain.CodeUpstream || !strings.Contains(err.Error(), "check the address") {
		t.Errorf("got %v", err)
	}
}

// Why a server is not ready is repeated, and who waits for it learns that.
func TestAServerThatIsNotReady(t *testing.T) {
	t.Parallel()
	ready := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"status":"unavailable","checks":[{"name":"postgres","ok":true},{"name":"disk","ok":false,"error":"it is full"}]}`)
	})
	err := ready.Ready(context.Background())
	if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(err.Error(), "not ready: disk: it is full") {
		t.Errorf("got %v", err)
	}
	began := time.Now()
	full := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if time.Since(began) > time.Second {
			fmt.Fprint(w, `[]`)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error":"the disk is full","code":"unavailable"}`)
	})
	var told []string
	full.Waits = func(reason string) { told = append(told, reason) }
	if _, err := full.Repositories(context.Background()); err != nil || len(told) != 1 || told[0] != "the disk is full" {
		t.Errorf("told %q, %v", told, err)
	}
}

func TestAwayServerIsNamed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c := client.New(server.URL, "t", 0)
	_, err := c.Repositories(context.Background())
	if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(domain.PublicMessage(err), "harvest up") {
		t.Errorf("got %v", err)
	}
}

// A server on another machine is not started here. (A name with an empty part is never looked up.)
func TestAFarServerIsNotToBeStarted(t *testing.T) {
	t.Parallel()
	c := client.New("http://a..b", "t", 0)
	defer c.Close()
	_, err := c.Repositories(context.Background())
	if message := domain.PublicMessage(err); domain.CodeOf(err) != domain.CodeUnavailable || strings.Contains(message, "harvest up") || !strings.Contains(message, "check the address") {
		t.Errorf("got %v", err)
	}
}

func TestAnswerKeepsTheServersWords(t *testing.T) {
	t.Parallel()
	const body = `{"answer":"abc","sources":[],"tool_calls_made":0,"new_field":[1,2]}`
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/query" || r.Header.Get("Idempotency-Key") != "key" {
			t.Errorf("%s with key %q", r.URL.Path, r.Header.Get("Idempotency-Key"))
		}
		var q client.Query
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Repositories[0] != "a/b" {
			t.Errorf("the body is %+v, %v", q, err)
		}
		fmt.Fprint(w, body+"\n")
	})
	got, err := c.Answer(context.Background(), client.Query{Query: "why?", Repositories: []string{"a/b"}}, "key")
	if err != nil || string(got) != body {
		t.Errorf("got %s, %v", got, err)
	}
}

// A project's feed goes on after the end of a turn, and after each break where it was.
func TestAFeedIsFollowedOverBreaks(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var resumed []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		resumed = append(resumed, r.URL.Path+" "+r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream")
		switch calls.Add(1) {
		case 1:
			fmt.Fprint(w, "data: {\"type\":\"presence\",\"users\":[]}\n\nid: 2_1:1\ndata: {\"type\":\"done\"}\n\n")
		case 2:
			fmt.Fprint(w, "id: 3\ndata: {\"type\":\"suggestions\"}\n\nid: 4\ndata: {\"ty")
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":"there is no project","code":"not_found"}`)
		}
	})
	var types []domain.EventType
	var last error
	for event, err := range c.FollowProject(context.Background(), "p", "1") {
		if last = err; err == nil {
			types = append(types, event.Type)
		}
	}
	if diff := cmp.Diff([]domain.EventType{"presence", "done", "suggestions"}, types); diff != "" || domain.CodeOf(last) != domain.CodeNotFound {
		t.Errorf("it ends with %v; events (-want +got):\n%s", last, diff)
	}
	if diff := cmp.Diff([]string{"/projects/p/events 1", "/projects/p/events 2_1:1", "/projects/p/events 3"}, resumed); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

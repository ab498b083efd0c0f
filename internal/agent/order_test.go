package agent_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A result that is refused a few times is not overtaken by those behind it.
func TestRefusedResultsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	s.faults(func(p post, n int) *answer {
		if p.Path == "/agent/results" && n < 3 {
			return &answer{http.StatusInternalServerError, `{"error":"it broke","code":"internal"}`}
		}
		return nil
	})
	d.start()
	s.execute("c0", "echo 0")
	s.until("a refusal", func() bool { return len(s.paths("/agent/results")) > 0 })
	for i := 1; i < 4; i++ {
		s.execute(fmt.Sprintf("c%d", i), "echo")
	}
	s.until("all results", func() bool { return len(s.results()) == 4 })
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, p := range s.paths("/agent/results") {
		if first := strings.Contains(string(p.Body), `"request_id":"c0"`); first != (i <= 3) {
			t.Errorf("post %d is %.40s", i, p.Body)
		}
	}
}

// A server that greets and then refuses is not one that is there: the waits grow.
func TestAConnectionThatIsRefusedAfterAllIsNoGoodOne(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.greeting = func(own *stream) { own.send <- []byte("data: {\"type\":\"error\",\"message\":\"not now\"}\n\n") }
	d := newDaemon(t, s)
	d.start()
	for i := 1; i <= 2; i++ {
		s.connection(i)
		for deadline := time.Now().Add(patience); strings.Count(d.log.String(), "not now") < i; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the agent does not hear that it is refused")
			}
		}
		s.drop()
	}
	s.connection(3)
	if waits := d.waits(); len(waits) != 2 || waits[0] > time.Second || waits[1] < time.Second {
		t.Errorf("it waited %s", waits)
	}
}

// An agent waits for as long as the server asks it to.
func TestWaitsAsTheServerAsks(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.busy = "2"
	d := newDaemon(t, s)
	d.start()
	d.says("503")
	if waits := d.waits(); len(waits) == 0 || waits[0] != 2*time.Second {
		t.Errorf("asked to wait two seconds it waits %s", waits)
	}
	s.mu.Lock()
	s.busy = ""
	s.mu.Unlock()
	s.connected()
}

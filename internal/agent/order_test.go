package agent_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agent"
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

// A server that greets and then refuses is not one that is there, however long it takes for
// that: the waits grow.
func TestAConnectionThatIsRefusedAfterAllIsNoGoodOne(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.greeting = func(own *stream) { own.send <- []byte("data: {\"type\":\"error\",\"message\":\"not now\"}\n\n") }
	d := newLocal(t, s, func(c *agent.Config) { c.GoodAfter = 1 })
	for i := 1; i <= 2; i++ {
		s.connection(i)
		d.log.saysAgain(t, "not now", i)
		s.drop()
	}
	s.connection(3)
	if waits := d.log.waits(t); len(waits) != 2 || waits[0] > time.Second || waits[1] < time.Second {
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
	d.log.says(t, "503")
	if waits := d.log.waits(t); len(waits) == 0 || waits[0] != 2*time.Second {
		t.Errorf("asked to wait two seconds it waits %s", waits)
	}
	s.mu.Lock()
	s.busy = ""
	s.mu.Unlock()
	s.connected()
}

// posts gives the posts of a command's results; s.mu is held.
func (s *server) postsOf(id string) (list []post) {
	for _, p := range s.paths("/agent/results") {
		if strings.Contains(string(p.Body), `"request_id":"`+id+`"`) {
			list = append(list, p)
		}
	}
	return list
}

// However often a result is refused, and by whom, it comes whole in the end. What is no fault of
// the result's holds up all that is behind it; what is one lets it pass in the end.
func TestRefusalsLoseNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refusal answer
		times   int
		waits   bool // those behind it, too
	}{
		"a proxy without a server":     {answer{http.StatusBadGateway, "<html>bad gateway</html>"}, 8, true},
		"a server that starts":         {answer{http.StatusServiceUnavailable, `{"error":"try again","code":"unavailable"}`}, 8, true},
		"too many":                     {answer{http.StatusTooManyRequests, `{"error":"try again","code":"rate_limited"}`}, 8, true},
		"another server":               {answer{http.StatusNotFound, "<html>nginx</html>"}, 8, false},
		"a server that fails":          {answer{http.StatusInternalServerError, `{"error":"it broke","code":"internal"}`}, 4, false},
		"a server that does not know":  {answer{http.StatusNotFound, `{"error":"no such command","code":"not_found"}`}, 4, false},
		"a redirect to somewhere else": {answer{http.StatusTemporaryRedirect, "/agent/elsewhere"}, 4, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			d := newDaemon(t, s)
			s.faults(func(p post, _ int) *answer {
				if p.Path == "/agent/results" && len(s.postsOf("c0")) < c.times {
					return &c.refusal
				}
				return nil
			})
			d.start()
			s.execute("c0", "echo zero")
			for i := 1; i <= c.times; i++ { // each new result is a new attempt
				s.until("a refusal", func() bool { return len(s.postsOf("c0")) >= i })
				s.execute(fmt.Sprintf("c%d", i), "true")
			}
			if result := s.result("c0"); string(result.StdoutHead) != "zero\n" {
				t.Errorf("the result is %+v", result)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if first := s.results()[0].RequestID; c.waits && first != "c0" {
				t.Errorf("the result of %s came first", first)
			}
			if len(s.paths("/agent/elsewhere")) > 0 {
				t.Error("a redirect was followed")
			}
		})
	}
}

// A result of a command that the server does not know is dropped, though not at once.
func TestResultsThatNobodyWantsAreDropped(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	s.faults(func(p post, _ int) *answer {
		if strings.Contains(string(p.Body), `"request_id":"c0"`) {
			return &answer{http.StatusNotFound, `{"error":"no such command","code":"not_found"}`}
		}
		return nil
	})
	d.start()
	s.execute("c0", "echo zero")
	for i := 1; i < 5; i++ {
		s.until("a refusal", func() bool { return len(s.postsOf("c0")) >= i })
		s.execute(fmt.Sprintf("c%d", i), "true")
	}
	d.forgets()
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.postsOf("c0")); n != 5 {
		t.Errorf("it was posted %d times", n)
	}
}

// Where the server wants no output, none is posted, and the result has it.
func TestOutputThatNobodyWantsIsNotPosted(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]answer{
		"over":    {http.StatusOK, `{"ok":true,"over":true}`},
		"unknown": {http.StatusNotFound, `{"error":"no such command","code":"not_found"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			d := newDaemon(t, s)
			s.faults(func(p post, _ int) *answer {
				if p.Path == "/agent/output" {
					return &refusal
				}
				return nil
			})
			d.start()
			s.execute("c1", `echo begin; until [ -e `+d.folder+`/go ]; do sleep 0.01; done; for i in $(seq 60); do echo more; sleep 0.01; done; echo end`)
			s.until("an output", func() bool { return len(s.paths("/agent/output")) > 0 })
			d.release()
			result := s.result("c1")
			if want := "begin\n" + strings.Repeat("more\n", 60) + "end\n"; string(result.StdoutHead) != want {
				t.Errorf("the result has %q", result.StdoutHead)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if n := len(s.paths("/agent/output")); n != 1 {
				t.Errorf("output was posted %d times", n)
			}
		})
	}
}

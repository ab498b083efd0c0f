package agent_test

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// machine gives the id that the nth connection came with.
func (s *server) machine(n int) string {
	s.connection(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	query, err := url.ParseQuery(s.hellos[n-1].query)
	if err != nil {
		s.t.Fatal(err)
	}
	return query.Get(agentwire.ParamMachine)
}

// A machine whose disk was copied amid a command of its is another one: it tells nothing of
// that, and never runs it.
func TestCopiedMachineKnowsNothingOfTheFirst(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	first := s.machine(1)
	s.execute("c1", once(d, "c1"))
	s.started("c1", 1)
	d.stop()
	path := filepath.Join(d.state, "machine")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`"boot":"[^"]*","init":"[^"]*","machine_id":"[^"]*","product_uuid":"[^"]*","addresses":[^}]*`).
		ReplaceAll(text, []byte(`"boot":"before","init":"1","machine_id":"first","product_uuid":"first","addresses":["00:16:3e:00:00:01"]`))
	if err := os.WriteFile(path, text, 0o600); err != nil || !strings.Contains(string(text), "first") {
		t.Fatal(string(text), err)
	}
	d.start()
	if second := s.machine(2); second == first || second == "" {
		t.Errorf("the copy is %q, the first %q", second, first)
	}
	d.log.says(t, "made on another machine")
	s.send(agentwire.Message{Type: agentwire.Execute, RequestID: "c1", Command: once(d, "c1"), TimeoutSecs: 30, Begun: true})
	s.send(agentwire.Message{Type: agentwire.CancelRun, RequestID: "c2", Begun: true})
	for _, id := range []string{"c1", "c2"} {
		if result := s.result(id); result.Outcome != agentwire.Unknown || !strings.Contains(result.Error, "no record of it") {
			t.Errorf("%s ended %q: %s", id, result.Outcome, result.Error)
		}
	}
	if n := d.runs("c1"); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	d.release()
}

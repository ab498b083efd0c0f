package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/procs"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// once is a command that notes each of its runs, waits for a file, and then says so.
func once(d *daemon, id string) string {
	return fmt.Sprintf(`echo run >> %[1]s/ran-%[2]s; until [ -e %[1]s/go ]; do sleep 0.01; done; echo done-%[2]s; exit 3`, d.folder, id)
}

func (d *daemon) release() {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.folder, "go"), nil, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) runs(id string) int {
	text, _ := os.ReadFile(filepath.Join(d.folder, "ran-"+id))
	return strings.Count(string(text), "run")
}

func expectDone(t *testing.T, d *daemon, result agentwire.Result) {
	t.Helper()
	id := result.RequestID
	if result.Outcome != agentwire.Exited || result.ExitCode == nil || *result.ExitCode != 3 || string(result.StdoutHead) != "done-"+id+"\n" {
		said, _ := json.Marshal(result)
		t.Errorf("%s ended so: %s", id, said)
	}
	if n := d.runs(id); n != 1 {
		t.Errorf("%s ran %d times", id, n)
	}
}

func TestKilledAgentLosesNoCommand(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]string{"while it runs": "later", "and it ends meanwhile": "before"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			d := newDaemon(t, s)
			d.start()
			s.execute("c1", once(d, "c1"))
			s.started("c1", 1)
			shim := d.shim("c1")
			d.kill()
			if ends == "before" {
				d.release()
				d.nothingLeft()
			}
			d.start()
			s.connection(2)
			if ends == "later" {
				s.execute("c1", once(d, "c1"))
				s.started("c1", 2)
				if again := d.shim("c1"); again != shim {
					t.Errorf("the shim was %d and is %d", shim, again)
				}
				d.release()
			}
			expectDone(t, d, s.result("c1"))
			d.nothingLeft()
		})
	}
}

func TestKilledAtAnyMomentACommandRunsOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.release()
	for i := range 40 {
		id := fmt.Sprintf("c%d", i)
		d.start()
		s.connection(2*i + 1)
		s.execute(id, once(d, id))
		if i > 0 {
			time.Sleep(time.Duration(i) * 500 * time.Microsecond) // the moment is what is tried
		}
		d.kill()
		s.until("the end of the connection", func() bool { return len(s.streams) == 0 })
		d.start()
		s.connection(2*i + 2)
		s.execute(id, once(d, id))
		expectDone(t, d, s.firstResult(id))
		d.kill()
	}
	d.nothingLeft()
}

func TestUnacknowledgedResultsAreSentAgainInOrder(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.release()
	s.faults(func(p post, n int) *answer {
		switch {
		case p.Path != "/agent/results":
			return nil
		case n%3 == 0:
			return &answer{http.StatusInternalServerError, `{"error":"it broke","code":"internal"}`}
		case n%3 == 1:
			return &answer{http.StatusBadGateway, "<html>no server</html>"}
		}
		return &answer{http.StatusOK + 4, ""}
	})
	d.start()
	const count = 5
	for i := range count {
		id := fmt.Sprintf("c%d", i)
		s.execute(id, once(d, id))
		d.file(filepath.Join(d.folder, "ran-"+id))
	}
	s.until("attempts", func() bool { return len(s.paths("/agent/results")) >= 3 })
	d.kill()
	s.faults(nil)
	d.start()
	for i := range count {
		expectDone(t, d, s.result(fmt.Sprintf("c%d", i)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, result := range s.results() {
		if want := fmt.Sprintf("c%d", i); result.RequestID != want {
			t.Errorf("result %d is that of %s", i, result.RequestID)
		}
	}
}

func TestStrangersAnswersAcknowledgeNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	s.faults(func(p post, n int) *answer {
		if p.Path != "/agent/results" || n >= 4 {
			return nil
		}
		return []*answer{
			{http.StatusOK, "<html>sign in to the airport's network</html>"},
			{http.StatusNotFound, "<html>nginx</html>"},
			{http.StatusOK, `{"ok":false}`},
			{http.StatusFound, ""},
		}[n]
	})
	d.start()
	s.execute("c1", "echo hello")
	s.until("the fifth attempt", func() bool { return len(s.paths("/agent/results")) == 5 })
	if result := s.result("c1"); string(result.StdoutHead) != "hello\n" {
		t.Errorf("the result is %+v", result)
	}
}

func TestOneResultThatIsRefusedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	s.faults(func(p post, _ int) *answer {
		// As a store that can't take these bytes: of the output, not of how it ended.
		if p.Path == "/agent/results" && strings.Contains(string(p.Body), `"stdout_head":"AA=="`) {
			return &answer{http.StatusInternalServerError, `{"error":"it broke","code":"internal"}`}
		}
		return nil
	})
	d.start()
	s.execute("bad", `printf '\0'; exit 4`)
	s.until("an attempt", func() bool { return len(s.paths("/agent/results")) > 0 })
	s.execute("good", "echo good")
	if result := s.result("good"); string(result.StdoutHead) != "good\n" {
		t.Errorf("the result is %+v", result)
	}
	if result := s.result("bad"); result.ExitCode == nil || *result.ExitCode != 4 || result.StdoutBytes != 1 {
		t.Errorf("the result that was refused is %+v", result)
	}
}

func TestRedeliveredCommandsAreAnsweredAndNotRun(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.execute("c1", once(d, "c1"))
	s.started("c1", 1)
	s.execute("c1", once(d, "c1"))
	s.started("c1", 2)
	d.release()
	expectDone(t, d, s.result("c1"))
	s.execute("c1", once(d, "c1"))
	again := s.resultAgain("c1", 2)
	d.stop()
	d.start()
	s.connection(2)
	s.execute("c1", once(d, "c1"))
	for _, result := range []agentwire.Result{again, s.resultAgain("c1", 3)} {
		if result.Outcome != agentwire.Exited || result.ExitCode == nil || *result.ExitCode != 3 || result.StdoutBytes != int64(len("done-c1\n")) {
			t.Errorf("the answer from the journal is %+v", result)
		}
	}
	if n := d.runs("c1"); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	d.forgets()
}

func TestKilledShimIsUnknownAndLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, agentToo := range map[string]bool{"the shim": false, "both": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			d := newDaemon(t, s)
			d.start()
			// What a shim leaves is found by the id of its command: those of other tests are others.
			id := fmt.Sprintf("killed-%t", agentToo)
			command := `echo before; setsid sleep 1001 & (setsid setsid sleep 1002 &) ; nohup sleep 1003 & `
			if !agentToo {
				command += `env -i setsid sleep 1004 & ` // only the agent that was there can know
			}
			s.execute(id, command+`echo x > `+d.folder+`/up; trap "" TERM HUP; while :; do sleep 1000; done`)
			s.output(id, "before")
			d.file(filepath.Join(d.folder, "up"))
			before := d.running()
			shim := d.shim(id)
			if agentToo {
				d.kill()
			}
			if err := unix.Kill(shim, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if agentToo {
				d.orphanEnds(before, shim) // there is no agent that could end it
				d.start()
			}
			result := s.result(id)
			if result.Outcome != agentwire.Unknown || result.ExitCode != nil || result.Error == "" || string(result.StdoutHead) != "before\n" {
				t.Errorf("the result is %+v", result)
			}
			for _, p := range before {
				if now, ok := findAlive(p.PID, p.Started); ok {
					t.Errorf("process %d is left of %d", now, len(before))
				}
			}
			d.nothingLeft()
			s.execute(id, "echo again")
			if again := s.resultAgain(id, 2); again.Outcome != agentwire.Unknown {
				t.Errorf("delivered again it ended %q", again.Outcome)
			}
		})
	}
}

// orphanEnds waits for the end of the process that a shim had started.
func (d *daemon) orphanEnds(before []procs.Process, shim int) {
	d.t.Helper()
	for _, p := range before {
		if p.Parent != shim || p.Session != shim {
			continue // what was orphaned, and taken in by the shim
		}
		if !within(func() bool { _, alive := findAlive(p.PID, p.Started); return !alive }) {
			d.t.Fatal("a command outlives its shim")
		}
		return
	}
	d.t.Fatal("the shim had no command")
}

func TestSilentServerHoldsUpNoCommand(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	s.faults(func(p post, _ int) *answer {
		if p.Path == "/agent/output" {
			return &answer{http.StatusServiceUnavailable, ""}
		}
		return nil
	})
	d.start()
	s.execute("c1", `head -c 8000000 /dev/zero; echo x > `+d.folder+`/written; until [ -e `+d.folder+`/go ]; do sleep 0.01; done`)
	d.file(filepath.Join(d.folder, "written"))
	s.until("an output that is refused", func() bool { return len(s.paths("/agent/output")) > 0 })
	d.release()
	if result := s.result("c1"); result.StdoutBytes != 8000000 || len(result.StdoutHead) != agentwire.HeadBytes || len(result.StdoutTail) != agentwire.TailBytes {
		t.Errorf("of 8,000,000 bytes %d were counted, %d and %d kept", result.StdoutBytes, len(result.StdoutHead), len(result.StdoutTail))
	}
}

func TestServerThatTakesLessGetsTheRestAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	s.faults(func(p post, n int) *answer {
		if p.Path != "/agent/output" || n >= 3 {
			return nil
		}
		// It takes 5 bytes, then forgets them, then has them all of a sudden.
		return &answer{http.StatusOK, []string{`{"ok":true,"stdout":5}`, `{"ok":true}`, `{"ok":true,"stdout":7}`}[n]}
	})
	d.start()
	s.execute("c1", `printf 0123456789; until [ -e `+d.folder+`/go ]; do sleep 0.01; done`)
	s.until("four posts", func() bool { return len(s.paths("/agent/output")) >= 4 })
	d.release()
	s.result("c1")
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, want := range []string{"0123456789", "56789", "0123456789", "789"} {
		out := decode[agentwire.Output](t, s.paths("/agent/output")[i].Body)
		if len(out.Chunks) != 1 || string(out.Chunks[0].Data) != want || out.StdoutBytes != 10 || out.Chunks[0].Offset != int64(10-len(want)) {
			t.Errorf("post %d was %+v, not %s", i, out, want)
		}
	}
}

func TestCommandsOfAnEarlierBootAreUnknown(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	before, err := journal.Open(d.state, "an earlier boot")
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"journaled", "begun"} {
		record, err := before.Begin(journal.Order{ID: id, Seq: int64(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		if id == "begun" {
			err = record.SetState(journal.State{Shim: 1, Begun: true})
		}
		if err := errors.Join(err, record.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	d.start()
	for _, id := range []string{"journaled", "begun"} {
		s.execute(id, once(d, id))
		if result := s.result(id); result.Outcome != agentwire.Unknown || !strings.Contains(result.Error, "machine was stopped") {
			t.Errorf("%s ended %q: %s", id, result.Outcome, result.Error)
		}
		if n := d.runs(id); n != 0 {
			t.Errorf("%s ran %d times", id, n)
		}
	}
}

func TestCommandsWorkWithTheUsualMask(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	wrapper := filepath.Join(d.folder, "wrapper")
	if err := os.WriteFile(wrapper, []byte("#!/bin/sh\numask 077\nexec "+binary+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	d.startBy(wrapper)
	s.execute("c1", "umask; pwd; echo $HOME; cat; ulimit -n")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(s.result("c1").StdoutHead); !strings.HasPrefix(got, "0022\n"+home+"\n"+home+"\n") {
		t.Errorf("commands find %q", got)
	}
}

package agent_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// nasty starts descendants that don't want to end: in sessions and groups of their own,
// orphaned, deaf to signals, and stopped. It notes that all are there.
func nasty(d *daemon) string {
	return `setsid bash -c 'trap "" TERM HUP INT; while :; do sleep 1000; done' &
(setsid bash -c '(sleep 1001 &) ; sleep 1002' &)
(bash -c 'trap "" TERM; (setsid nohup sleep 1003 >/dev/null 2>&1 &); sleep 1004' &)
env -i setsid sleep 1005 &
bash -c 'kill -STOP $$' &
until [ $(pgrep -c -f "sleep 100[0-5]$") -ge 6 ]; do sleep 0.01; done
echo x > ` + d.folder + `/up
`
}

func TestTimeLimitAndCancelEndAllDescendants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seconds int
		cancel  bool
		restart bool
		outcome agentwire.Outcome
	}{
		"time limit":                     {seconds: 2, outcome: agentwire.TimedOut},
		"time limit, the agent was away": {seconds: 2, restart: true, outcome: agentwire.TimedOut},
		"cancel":                         {seconds: 60, cancel: true, outcome: agentwire.Canceled},
		"cancel after a restart":         {seconds: 60, cancel: true, restart: true, outcome: agentwire.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			d := newDaemon(t, s)
			d.start()
			s.send(agentwire.Message{
				Type: agentwire.Execute, RequestID: "c1", TimeoutSecs: c.seconds,
				Command: nasty(d) + `echo said; trap "" TERM; while :; do sleep 1000; done`,
			})
			d.file(filepath.Join(d.folder, "up"))
			if n := len(d.running()); n < 10 {
				t.Errorf("only %d processes are there to be ended", n)
			}
			if c.restart {
				d.kill()
				d.start()
				s.connection(2)
			}
			if c.cancel {
				s.send(agentwire.Message{Type: agentwire.CancelRun, RequestID: "c1"})
			}
			result := s.result("c1")
			if result.Outcome != c.outcome || string(result.StdoutHead) != "said\n" || result.Swept < 8 {
				t.Errorf("it ended %q, with %q, %d others: %s", result.Outcome, result.StdoutHead, result.Swept, result.Error)
			}
			if result.ExitCode == nil || *result.ExitCode != 128+9 {
				t.Errorf("its exit code is %v", result.ExitCode)
			}
			d.nothingLeft()
		})
	}
}

func TestWhatACommandLeavesBehindIsEndedAndCounted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.execute("c1", nasty(d)+"echo over; exit 5")
	result := s.result("c1")
	if result.Outcome != agentwire.Exited || result.ExitCode == nil || *result.ExitCode != 5 || string(result.StdoutHead) != "over\n" {
		t.Errorf("the result is %+v", result)
	}
	if result.Swept < 8 {
		t.Errorf("%d processes were counted", result.Swept)
	}
	d.nothingLeft()
	began := time.Now()
	s.execute("c2", "echo one > >(cat); sleep 0.01 & echo two")
	result = s.result("c2")
	if result.Swept != 0 || !strings.Contains(string(result.StdoutHead), "one\n") || !strings.Contains(string(result.StdoutHead), "two\n") {
		t.Errorf("of what ends by itself %d were ended, and %q was seen", result.Swept, result.StdoutHead)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("that took %s", took)
	}
}

func TestCancelBeforeTheCommandRuns(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s, "max_commands = 1")
	d.start()
	s.send(agentwire.Message{Type: agentwire.CancelRun, RequestID: "early"})
	s.execute("early", "echo x > "+d.folder+"/ran")
	if result := s.result("early"); result.Outcome != agentwire.Canceled {
		t.Errorf("canceled before it came, it ended %q", result.Outcome)
	}
	s.execute("first", once(d, "first"))
	s.started("first", 1)
	s.execute("waits", "echo x > "+d.folder+"/ran")
	s.execute("waits", "echo x > "+d.folder+"/ran")
	s.send(agentwire.Message{Type: agentwire.CancelRun, RequestID: "waits"})
	if result := s.result("waits"); result.Outcome != agentwire.Canceled {
		t.Errorf("canceled while it waits, it ended %q", result.Outcome)
	}
	s.execute("second", "echo second")
	d.release()
	expectDone(t, d, s.result("first"))
	if result := s.result("second"); string(result.StdoutHead) != "second\n" {
		t.Errorf("the one that waited ended %+v", result)
	}
	if names, _ := filepath.Glob(filepath.Join(d.folder, "ran")); len(names) > 0 {
		t.Error("what was canceled ran")
	}
}

func TestSignalsAreExitCodes(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.execute("c1", "kill -SEGV $$")
	if result := s.result("c1"); result.ExitCode == nil || *result.ExitCode != 128+11 {
		t.Errorf("a signal gives %v", result.ExitCode)
	}
	s.execute("c2", "yes | head -1; echo ${PIPESTATUS[0]}")
	if result := s.result("c2"); string(result.StdoutHead) != "y\n141\n" {
		t.Errorf("pipes break by %q, %q", result.StdoutHead, result.StderrHead)
	}
}

func TestWhatCannotStartSaysSo(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	for id, c := range map[string]struct {
		m    agentwire.Message
		says string
	}{
		"nul":   {agentwire.Message{Command: "echo \x00"}, "NUL"},
		"name":  {agentwire.Message{Command: "true", Env: map[string]string{"A=B": "x"}}, `"A=B"`},
		"large": {agentwire.Message{Command: "echo " + strings.Repeat("x", 200<<10)}, "argument list too long"},
	} {
		c.m.Type, c.m.RequestID = agentwire.Execute, id
		s.send(c.m)
		result := s.result(id)
		if result.Outcome != agentwire.NotStarted || result.ExitCode != nil || !strings.Contains(result.Error, c.says) {
			t.Errorf("%s ended %q: %s", id, result.Outcome, result.Error)
		}
	}
	odd := "../" + strings.Repeat("ö/", 200)
	s.execute(odd, "echo odd")
	if result := s.result(odd); string(result.StdoutHead) != "odd\n" {
		t.Errorf("a command with a strange id ended %+v", result)
	}
}

func TestCommandsRunBesideEachOther(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	const count = 30
	for i := range count {
		id := fmt.Sprintf("c%d", i)
		s.execute(id, once(d, id))
	}
	for i := range count {
		d.file(filepath.Join(d.folder, fmt.Sprintf("ran-c%d", i)))
	}
	d.release()
	for i := range count {
		expectDone(t, d, s.result(fmt.Sprintf("c%d", i)))
	}
	d.nothingLeft()
}

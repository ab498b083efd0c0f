package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// marks tells apart the processes of tests that run beside each other.
var marks atomic.Int64

// nasty starts descendants that don't want to end: in sessions and groups of their own,
// orphaned, deaf to signals, and stopped. Once all are there it does what then says, and notes
// that.
func nasty(d *daemon, then string) string {
	mark := fmt.Sprintf("%d%03d", os.Getpid(), marks.Add(1)) // as a part of a second
	return strings.NewReplacer("MARK", mark, "FOLDER", d.folder, "THEN", then).Replace(`setsid bash -c 'trap "" TERM HUP INT; while :; do sleep 1000.MARK; done' &
(setsid bash -c '(sleep 1001.MARK &) ; sleep 1002.MARK' &)
(bash -c 'trap "" TERM; (setsid nohup sleep 1003.MARK >/dev/null 2>&1 &); sleep 1004.MARK' &)
env -i setsid sleep 1005.MARK &
bash -c 'kill -STOP $$' &
until [ $(pgrep -c -x -f "sleep 100[0-5][.]MARK") -ge 6 ]; do sleep 0.01; done
THEN
echo x > FOLDER/up
`)
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
			id := s.executeNasty(d, c.seconds)
			if n := len(d.running()); n < 10 {
				t.Errorf("only %d processes are there to be ended", n)
			}
			if c.restart {
				d.kill()
				d.start()
				s.connection(2)
			}
			if c.cancel {
				s.send(agentwire.Message{Type: agentwire.CancelRun, RequestID: id})
			}
			result := s.result(id)
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

// executeNasty has a command started that won't end, and gives its id once all that it starts is
// there. On a busy machine that may take longer than its time limit: then it gets twice as long.
func (s *server) executeNasty(d *daemon, seconds int) (id string) {
	s.t.Helper()
	for try := 1; try < 7; try++ {
		id = fmt.Sprintf("c%d", try)
		s.send(agentwire.Message{
			Type: agentwire.Execute, RequestID: id, TimeoutSecs: seconds,
			Command: nasty(d, `echo said; trap "" TERM`) + `while :; do sleep 1000; done`,
		})
		there := false
		within(func() bool {
			_, err := os.Stat(filepath.Join(d.folder, "up"))
			there = err == nil
			s.mu.Lock()
			defer s.mu.Unlock()
			return there || slices.ContainsFunc(s.results(), func(r agentwire.Result) bool { return r.RequestID == id })
		})
		if there {
			return id
		}
		seconds *= 2
	}
	s.t.Fatal("the processes are never there within the time limit")
	return ""
}

func TestWhatACommandLeavesBehindIsEndedAndCounted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.execute("c1", nasty(d, "")+"echo over; exit 5")
	result := s.result("c1")
	if result.Outcome != agentwire.Exited || result.ExitCode == nil || *result.ExitCode != 5 || string(result.StdoutHead) != "over\n" {
		t.Errorf("the result is %+v", result)
	}
	if result.Swept < 8 {
		t.Errorf("%d processes were counted", result.Swept)
	}
	d.nothingLeft()
	for i := 2; ; i++ { // on a busy machine it may take what ends by itself longer than that is waited for
		id := fmt.Sprintf("c%d", i)
		s.execute(id, "echo one > >(cat); sleep 0.01 & echo two")
		result = s.result(id)
		if !strings.Contains(string(result.StdoutHead), "one\n") && result.Swept == 0 || !strings.Contains(string(result.StdoutHead), "two\n") {
			t.Errorf("%q was seen", result.StdoutHead)
		}
		if result.Swept == 0 {
			break
		}
		if i == 20 {
			t.Fatalf("of what ends by itself %d were ended, again and again", result.Swept)
		}
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

// No more commands run at once than the machine's settings allow; the others have their turn.
func TestCommandsWaitForAPlace(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s, "max_commands = 1")
	d.start()
	log := filepath.Join(d.folder, "log")
	for i := range 4 {
		s.execute(fmt.Sprintf("c%d", i), "printf '(' >> "+log+"; sleep 0.2; printf ')' >> "+log)
	}
	for i := range 4 {
		s.result(fmt.Sprintf("c%d", i))
	}
	if got := d.file(log); got != "()()()()" {
		t.Errorf("they began and ended as %s", got)
	}
}

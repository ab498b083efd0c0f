package agent_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/settings"
	"github.com/harvest-engine/harvest/internal/agent/shim"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// A hang-up, as of the session in which somebody started the agent by hand, ends no command; what
// a machine that shuts down sends does, and nobody takes that for an end of the command's own.
func TestSignalsToAShim(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.execute("c1", fmt.Sprintf(`until [ -e %[1]s/hung-up ]; do sleep 0.01; done; echo goes on; until [ -e %[1]s/go ]; do sleep 0.01; done; exit 3`, d.folder))
	s.started("c1", 1)
	if err := unix.Kill(d.shim("c1"), unix.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.folder, "hung-up"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.output("c1", "goes on")
	d.release()
	if result := s.result("c1"); result.Outcome != agentwire.Exited || result.ExitCode == nil || *result.ExitCode != 3 {
		t.Errorf("after a hang-up it ended %+v", result)
	}
	s.execute("c2", "echo before; exec sleep 1001")
	s.output("c2", "before")
	if err := unix.Kill(d.shim("c2"), unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if result := s.result("c2"); result.Outcome != agentwire.Unknown || !strings.Contains(result.Error, "from outside") {
		t.Errorf("ended from outside it is %+v", result)
	}
	d.nothingLeft()
}

// The shim of a console does not end it by a hang-up either: that comes as the agent closes the
// terminal, and what is left then gets its time.
func TestAHangUpEndsNoConsole(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	conn := s.console("s1")
	for _, p := range d.running() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		if string(line) == "harvest-agent\x00"+shim.ConsoleVerb+"\x00" {
			if err := unix.Kill(p.PID, unix.SIGHUP); err != nil {
				t.Fatal(err)
			}
		}
	}
	types(t, conn, "sleep 0.5; echo goes o''n\n") // for longer than what is left would have
	shows(t, conn, "goes on")
}

// A command that was canceled before it began never runs, whoever was killed in between: the wish
// stands in its record.
func TestCanceledBeforeItBegan(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	before, err := journal.Open(d.state, settings.Boot())
	if err != nil {
		t.Fatal(err)
	}
	canceledRecord(t, before, "c1")
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	d.start()
	s.execute("c1", once(d, "c1"))
	for n := 1; n <= 2; n++ { // of the journal, and as it was delivered again
		if result := s.resultAgain("c1", n); result.Outcome != agentwire.Canceled || result.ExitCode != nil {
			t.Errorf("it ended %+v", result)
		}
		s.execute("c1", once(d, "c1"))
	}
	if n := d.runs("c1"); n != 0 {
		t.Errorf("it ran %d times", n)
	}
}

func canceledRecord(t *testing.T, j *journal.Journal, id string) {
	t.Helper()
	record, err := j.Begin(journal.Order{ID: id, Seq: 1, Accepted: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := record.SetWish(journal.Wish{Cancel: true}); err != nil {
		t.Fatal(err)
	}
	if err := record.Close(); err != nil {
		t.Fatal(err)
	}
}

// A shim looks at the wish before it begins anything.
func TestAShimBeginsNothingThatWasCanceled(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j, err := journal.Open(filepath.Join(folder, "state"), settings.Boot())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	record, err := j.Begin(journal.Order{ID: "c1", Seq: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = record.Close() })
	if err := record.SetWish(journal.Wish{Cancel: true}); err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	process, err := shim.Start(record, shim.Spec{
		ID: "c1", Shell: bash, Command: "echo x > ran", Env: os.Environ(), Folder: folder, Timeout: time.Minute,
	}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	<-process.Gone
	if ending, ended, err := record.Ending(); !ended || ending.Outcome != agentwire.Canceled || ending.ExitCode != nil {
		t.Errorf("it ended %+v, %t, %v", ending, ended, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "ran")); err == nil {
		t.Error("it ran all the same")
	}
}

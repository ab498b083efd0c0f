package agent_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agent/procs"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// A command has a process group of its own in a session of its own, that of its shim: neither
// signals to its group nor the end of the agent's session reach others.
func TestCommandsHaveAGroupAndASessionOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.execute("c1", `echo $$ > `+d.folder+`/pid.new; mv `+d.folder+`/pid.new `+d.folder+`/pid; until [ -e `+d.folder+`/go ]; do sleep 0.01; done`)
	pid, err := strconv.Atoi(strings.TrimSpace(d.file(filepath.Join(d.folder, "pid"))))
	if err != nil {
		t.Fatal(err)
	}
	shim := d.shim("c1")
	group, err := unix.Getpgid(pid)
	if err != nil || group != pid {
		t.Errorf("process %d is of the group %d, %v", pid, group, err)
	}
	if p, ok := procs.Find(pid); !ok || p.Session != shim || p.Parent != shim {
		t.Errorf("process %d of the shim %d is %+v", pid, shim, p)
	}
	d.release()
	s.result("c1")
}

// A command's variables take the place of the agent's; so does its id, where the agent was
// started by a command itself.
func TestVariablesStandOnceInTheEnvironment(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start("GREETING=hello", "HARVEST_COMMAND_ID=another")
	s.send(agentwire.Message{
		Type: agentwire.Execute, RequestID: "c1", Env: map[string]string{"GREETING": "bye", "EMPTY": ""},
		Command: `tr '\0' '\n' < /proc/$$/environ | grep -E '^(GREETING|HARVEST_COMMAND_ID|EMPTY)=' | sort`,
	})
	if got, want := string(s.result("c1").StdoutHead), "EMPTY=\nGREETING=bye\nHARVEST_COMMAND_ID=c1\n"; got != want {
		t.Errorf("the environment has\n%s", got)
	}
}

// What is swept is what a command left behind: its first process is none of that.
func TestTheFirstProcessIsNotCounted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	s.send(agentwire.Message{Type: agentwire.Execute, RequestID: "c1", TimeoutSecs: 1, Command: "exec sleep 1000"})
	result := s.result("c1")
	if result.Outcome != agentwire.TimedOut || result.ExitCode == nil || *result.ExitCode != 128+15 || result.Swept != 0 {
		t.Errorf("it ended %+v", result)
	}
}

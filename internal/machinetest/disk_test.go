package machinetest_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// confined runs the agent of a machine so that its state folder is a small disk of its own.
func (m *machine) confined() {
	m.s.t.Helper()
	state := filepath.Join(m.dir, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		m.s.t.Fatal(err)
	}
	path := program(m.s.t, "harvest-agent")
	m.process = startProcess(m.s.t, filepath.Join(m.dir, "agent.log"), "", func() *exec.Cmd {
		flags := "-m"
		if os.Getuid() != 0 {
			flags = "-rm"
		}
		script := `mount -t tmpfs -o size=1m,mode=700 tmpfs "$1" && exec "$2" -c "$3"`
		return exec.Command("unshare", flags, "sh", "-c", script, "sh", state, path, m.config())
	})
	m.comes()
}

// An agent whose disk is full begins nothing that it could not answer for, and says so; what
// runs goes on to its end, which is told; and with room all is well again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	m := s.installed(s.api.address)
	m.confined()
	full := filepath.Join(m.dir, "state", "full")

	runs := m.newJob().order().speaks()
	clears := m.prepare()
	clears.gate()
	clears.line = fmt.Sprintf("cd %s; echo run >>runs; read -r word <gate; rm %s; exit %d", clears.dir, full, exitCode)
	clears.order().begins()
	fills := m.prepare()
	fills.line = fmt.Sprintf("cd %s; echo run >>runs; cat /dev/zero >%s 2>/dev/null; exit %d", fills.dir, full, exitCode)
	fills.order().ended()

	refused := m.newWord().order()
	c := refused.over()
	if c.Status != domain.CommandFailed || refused.runs() != 0 || !strings.Contains(c.Error, "no space left") {
		t.Errorf("with a full disk a command, which was run %d times, is %s: %q", refused.runs(), c.Status, c.Error)
	}
	refused.settled(c)
	runs.release()
	c = runs.over()
	if c.Status != domain.CommandDone || c.ExitCode == nil || *c.ExitCode != exitCode || runs.runs() != 1 {
		t.Errorf("the command that ran when the disk became full is %s: %q", c.Status, c.Error)
	}
	whole := bytes.Equal(c.Stdout.Head, runs.stdout) && bytes.Equal(c.Stderr.Head, runs.stderr)
	if !whole && !strings.Contains(c.Error, "could not be kept") || !bytes.HasPrefix(runs.stdout, c.Stdout.Head) || c.Stdout.Bytes != int64(len(runs.stdout)) {
		t.Errorf("of its output %d of %d bytes are kept, or others: %q", len(c.Stdout.Head), c.Stdout.Bytes, c.Error)
	}
	runs.settled(c)

	clears.release()
	clears.ended()
	m.newWord().order().ended()
}

package machinetest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// A configuration that is copied to another machine gives that nothing: what is for the first
// one is run there, and once, even while it is away.
func TestCopiedConfiguration(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	m := s.machine(s.api.address)
	running := m.newJob().order().begins()
	config, err := os.ReadFile(m.config()) // with the permanent token
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	twin := startProcess(t, filepath.Join(dir, "agent.log"), "the server does not take agent_token", func() *exec.Cmd {
		return exec.Command(program(t, "harvest-agent"), "-c", path)
	})
	word := m.newWord().order()
	running.release()
	running.ended()
	word.ended()

	m.kill()
	m.goes(patience)
	twin.kill()
	waits := m.newWord().order()
	twin.start() // and is refused again
	if c := waits.now(); c.Status != domain.CommandQueued {
		t.Errorf("the command is %s", c.Status)
	}
	m.start()
	waits.ended()
	log, err := os.ReadFile(filepath.Join(dir, "agent.log"))
	if err != nil || bytes.Contains(log, []byte("msg=connected")) {
		t.Errorf("the twin was let in: %v\n%s", err, log)
	}
}

package procs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/harvest-engine/harvest/internal/agent/procs"
)

// A process may have any name, such as one that looks like what stands behind it in /proc.
func TestFindReadsAnyName(t *testing.T) {
	t.Parallel()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a) Z 1 1 (")
	if err := os.WriteFile(path, program, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "1000")
	cmd.Env = []string{"MARK=x"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p, ok := procs.Find(cmd.Process.Pid)
	if !ok || p.PID != cmd.Process.Pid || p.Parent != os.Getpid() || !p.Alive() || p.Started == 0 {
		t.Errorf("it is %+v, %v", p, ok)
	}
	all, err := procs.List()
	if err != nil {
		t.Fatal(err)
	}
	below := procs.Below(all, os.Getpid())
	found := false
	for _, child := range below {
		found = found || child.PID == cmd.Process.Pid
	}
	if !found {
		t.Errorf("it is not among %+v", below)
	}
	if marked := procs.Marked([]procs.Process{p}, "MARK=x"); len(marked) != 1 {
		t.Errorf("by its mark are found %+v", marked)
	}
	if marked := procs.Marked([]procs.Process{p}, "MARK="); len(marked) != 0 {
		t.Errorf("by the beginning of its mark are found %+v", marked)
	}
}

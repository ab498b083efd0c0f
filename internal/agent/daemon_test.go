package agent_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/procs"
	"github.com/harvest-engine/harvest/internal/agent/shim"
	"github.com/harvest-engine/harvest/internal/testkit/built"
)

// binary is the real harvest-agent, built once.
var binary string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == shim.Verb { // started by an agent, or a test, of this process
		if err := shim.Main(); err != nil {
			panic(err)
		}
		return
	}
	var err error
	if binary, err = built.Static("cmd/harvest-agent"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// daemon is a real agent with its files.
type daemon struct {
	t      *testing.T
	folder string
	config string
	state  string
	log    logbook
	cmd    *exec.Cmd
	gone   chan struct{}
}

// newDaemon writes the files of an agent for the server; lines are added to its settings.
func newDaemon(t *testing.T, s *server, lines ...string) *daemon {
	t.Helper()
	folder := t.TempDir()
	d := &daemon{t: t, folder: folder, config: filepath.Join(folder, "config.toml"), state: filepath.Join(folder, "state")}
	text := fmt.Sprintf("# by hand\nserver_url = %q\nagent_token = %q\n%s\n", s.URL, installToken, strings.Join(lines, "\n"))
	if err := os.WriteFile(d.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.kill()
		d.sweep()
		for _, bad := range []string{"panic: ", "DATA RACE", "fatal error: "} {
			if strings.Contains(d.log.String(), bad) {
				t.Errorf("the agent reports a %s", bad)
			}
		}
		if t.Failed() {
			t.Logf("the agent's log:\n%s", d.log.String())
		}
	})
	return d
}

// start starts the agent.
func (d *daemon) start(env ...string) {
	d.t.Helper()
	d.startBy(binary, env...)
}

// startBy starts the agent by a program.
func (d *daemon) startBy(program string, env ...string) {
	d.t.Helper()
	d.cmd = exec.Command(program, "run", "-c", d.config)
	d.cmd.Env = append(os.Environ(), append(env, "DAEMON="+d.folder)...)
	d.cmd.Stderr = &d.log
	d.cmd.WaitDelay = time.Millisecond // shims hold the log open
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.gone = make(chan struct{})
	go func(cmd *exec.Cmd, gone chan struct{}) {
		_ = cmd.Wait()
		close(gone)
	}(d.cmd, d.gone)
}

// kill ends the agent as a crash does, and nothing else.
func (d *daemon) kill() {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Kill()
	<-d.gone
}

// stop ends the agent as a service manager does.
func (d *daemon) stop() {
	d.t.Helper()
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.gone:
	case <-time.After(patience):
		d.t.Fatal("the agent does not stop")
	}
}

// running gives all processes of this agent's commands and shims: they have its mark in
// their environment, or descend from those that have.
func (d *daemon) running() []procs.Process {
	all, err := procs.List()
	if err != nil {
		d.t.Fatal(err)
	}
	marked := procs.Marked(all, "DAEMON="+d.folder)
	var roots []int
	for _, p := range marked {
		roots = append(roots, p.PID)
	}
	found := append(marked, procs.Below(all, roots...)...)
	alive := found[:0]
	for _, p := range found {
		if p.Alive() && (d.cmd == nil || p.PID != d.cmd.Process.Pid) {
			alive = append(alive, p)
		}
	}
	return alive
}

func (d *daemon) sweep() { procs.End(d.running, 0) }

// within looks again and again, for what nothing tells of, such as the end of a process that is
// no child of ours, until check gives true; false where it never does.
func within(check func() bool) bool {
	for deadline := time.Now().Add(patience); !check(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// nothingLeft fails where any process of a command is alive. Processes that were killed take
// a moment to be gone.
func (d *daemon) nothingLeft() {
	d.t.Helper()
	var left []procs.Process
	within(func() bool { left = d.running(); return len(left) == 0 })
	for _, p := range left {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		d.t.Errorf("process %d is left: %q", p.PID, bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
	}
}

// shim gives the pid of the shim of a command.
func (d *daemon) shim(id string) (pid int) {
	d.t.Helper()
	isShim := func(p procs.Process) bool {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
		return string(line) == "harvest-agent\x00"+shim.Verb+"\x00"+id+"\x00"
	}
	if !within(func() bool {
		all := d.running()
		i := slices.IndexFunc(all, isShim)
		if i >= 0 {
			pid = all[i].PID
		}
		return i >= 0
	}) {
		d.t.Fatalf("there is no shim of %s", id)
	}
	return pid
}

// file waits until a file is there, and gives its text.
func (d *daemon) file(path string) (text string) {
	d.t.Helper()
	if !within(func() bool {
		found, err := os.ReadFile(path)
		text = string(found)
		return err == nil && text != ""
	}) {
		d.t.Fatalf("%s does not come", path)
	}
	return text
}

// forgets fails where files of commands stay whose results the server has. They go once the
// agent has read its answer.
func (d *daemon) forgets() {
	d.t.Helper()
	var names []string
	if !within(func() (gone bool) {
		var err error
		if names, err = filepath.Glob(filepath.Join(d.state, "commands", "*")); err != nil {
			d.t.Fatal(err)
		}
		return len(names) == 0
	}) {
		d.t.Errorf("of commands that are over %v stay", names)
	}
}

func findAlive(pid int, started uint64) (int, bool) {
	p, ok := procs.Find(pid)
	return pid, ok && p.Started == started && p.Alive()
}

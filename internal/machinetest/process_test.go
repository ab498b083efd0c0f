package machinetest_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"
)

// patience bounds what a test waits for: generous, since machines under test are busy.
const patience = 3 * time.Minute

// process is a program that can be killed and started again.
type process struct {
	t    *testing.T
	make func() *exec.Cmd
	log  string // the file that it writes to
	says string // what it writes once it is ready; "" where nobody waits for it

	cmd *exec.Cmd
}

// start starts the program, and waits until it is ready. One that runs goes on.
func (p *process) start() {
	p.t.Helper()
	if p.cmd != nil {
		return
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	before, err := log.Seek(0, 2)
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd = p.make()
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	if p.says == "" {
		return
	}
	eventually(p.t, p.log+" says "+p.says, func() bool {
		text, err := os.ReadFile(p.log)
		return err == nil && bytes.Contains(text[min(before, int64(len(text))):], []byte(p.says))
	})
}

// kill ends the program as kill -9 does. Doing it again changes nothing.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // killed
	p.cmd = nil
}

// startProcess starts a program that is killed when the test ends. Its log is shown where that
// fails.
func startProcess(t *testing.T, log, says string, make func() *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, make: make, log: log, says: says}
	t.Cleanup(func() {
		p.kill()
		if text, err := os.ReadFile(log); t.Failed() && err == nil {
			t.Logf("%s:\n%s", log, text[max(0, len(text)-20<<10):])
		}
	})
	p.start()
	return p
}

// eventually waits until something is so.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	within(t, patience, what, ok)
}

// within waits until something is so, but not longer than limit.
func within(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for since := time.Now(); !ok(); <-tick.C {
		if time.Since(since) > limit {
			t.Fatalf("it does not come to pass within %s that %s", limit, what)
		}
	}
}

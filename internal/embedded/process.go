package embedded

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// process is a child that was started.
type process struct {
	cmd  *exec.Cmd
	gone chan struct{} // closed once the child has ended and has been reaped
	err  error         // how it ended; to be read after gone is closed
}

// startProcess starts cmd in a process group of its own, so that a Ctrl-C in the terminal
// reaches us alone. Where the system can, the child gets the signal last when we die.
func startProcess(cmd *exec.Cmd, last syscall.Signal) (*process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	signalAtDeath(cmd.SysProcAttr, last)
	p := &process{cmd: cmd, gone: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel takes the end of the thread that forked for the parent's death, so one
		// thread stays with the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.gone)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", filepath.Base(cmd.Path), err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stop sends the signals in turn, giving the child grace to end after each, and kills it
// in the end. It returns once the child is gone.
func (p *process) stop(grace time.Duration, signals ...syscall.Signal) {
	for _, s := range append(signals, syscall.SIGKILL) {
		_ = p.cmd.Process.Signal(s) // fails only for a child that is gone
		select {
		case <-p.gone:
			return
		case <-time.After(grace):
		}
	}
	<-p.gone
}

// logLimit is the size from which a child's log is put aside at the child's next start.
const logLimit = 10 << 20

// openLog opens a child's log for appending. The child writes to the file itself, so that
// it never waits for us.
func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of logs: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() > logLimit {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("put the old log aside: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return file, nil
}

// tail gives the last lines of a log, cut to a readable length, for the message about a
// child that did not start.
func tail(path string) string {
	const lines, length = 4, 300
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	last := strings.Split(strings.TrimSpace(string(text)), "\n")
	last = last[max(0, len(last)-lines):]
	for i, line := range last {
		if len(line) > length {
			last[i] = strings.ToValidUTF8(line[:length], "") + "…"
		}
	}
	return strings.Join(last, "\n")
}

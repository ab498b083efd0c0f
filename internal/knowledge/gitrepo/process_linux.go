package gitrepo

import (
	"os/exec"
	"syscall"
)

// isolate gives a command a process group of its own, so that its helpers end with it, and
// lets it end with this process, so that none is left behind by a crash.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

//go:build unix && !linux

package gitrepo

import (
	"os/exec"
	"syscall"
)

// isolate gives a command a process group of its own, so that its helpers end with it.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

//go:build unix && !linux

package embedded

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// signalAtDeath does nothing here: the next start ends what is left over.
func signalAtDeath(*syscall.SysProcAttr, syscall.Signal) {}

// processStart tells when a running process began, in a form to compare.
func processStart(pid int) (string, bool) {
	out, err := exec.Command("ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	text := strings.TrimSpace(string(out))
	return text, err == nil && text != ""
}

// worksIn reports whether the process was started on the folder.
func worksIn(pid int, dir string) bool {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), dir)
}

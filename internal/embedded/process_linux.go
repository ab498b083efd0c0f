package embedded

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// signalAtDeath asks the kernel to send s to the child when its parent dies.
func signalAtDeath(attr *syscall.SysProcAttr, s syscall.Signal) { attr.Pdeathsig = s }

// processStart tells when a running process began, in a form to compare: the ticks since
// the boot, and the boot's id. A process id is used again; together with this it is not.
func processStart(pid int) (string, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	// The second field is the program's name in parentheses, which may hold anything.
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	if end < 0 || len(fields) < 20 || fields[0] == "Z" {
		return "", false
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", false
	}
	return fields[19] + "@" + strings.TrimSpace(string(boot)), true
}

// worksIn reports whether the process has dir as its working folder.
func worksIn(pid int, dir string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	return err == nil && cwd == dir
}

//go:build !unix

package gitrepo

import "os/exec"

// isolate leaves a command as it is: there are no process groups here.
func isolate(*exec.Cmd) {}

// Package built gives programs of this module for tests that run them, built. It is apart from
// testkit, so that the tests of small programs stay small.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
)

const module = "github.com/harvest-engine/harvest/"

var programs sync.Map // by package and kind: a function that builds it once

// Static builds the command in a folder of the module without cgo, once for a test binary, and
// gives the path of the program. It has a folder of its own, which goes when the test binary
// ends, however that ends.
func Static(folder string) (string, error) { return once(folder, "0") }

// Native builds it with cgo, as Static does otherwise.
func Native(folder string) (string, error) { return once(folder, "1") }

func once(folder, cgo string) (string, error) {
	build, _ := programs.LoadOrStore(folder+"@"+cgo, sync.OnceValues(func() (string, error) { return build(folder, cgo) }))
	return build.(func() (string, error))()
}

func build(folder, cgo string) (string, error) {
	dir, err := leased()
	if err != nil {
		return "", fmt.Errorf("make a folder for %s: %w", folder, err)
	}
	path := filepath.Join(dir, filepath.Base(folder))
	cmd := exec.Command("go", "build", "-o", path, module+folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", folder, err, out)
	}
	return path, nil
}

// leases are never closed by us: the end of the process does it.
var leases sync.Map

// leased makes a folder that a shell removes once this process is gone.
func leased() (string, error) {
	dir, err := os.MkdirTemp("", "harvest-program-")
	if err != nil {
		return "", err
	}
	end, lease, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer end.Close()
	remover := exec.Command("sh", "-c", `read -r _; rm -rf "$1"`, "sh", dir)
	remover.Stdin = end
	remover.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what interrupts the tests leaves it alone
	if err := remover.Start(); err != nil {
		return "", err
	}
	leases.Store(dir, lease)
	return dir, nil
}

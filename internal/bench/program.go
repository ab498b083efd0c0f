package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/harvest-engine/harvest/internal/embedded"
)

// runningProgram is the program as people run it: API and worker in one process, on the servers
// of the run.
type runningProgram struct {
	dir     string // of its data and its configuration
	address string // of the API
	process *exec.Cmd
}

// buildProgram builds a command of the module.
func buildProgram(ctx context.Context, into, name string) (string, error) {
	program := filepath.Join(into, name)
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/harvest-engine/harvest/cmd/"+name)
	if name == "harvest-agent" {
		build.Env = append(build.Environ(), "CGO_ENABLED=0")
	}
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return program, nil
}

// startProgram builds the program and starts it in dir; settings, which get its address, are
// added to its configuration.
func startProgram(ctx context.Context, servers *embedded.Stack, dir string, settings func(address string) string) (*runningProgram, error) {
	program, err := buildProgram(ctx, dir, "harvest")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &runningProgram{dir: dir, address: fmt.Sprintf("http://127.0.0.1:%d", port)}
	config := fmt.Sprintf("[database]\nurl = %q\n[temporal]\naddress = %q\n[log]\nlevel = \"warn\"\n%s", servers.DSN(), servers.TemporalAddress(), settings(p.address))
	if err := os.WriteFile(filepath.Join(dir, "harvest.toml"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	p.process = exec.CommandContext(ctx, program, "up", "--config", filepath.Join(dir, "harvest.toml"),
		"--data-dir", filepath.Join(dir, "data"), "--port", strconv.Itoa(port))
	p.process.Cancel = func() error { return p.process.Process.Signal(syscall.SIGINT) }
	if err := p.process.Start(); err != nil {
		return nil, fmt.Errorf("start the program: %w", err)
	}
	if err := awaitHealth(ctx, port); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

func (p *runningProgram) stop() {
	_ = p.process.Process.Signal(syscall.SIGINT) // it may have ended
	_ = p.process.Wait()
}

// token is that of the program's owner.
func (p *runningProgram) token() (string, error) {
	text, err := os.ReadFile(filepath.Join(p.dir, "data", "owner-token"))
	return strings.TrimSpace(string(text)), err
}

// peak forgets the highest resident memory of a process so far, and gives the function that
// says by how many MB it has risen above what there is now.
func peak(pid int) (risen func() (float64, error), err error) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return nil, fmt.Errorf("forget the highest memory: %w", err)
	}
	before, err := resident(pid)
	return func() (float64, error) {
		highest, err := statusMB(pid, "VmHWM:")
		return max(0, highest-before), err
	}, err
}

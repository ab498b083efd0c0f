package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/harvest-engine/harvest/internal/embedded"
)

const (
	idleLimit  = 100.0 // MB
	startLimit = time.Minute
	settleTime = 15 * time.Second
)

// idleMemory builds the program, runs API and worker in it on the servers that are there,
// and gives the resident memory of the process once it is idle.
func idleMemory(ctx context.Context, servers *embedded.Stack) (Row, error) {
	row := Row{Name: "API and worker, idle", Unit: "MB", Limit: idleLimit}
	if runtime.GOOS != "linux" {
		row.Name += " (measured on Linux only)"
		return row, nil
	}
	dir, err := os.MkdirTemp("", "harvest-idle-")
	if err != nil {
		return row, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "harvest")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/harvest-engine/harvest/cmd/harvest").CombinedOutput(); err != nil {
		return row, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return row, err
	}
	config := fmt.Sprintf("[database]\nurl = %q\n[temporal]\naddress = %q\n", servers.DSN(), servers.TemporalAddress())
	if err := os.WriteFile(filepath.Join(dir, "harvest.toml"), []byte(config), 0o600); err != nil {
		return row, err
	}
	process := exec.CommandContext(ctx, program, "up", "--config", filepath.Join(dir, "harvest.toml"),
		"--data-dir", filepath.Join(dir, "data"), "--port", strconv.Itoa(port))
	process.Cancel = func() error { return process.Process.Signal(syscall.SIGINT) }
	if err := process.Start(); err != nil {
		return row, fmt.Errorf("start the program: %w", err)
	}
	defer func() {
		_ = process.Process.Signal(syscall.SIGINT)
		_ = process.Wait()
	}()
	if err := awaitHealth(ctx, port); err != nil {
		return row, err
	}
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
		return row, ctx.Err()
	}
	row.Ours, err = resident(process.Process.Pid)
	return row, err
}

func awaitHealth(ctx context.Context, port int) error {
	ctx, stop := context.WithTimeout(ctx, startLimit)
	defer stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/ready", port), nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(req)
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return errors.New("the program does not get ready")
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// resident reads a process's resident memory in MB.
func resident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 64)
			return kb / 1000, err
		}
	}
	return 0, errors.New("the kernel tells no resident memory")
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
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
	program, err := startProgram(ctx, servers, dir, func(string) string { return "" })
	if err != nil {
		return row, err
	}
	defer program.stop()
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
		return row, ctx.Err()
	}
	row.Ours, err = resident(program.process.Process.Pid)
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
func resident(pid int) (float64, error) { return statusMB(pid, "VmRSS:") }

// statusMB reads a size of a process's status in MB.
func statusMB(pid int, name string) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, name); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 64)
			return kb / 1000, err
		}
	}
	return 0, errors.New("the kernel does not tell the memory of a process")
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

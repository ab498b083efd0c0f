package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/harvest-engine/harvest/internal/testkit"
)

// programVariable makes the test binary the program itself, so that tests can kill it.
const programVariable = "HARVEST_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" || len(os.Args) > 1 && os.Args[1] == readPDFCommand {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

// home is a working folder with a configuration, and free ports of its own.
type home struct {
	dir   string
	ports []string
}

// script is what the model of the tests says. The third scene takes its time.
const script = `{
	"scenes": [
		{"question": "What is slow?", "rounds": [
			{"text": "One moment.", "calls": [{"name": "search_symbols", "input": {"query": "Greet"}}]},
			{"text": "Greet is slow [sample:main:greet.go:4].", "first_delay": "3s", "chunk": 4, "delay": "20ms"}]},
		{"question": "What is refused?", "rounds": [{"faults": [{"code": "upstream", "message": "no such key", "times": -1}]}]}
	],
	"rounds": [
		{"text": "I look.", "calls": [{"name": "search_symbols", "input": {"query": "Greet"}}]},
		{"text": "Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400]."}
	]
}`

func newHome(t *testing.T) home {
	t.Helper()
	dir := testkit.DataDir(t)
	h := home{dir: dir}
	for _, flag := range []string{"--port", "--temporal-port", "--temporal-ui-port", "--postgres-port"} {
		h.ports = append(h.ports, flag, strconv.Itoa(freePort(t)))
	}
	h.write(t, "script.json", script)
	h.write(t, defaultConfig, "[[llm]]\nprovider = \"scripted\"\nmax_retries = 0\nscript = "+strconv.Quote(filepath.Join(dir, "script.json"))+"\n")
	return h
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func (h home) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sample makes a repository with one commit on main.
func (h home) sample(t *testing.T) string {
	t.Helper()
	h.write(t, "sample/go.mod", "module example.com/sample\n\ngo 1.26\n")
	h.write(t, "sample/greet.go", "package sample\n\n// Greet greets.\nfunc Greet() string { return \"hello\" }\n\nfunc Twice() string { return Greet() + Greet() }\n")
	repo := filepath.Join(h.dir, "sample")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", "begin"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return repo
}

// program prepares a run of the program in the home.
func (h home) program(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), programVariable+"=1", "DATABASE_URL=", "TEMPORAL_ADDRESS=", urlVariable+"=")
	return cmd
}

// run runs the program to its end.
func (h home) run(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := h.program(ctx, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %v: %v", args, err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// up starts the whole and waits until it is ready.
func (h home) up(t *testing.T) *exec.Cmd {
	t.Helper()
	dir := filepath.Join(h.dir, ".harvest")
	_ = os.Remove(filepath.Join(dir, instanceFile)) // a killed run's
	cmd := h.program(context.Background(), append([]string{"up"}, h.ports...)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-gone:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			t.Error("harvest does not stop")
		}
	})
	deadline := time.After(10 * time.Minute) // a first start builds the Temporal server
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := readInstance(dir); err == nil {
			return cmd
		}
		select {
		case <-tick.C:
		case err := <-gone:
			gone <- err
			t.Fatalf("harvest ended: %v\n%s", err, log.String())
		case <-deadline:
			t.Fatalf("harvest does not get ready\n%s", log.String())
		}
	}
}

func wantCode(t *testing.T, want, got int, errs string) {
	t.Helper()
	if got != want {
		t.Errorf("exit code %d, want %d; it said:\n%s", got, want, errs)
	}
}

func wantParts(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

func serversOf(t *testing.T, h home) []int {
	t.Helper()
	var pids []int
	for _, name := range []string{"postgres", "temporal"} {
		text, err := os.ReadFile(filepath.Join(h.dir, ".harvest", "run", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var pid int
		if _, err := fmt.Sscanf(string(text), `{"pid":%d`, &pid); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		pids = append(pids, pid)
	}
	return pids
}

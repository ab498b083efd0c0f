package crashtest_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// role is the variable by which this binary is told to be a process that a test may kill.
const role = "HARVEST_CRASHTEST_ROLE"

// order is what such a process is told.
type order struct {
	Node    *nodeOrder    `json:"node,omitempty"`
	Servers *serversOrder `json:"servers,omitempty"`
}

func TestMain(m *testing.M) {
	text := os.Getenv(role)
	if text == "" {
		os.Exit(m.Run())
	}
	var o order
	err := json.Unmarshal([]byte(text), &o)
	switch {
	case err != nil:
	case o.Node != nil:
		err = o.Node.run()
	case o.Servers != nil:
		err = o.Servers.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// tell tells the test that the process is ready, with what it has to say, and waits until
// the test, or whoever runs it, is gone.
func tell(answer any) error {
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// process is a child that can be killed.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	tied io.WriteCloser // its end ends the child
}

// spawn starts a child and waits until it is ready; its answer is read into answer.
func spawn(t *testing.T, o order, answer any) *process {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), role+"="+string(text))
	p.cmd.Stderr = os.Stderr
	if p.tied, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("a child said nothing: %v", err)
	}
	if err := json.Unmarshal(line, answer); err != nil {
		t.Fatalf("a child said %q: %v", line, err)
	}
	return p
}

// kill ends the child as kill -9 does. Doing it again changes nothing.
func (p *process) kill() {
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // killed
}

// freeze stops the child in the middle of whatever it does, as a machine that is suspended, until it
// is thawed.
func (p *process) freeze() { p.signal(syscall.SIGSTOP) }

// thaw lets it go on.
func (p *process) thaw() { p.signal(syscall.SIGCONT) }

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// stop tells the child to end, and waits until it has.
func (p *process) stop() {
	_ = p.tied.Close()
	_ = p.cmd.Wait() // how it ends is its own affair
}

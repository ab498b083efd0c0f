package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// seat is a terminal with the program at it, as a process of its own.
type seat struct {
	t      *testing.T
	hand   *os.File // what types, and sees what is shown
	tty    *os.File
	cmd    *exec.Cmd
	before *term.State

	mu    sync.Mutex
	shown bytes.Buffer
	more  chan struct{} // closed and replaced as more is shown
}

// sits starts the program at a terminal of its own.
func (p *teamProgram) sits(args ...string) *seat {
	p.t.Helper()
	hand, tty, err := pty.Open()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 61, Rows: 17}); err != nil {
		p.t.Fatal(err)
	}
	s := &seat{t: p.t, hand: hand, tty: tty, cmd: exec.Command(os.Args[0], args...), more: make(chan struct{})}
	s.before = s.state()
	s.cmd.Env = append(os.Environ(), programVariable+"=1")
	for name, value := range p.env {
		s.cmd.Env = append(s.cmd.Env, name+"="+value)
	}
	s.cmd.Dir = p.dir
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		s.look()
	}()
	p.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		_, _ = tty.Close(), hand.Close() // a look that waits ends with this
		<-looked
	})
	return s
}

func (s *seat) look() {
	part := make([]byte, 4096)
	for {
		n, err := s.hand.Read(part)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.shown.Write(part[:n])
		close(s.more)
		s.more = make(chan struct{})
		s.mu.Unlock()
	}
}

// shows waits until the terminal has shown text n times.
func (s *seat) shows(text string, n int) {
	s.t.Helper()
	for {
		s.mu.Lock()
		count, more := bytes.Count(s.shown.Bytes(), []byte(text)), s.more
		s.mu.Unlock()
		if count >= n {
			return
		}
		select {
		case <-more:
		case <-s.t.Context().Done():
			s.t.Fatalf("%q is not shown %d times", text, n)
		}
	}
}

func (s *seat) state() *term.State {
	s.t.Helper()
	state, err := term.GetState(int(s.tty.Fd()))
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

// asBefore reports whether the terminal is as it was before the program was started.
func (s *seat) asBefore() bool { return *s.state() == *s.before }

// waits sends a signal, and waits until the program has ended or stopped.
func (s *seat) waits(sent syscall.Signal) unix.WaitStatus {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sent); err != nil {
		s.t.Fatal(err)
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(s.cmd.Process.Pid, &status, unix.WUNTRACED, nil)
		if err == nil {
			return status
		}
		if err != unix.EINTR {
			s.t.Fatal(err)
		}
	}
}

// lasting answers for a console that does not end, and tells of each new size.
func lasting(resized chan<- string) func(ctx context.Context, conn *websocket.Conn) {
	return func(ctx context.Context, conn *websocket.Conn) {
		_ = conn.Write(ctx, websocket.MessageBinary, []byte("ready> "))
		for {
			kind, data, err := conn.Read(ctx)
			if err != nil {
				return
			}
			if kind == websocket.MessageText {
				resized <- string(data)
			}
		}
	}
}

// Whichever signal ends the program amid a console, the terminal is as it was.
func TestSignalsAmidAConsoleLeaveTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	for sent, code := range map[syscall.Signal]int{
		syscall.SIGINT: exitStopped, syscall.SIGTERM: exitStopped, syscall.SIGHUP: exitStopped,
		syscall.SIGQUIT: 2, // as Go's programs end by it
	} {
		t.Run(unix.SignalName(sent), func(t *testing.T) {
			t.Parallel()
			m, ada := newMachines(t)
			m.shell(t, lasting(make(chan string, 1)))
			s := ada.sits("agents", "console", "web1")
			s.shows("ready>", 1)
			if s.asBefore() {
				t.Error("the terminal does not pass on each key")
			}
			status := s.waits(sent)
			if !status.Exited() || status.ExitStatus() != code {
				t.Errorf("it ended by %#x", status)
			}
			if !s.asBefore() {
				t.Error("the terminal is not as it was")
			}
		})
	}
}

// One that is stopped amid a console leaves the terminal to others meanwhile, and tells of its size
// as it goes on.
func TestAConsoleThatIsStoppedGoesOn(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	resized := make(chan string, 1)
	m.shell(t, lasting(resized))
	s := ada.sits("agents", "console", "web1")
	s.shows("ready>", 1)
	if status := s.waits(syscall.SIGTSTP); !status.Stopped() {
		t.Fatalf("it is not stopped: %#x", status)
	}
	if !s.asBefore() {
		t.Error("while it is stopped the terminal is not as it was")
	}
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if size := <-resized; size != `{"type":"resize","cols":61,"rows":17}` {
		t.Errorf("it tells of %s", size)
	}
	if s.asBefore() {
		t.Error("once it goes on the terminal does not pass on each key")
	}
	if status := s.waits(syscall.SIGTERM); !status.Exited() || !s.asBefore() {
		t.Errorf("it ended by %#x", status)
	}
}

// A secret that is asked for does not show; whoever leaves instead finds a terminal that shows what
// is typed. One that was stopped meanwhile asks again.
func TestSignalsAmidASecretLeaveTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	_, ada := newMachines(t)
	if err := os.MkdirAll(filepath.Join(ada.dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := ada.sits("secrets", "set", "DEPLOY_TOKEN", "--project", "engine")
	s.shows("Value: ", 1)
	for s.asBefore() { // the question is shown before the mode is changed
		s.shows("Value: ", 1)
	}
	if status := s.waits(syscall.SIGTSTP); !status.Stopped() || !s.asBefore() {
		t.Errorf("stopped it is %#x, and the terminal as it was: %t", status, s.asBefore())
	}
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.shows("Value: ", 2)
	if s.asBefore() {
		t.Error("once it goes on the terminal shows what is typed")
	}
	if status := s.waits(syscall.SIGINT); !status.Exited() || status.ExitStatus() != exitStopped || !s.asBefore() {
		t.Errorf("it ended by %#x, and the terminal as it was: %t", status, s.asBefore())
	}
}

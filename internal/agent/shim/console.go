package shim

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agent/procs"
)

// ConsoleVerb is the argument that makes the binary the shim of a console.
const ConsoleVerb = "console-shim"

// terminalFD is the terminal that the shim of a console is started with; on noticeFD it
// says with which code the shell ended.
const terminalFD = 3

// ConsoleSpec is what the shim of a console is told on its standard input, as a line. The
// input stays open as long as the console is to live.
type ConsoleSpec struct {
	Shell  string   // the path of a login shell
	Name   string   // its first argument, such as -bash
	Env    []string // "NAME=value", the whole environment
	Folder string
}

// Console is a shell under a shim that is to end all that descends from it.
type Console struct {
	// Code comes once all is over: the shell's exit code, 128 + n for signal n; nil where there
	// is none.
	Code <-chan *int
	life io.Closer
}

// End makes the shim end the shell and all its descendants.
func (c *Console) End() { _ = c.life.Close() }

// StartConsole starts a shell on a terminal, which stays open for the caller.
func StartConsole(terminal *os.File, spec ConsoleSpec, errs *os.File) (*Console, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	told, notice, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer notice.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"harvest-agent", ConsoleVerb}
	cmd.Stderr, cmd.Dir = errs, "/"
	cmd.ExtraFiles = []*os.File{terminalFD - 3: terminal, noticeFD - 3: notice}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	life, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = life.Write(append(text, '\n'))
	}
	if err != nil {
		_ = told.Close()
		return nil, fmt.Errorf("start the shell: %w", err)
	}
	code := make(chan *int, 1)
	go func() {
		defer told.Close()
		var ended *int
		_ = json.NewDecoder(told).Decode(&ended) // nothing where the shim was killed
		_ = cmd.Wait()
		code <- ended
	}()
	return &Console{Code: code, life: life}, nil
}

// ConsoleMain is what the process of a console's shim does, from its start to its end.
func ConsoleMain() error {
	runtime.LockOSThread() // as Main does
	go procs.Reserve(threads)
	terminal, err := inherited(terminalFD, unix.S_IFCHR)
	if err != nil {
		return err
	}
	notice, err := inherited(noticeFD, unix.S_IFIFO)
	if err != nil {
		return err
	}
	stops := make(chan os.Signal, 8)
	signal.Notify(stops, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	input := bufio.NewReader(os.Stdin)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return nil // the agent has ended already
	}
	var spec ConsoleSpec
	if err := json.Unmarshal(line, &spec); err != nil {
		return err
	}
	if err := procs.Adopt(); err != nil {
		return err
	}
	tty := terminal.Fd()
	pid, err := syscall.ForkExec(spec.Shell, []string{spec.Name}, &syscall.ProcAttr{
		Dir: spec.Folder, Env: spec.Env, Files: []uintptr{tty, tty, tty},
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", spec.Shell, err)
	}
	_ = terminal.Close()
	code := outlive(adopt(pid), input, stops)
	return json.NewEncoder(notice).Encode(code)
}

// outlive waits for the end of the shell, or of the console, and ends what is left.
func outlive(kids *children, life io.Reader, stops <-chan os.Signal) *int {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, life)
		close(ended)
	}()
	var result *int
	for over := false; !over; {
		select {
		case exit := <-kids.exit:
			result, over = code(exit.status), true
		case <-ended:
			over = true
		case stop := <-stops:
			over = stop != unix.SIGHUP
		}
	}
	// Once the agent has closed the terminal the shell gets SIGHUP, and passes it on.
	if !kids.within(settleFor) {
		procs.End(kids.find, sweepFor)
		kids.within(drainFor)
	}
	select {
	case exit := <-kids.exit:
		result = code(exit.status)
	default:
	}
	return result
}

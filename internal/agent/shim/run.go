package shim

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/procs"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// run is a command while it runs.
type run struct {
	spec   Spec
	record *journal.Record
	stops  <-chan os.Signal

	out     *journal.Output
	readers [2]*os.File
	reading sync.WaitGroup
	kids    *children
}

// do runs the command and tells how it ended.
func (r *run) do() journal.Ending {
	if canceled(r.record) {
		return journal.Ending{Outcome: agentwire.Canceled, Error: "it was canceled before it began"}
	}
	began := time.Now()
	if err := r.start(); err != nil {
		return journal.Ending{Outcome: agentwire.NotStarted, Error: fmt.Sprintf("it could not be started: %v", err)}
	}
	ending := r.watch()
	ending.Millis = time.Since(began).Milliseconds()
	r.drain()
	var err error
	if ending.Written, err = r.out.Close(); err != nil {
		ending.Error = add(ending.Error, "a part of its output could not be kept: "+strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return ending
}

func (r *run) start() error {
	if err := procs.Adopt(); err != nil {
		return fmt.Errorf("adopt descendants: %w", err)
	}
	var writers [2]*os.File
	for stream := range writers {
		reader, writer, err := os.Pipe()
		if err != nil {
			return err
		}
		defer writer.Close()
		r.readers[stream], writers[stream] = reader, writer
		// A larger pipe saves the command waits; the default does where there is none to be had.
		_, _ = unix.FcntlInt(writer.Fd(), unix.F_SETPIPE_SZ, pipeSize)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	state := journal.State{Shim: os.Getpid(), Begun: true}
	if err := r.record.SetState(state); err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	pid, err := syscall.ForkExec(r.spec.Shell, []string{"bash", "-c", r.spec.Command}, &syscall.ProcAttr{
		Dir: r.spec.Folder, Env: append(r.spec.Env, Marker+"="+r.spec.ID),
		Files: []uintptr{null.Fd(), writers[0].Fd(), writers[1].Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return fmt.Errorf("run %s in %s: %w", r.spec.Shell, r.spec.Folder, err)
	}
	r.kids = adopt(pid)
	r.out = journal.NewOutput(r.record, state)
	for stream := range r.readers {
		r.reading.Go(func() { r.read(stream) })
	}
	return nil
}

// read keeps a stream until its end, or the deadline of drain. Behind that it takes what is in
// the pipe by then: on a busy machine the deadline may come before anything was read.
func (r *run) read(stream int) {
	buffer := make([]byte, 128<<10)
	for {
		n, err := r.readers[stream].Read(buffer)
		r.out.Add(stream, buffer[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			r.rest(stream, buffer)
		}
		if err != nil {
			return
		}
	}
}

// rest keeps what is in a pipe, as far as a pipe can hold it.
func (r *run) rest(stream int, buffer []byte) {
	raw, err := r.readers[stream].SyscallConn()
	if err != nil {
		return
	}
	for left := maxPipe; left > 0; {
		n := 0
		// Not by Read, which a deadline that has passed ends before it looks.
		err := raw.Control(func(fd uintptr) { n, _ = unix.Read(int(fd), buffer) })
		if err != nil || n <= 0 {
			return // empty, or at its end
		}
		r.out.Add(stream, buffer[:n])
		left -= n
	}
}

// watch waits for the command's end, or ends it, and then ends what it left.
func (r *run) watch() journal.Ending {
	limit := time.NewTimer(r.spec.Timeout)
	defer limit.Stop()
	for {
		select {
		case exit := <-r.kids.exit:
			return r.exited(exit)
		case <-limit.C:
			return r.cut(agentwire.TimedOut, fmt.Sprintf("it was ended at its time limit of %s", r.spec.Timeout))
		case stop := <-r.stops:
			switch {
			case canceled(r.record):
				return r.cut(agentwire.Canceled, "")
			case stop != unix.SIGHUP:
				return r.cut(agentwire.Unknown, "it was ended from outside, as when the machine shuts down")
			}
		}
	}
}

func (r *run) exited(exit exit) journal.Ending {
	ending := journal.Ending{Outcome: agentwire.Exited, ExitCode: code(exit.status)}
	if !exit.left || r.kids.within(settleFor) {
		return ending
	}
	swept := procs.End(r.kids.find, sweepFor)
	ending.Swept, ending.Error = swept.Ended, r.unended(swept)
	return ending
}

// cut ends the command and all its descendants.
func (r *run) cut(outcome agentwire.Outcome, why string) journal.Ending {
	swept := procs.End(r.kids.find, graceFor)
	ending := journal.Ending{Outcome: outcome, Error: add(why, r.unended(swept)), Swept: max(0, swept.Ended-1)}
	select {
	case exit := <-r.kids.exit:
		ending.ExitCode = code(exit.status)
	default:
	}
	return ending
}

// drain reads what is still in the pipes. Once all descendants are gone they end at once,
// but where a process that is none holds one open, which must not hold up the end.
func (r *run) drain() {
	for _, reader := range r.readers {
		_ = reader.SetReadDeadline(time.Now().Add(drainFor))
	}
	r.reading.Wait()
}

func code(status syscall.WaitStatus) *int {
	code := status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	return &code
}

// unended says what is left all the same, once the last of what was ended is reaped.
func (r *run) unended(swept procs.Ending) string {
	switch {
	case swept.Left > 0:
		return fmt.Sprintf("%d of its processes could not be ended", swept.Left)
	case !r.kids.within(drainFor):
		return "some of its processes could not be ended"
	}
	return ""
}

func add(text, more string) string {
	if text == "" || more == "" {
		return text + more
	}
	return text + "; " + more
}

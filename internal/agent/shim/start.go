package shim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/harvest-engine/harvest/internal/agent/journal"
)

// Process is a shim as the agent that started it sees it.
type Process struct {
	Told <-chan struct{} // closed when the ending is in the record, or the shim is gone
	Gone <-chan struct{} // closed when the shim is gone
	// Stop makes the shim look at the wish in the record.
	Stop func()
}

// Start starts a shim for a command, and hands it the record with its lock, which it has as
// long as it or the caller has the file. Errs is where it writes what it can't write down.
func Start(record *journal.Record, spec Spec, errs *os.File) (*Process, error) {
	spec.Path = record.Path()
	input, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	told, notice, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer notice.Close()
	// The file that runs now, even where a newer one has taken its name.
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{"harvest-agent", Verb, spec.ID}
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), errs
	cmd.ExtraFiles = []*os.File{recordFD - 3: record.File(), noticeFD - 3: notice}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	if err := cmd.Start(); err != nil {
		_ = told.Close()
		return nil, fmt.Errorf("start the shim: %w", err)
	}
	toldOf, gone := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = told.Read(make([]byte, 1))
		close(toldOf)
		_ = cmd.Wait() // how it ended is in the record, or nowhere
		_ = told.Close()
		close(gone)
	}()
	stop := func() { _ = cmd.Process.Signal(syscall.SIGTERM) } // gone: then nothing is to be stopped
	return &Process{Told: toldOf, Gone: gone, Stop: stop}, nil
}

// lookEvery is how often the shim of an earlier agent is looked at.
const lookEvery = 50 * time.Millisecond

// Find gives the shim that an earlier agent has started, by a record whose lock it has. Once
// it is gone the lock is this process's. The look ends with ctx, and as the record is closed.
func Find(ctx context.Context, record *journal.Record) *Process {
	told, gone := make(chan struct{}), make(chan struct{})
	go look(ctx, record, told, gone)
	return &Process{Told: told, Gone: gone, Stop: func() { stop(record) }}
}

func look(ctx context.Context, record *journal.Record, told, gone chan<- struct{}) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for said := false; ; {
		free, err := record.Free()
		if errors.Is(err, os.ErrClosed) {
			return // all is known of it
		}
		if _, ended, _ := record.Ending(); !said && (ended || free) {
			said = true
			close(told)
		}
		if free {
			close(gone)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// stop signals the shim that the record names. The process is held before the lock is looked
// at: as long as the shim has that, its pid is nobody else's.
func stop(record *journal.Record) {
	state, err := record.State()
	if err != nil || state.Shim <= 1 {
		return // it has not begun, and will look at the wish first
	}
	process, err := os.FindProcess(state.Shim)
	if err != nil {
		return
	}
	defer func() { _ = process.Release() }()
	if free, err := record.Free(); err == nil && !free {
		_ = process.Signal(syscall.SIGTERM)
	}
}

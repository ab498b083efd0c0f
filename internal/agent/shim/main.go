package shim

import (
	"encoding/json"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agent/journal"
	"github.com/harvest-engine/harvest/internal/agent/procs"
)

// threads is how many a shim keeps for when the system has no more.
const threads = 12

// Main is what a shim's process does, from its start to its end.
func Main() error {
	// The command gets a signal when the thread dies that started it, and so must not before.
	runtime.LockOSThread()
	debug.SetMemoryLimit(32 << 20)
	go procs.Reserve(threads)
	// Lists of processes and systemd's journal show it by this name, and not as exe.
	_ = os.WriteFile("/proc/self/comm", []byte("harvest-shim"), 0) // where it can't be, it is exe
	file, err := inherited(recordFD, unix.S_IFREG)
	if err != nil {
		return err
	}
	notice, err := inherited(noticeFD, unix.S_IFIFO)
	if err != nil {
		return err
	}
	stops := make(chan os.Signal, 8)
	signal.Notify(stops, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)

	var spec Spec
	if err := json.NewDecoder(os.Stdin).Decode(&spec); err != nil {
		return nil // the agent was killed as it told: the command has not begun, and its next start sees that
	}
	_ = os.Stdin.Close()
	record := journal.FromFile(file, spec.Path)
	run := run{spec: spec, record: record, stops: stops}
	ending := run.do()
	err = record.SetEnding(ending)
	// Who waits is told before the disk has it: it posts the result meanwhile, and a machine
	// that stops right now is asked for it in vain only where nobody had it yet.
	_, _ = notice.Write([]byte{'.'}) // the agent may be gone, and looks when it is back
	if run.out != nil {
		err = errors.Join(err, run.out.Sync())
	}
	return errors.Join(err, record.Sync())
}

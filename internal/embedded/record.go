package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// record names a child in the data folder, so that a later run can tell what an earlier
// one left running. The start time guards against another process with the same id.
type record struct {
	PID     int    `json:"pid"`
	Started string `json:"started"`
}

func recordPath(runDir, name string) string { return filepath.Join(runDir, name+".json") }

func writeRecord(runDir, name string, pid int) error {
	started, ok := processStart(pid)
	if !ok {
		return nil // it ended already; there is nothing to leave behind
	}
	text, err := json.Marshal(record{PID: pid, Started: started})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(runDir, 0o700); err != nil {
		return fmt.Errorf("make the folder of process records: %w", err)
	}
	temporary := recordPath(runDir, name) + ".new"
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return fmt.Errorf("record the process of %s: %w", name, err)
	}
	return os.Rename(temporary, recordPath(runDir, name))
}

func dropRecord(runDir, name string) { _ = os.Remove(recordPath(runDir, name)) } // a stale one does no harm

// endRecorded ends the process that a record names, if that very process still runs, and
// reports whether it did.
func endRecorded(runDir, name string, grace time.Duration, signals ...syscall.Signal) (bool, error) {
	text, err := os.ReadFile(recordPath(runDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the record of %s: %w", name, err)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		dropRecord(runDir, name)
		return false, nil
	}
	defer dropRecord(runDir, name)
	return endStranger(r, grace, signals...)
}

// endStranger ends a process that is not our child.
func endStranger(r record, grace time.Duration, signals ...syscall.Signal) (bool, error) {
	lives := func() bool {
		started, ok := processStart(r.PID)
		return ok && started == r.Started
	}
	if !lives() {
		return false, nil
	}
	for _, s := range append(signals, syscall.SIGKILL) {
		if err := syscall.Kill(r.PID, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return false, fmt.Errorf("end process %d of an earlier run: %w", r.PID, err)
		}
		for deadline := time.Now().Add(grace); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if !lives() {
				return true, nil
			}
		}
	}
	return false, fmt.Errorf("process %d of an earlier run does not end", r.PID)
}

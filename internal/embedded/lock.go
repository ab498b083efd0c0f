package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Lock is the right to use a data folder. The system takes it back when the holder dies.
type Lock struct{ file *flock.Flock }

// LockData makes the data folder where needed, and locks it. Where another process holds
// it the error is a conflict that names its id.
func LockData(dir string) (*Lock, error) {
	// Others may pass through, not look: PostgreSQL's user has its folder below.
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	path := filepath.Join(dir, "lock")
	file := flock.New(path, flock.SetPermissions(0o600), flock.SetFlag(os.O_CREATE|os.O_RDWR))
	taken, err := file.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if !taken {
		holder := "another process"
		if pid, ok := LockHolder(dir); ok {
			holder = fmt.Sprintf("process %d", pid)
		}
		return nil, domain.Errorf(domain.CodeConflict,
			"harvest runs on the data folder %s already (%s); stop that one, or choose another folder with --data-dir", dir, holder)
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock: %w", err), file.Unlock())
	}
	return &Lock{file: file}, nil
}

// LockHolder gives the id of the process that took the data folder's lock last; ok is
// false where none ever did.
func LockHolder(dir string) (pid int, ok bool) {
	text, err := os.ReadFile(filepath.Join(dir, "lock"))
	if err != nil {
		return 0, false
	}
	pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return pid, err == nil
}

// Unlock gives the folder back.
func (l *Lock) Unlock() error { return l.file.Unlock() }

// lockCache holds one thing in the cache folder for this process, so that two processes
// don't fetch or build it at once.
func lockCache(ctx context.Context, cacheDir, thing string, report ProgressFunc) (unlock func(), err error) {
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return nil, fmt.Errorf("make the cache folder: %w", err)
	}
	file := flock.New(filepath.Join(cacheDir, thing+".lock"))
	unlock = func() { _ = file.Unlock() } // it ends with the process at the latest
	taken, err := file.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s in the cache folder: %w", thing, err)
	}
	if taken {
		return unlock, nil
	}
	s := beginStep(report, "waiting for another process that makes "+thing, "")
	defer s.end(&err)
	if _, err := file.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return nil, fmt.Errorf("wait for %s in the cache folder: %w", thing, err)
	}
	return unlock, nil
}

package embedded

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/harvest-engine/harvest/internal/domain"
)

// leastRoom is the free space, in bytes, below which the database can't be expected to work.
const leastRoom = 32 << 20

// CheckRoom tells, as an unavailable error, that a folder's disk is full: PostgreSQL stops
// then, and goes on once there is room again. It is nil where there is room, and where the
// system can't say.
func CheckRoom(dir string) error { return checkRoom(dir, leastRoom) }

func checkRoom(dir string, least int64) error {
	free, ok := FreeSpace(dir)
	if !ok || free >= least {
		return nil
	}
	return &fullDisk{domain.Errorf(domain.CodeUnavailable, "the disk of %s is full (%.1f MB are free); make room on it", dir, float64(free)/1e6)}
}

// fullDisk tells the error of a full disk from others.
type fullDisk struct{ err *domain.Error }

func (f *fullDisk) Error() string { return f.err.Error() }
func (f *fullDisk) Unwrap() error { return f.err }

// FreeSpace gives the bytes that are free for the user on a folder's disk, or on that of the
// nearest folder above it that exists; ok is false where the system can't say.
func FreeSpace(dir string) (free int64, ok bool) {
	for {
		if free, ok = freeSpace(dir); ok || dir == filepath.Dir(dir) {
			return free, ok
		}
		dir = filepath.Dir(dir)
	}
}

// orFull puts before an error that a disk is full, where that is the likely reason for it.
func orFull(err error, dirs ...string) error { return orBelow(leastRoom, err, dirs...) }

func orBelow(least int64, err error, dirs ...string) error {
	var told *fullDisk
	if err == nil || errors.As(err, &told) || domain.CodeOf(err) == domain.CodeConflict {
		return err
	}
	for _, dir := range dirs {
		if full := checkRoom(dir, least); full != nil {
			return fmt.Errorf("%w: %w", full, err)
		}
	}
	return err
}

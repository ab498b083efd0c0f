// Package journal is what the agent keeps on its disk: which commands it was given, how far
// they are, what they wrote and how they ended. It is what makes a command run at most once
// and its result reach the server, whoever is killed in between.
//
// A command has a record, NAME.record in the folder commands, made and brought to the disk
// before anything of it runs; its output stands in files beside it. Once the server has the
// result these are removed, and a line in the folder done remembers the id for a week.
package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const endRecord = ".record"

const (
	lockFor  = 3 * time.Second
	lockLook = 20 * time.Millisecond
)

// ErrInUse reports a state folder that another agent works with.
var ErrInUse = errors.New("another harvest-agent runs with this state folder")

// Journal is the folder, locked for this process.
type Journal struct {
	disk     disk
	commands string
	boot     string
	lock     *os.File
	done     *graveyard
}

// Open opens the journal in the state folder, which is made where it is missing. Boot names
// the current run of the machine.
func Open(folder, boot string) (*Journal, error) { return openOn(system{}, folder, boot) }

func openOn(d disk, folder, boot string) (*Journal, error) {
	j := &Journal{disk: d, commands: filepath.Join(folder, "commands"), boot: boot}
	if err := errors.Join(lasting(d, folder), lasting(d, j.commands)); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	if err := take(lock, time.Now().Add(lockFor)); err != nil {
		_ = lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, folder)
		}
		return nil, fmt.Errorf("lock the state folder: %w", err)
	}
	if j.done, err = openGraveyard(filepath.Join(folder, "done"), time.Now()); err != nil {
		_ = lock.Close()
		return nil, err
	}
	j.lock = lock
	return j, nil
}

// take locks a file. An agent that was killed as it started a shim has left a child that is
// about to become that, and holds the lock until then: it is waited for.
func take(lock *os.File, deadline time.Time) error {
	for {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(lockLook)
	}
}

// Close gives the folder to other processes.
func (j *Journal) Close() error { return errors.Join(j.done.close(), j.lock.Close()) }

// Boot names the current run of the machine.
func (j *Journal) Boot() string { return j.boot }

// Begin makes the record of a command that was never seen here, and brings it to the disk.
// The record is locked: who starts the shim hands the lock on with the file. Where it fails
// nothing is left.
func (j *Journal) Begin(order Order) (*Record, error) {
	order.Boot = j.boot
	path := filepath.Join(j.commands, fileName(order.ID))
	file, err := j.disk.Create(path+endRecord, os.O_EXCL|os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) { // somebody has removed the folder
		if err = lasting(j.disk, j.commands); err == nil {
			file, err = j.disk.Create(path+endRecord, os.O_EXCL|os.O_RDWR)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("make the record: %w", err)
	}
	record := &Record{disk: j.disk, path: path, file: file}
	if err := record.begin(order); err != nil {
		_ = file.Close()
		_ = j.disk.Remove(path + endRecord)
		return nil, err
	}
	if err := j.disk.SyncFolder(j.commands); err != nil {
		_ = file.Close()
		_ = j.disk.Remove(path + endRecord)
		return nil, fmt.Errorf("bring the record to the disk: %w", err)
	}
	return record, nil
}

func (r *Record) begin(order Order) error {
	if _, err := r.lock(); err != nil {
		return fmt.Errorf("lock the record: %w", err)
	}
	block, err := seal(order)
	if err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	// All blocks are written, not only reserved, so that none needs room later.
	if _, err := r.disk.WriteAt(r.file, append(block, make([]byte, (blocks-1)*blockSize)...), 0); err != nil {
		return fmt.Errorf("write the record: %w", err)
	}
	if err := r.Sync(); err != nil {
		return fmt.Errorf("bring the record to the disk: %w", err)
	}
	return nil
}

// Entry is a command that the journal held as it was opened.
type Entry struct {
	Order  Order
	Record *Record
	// Held: a shim of an earlier agent has the lock.
	Held bool
}

// Entries gives the commands whose results the server does not have, in the order in which
// they came. Records that were never whole are removed: nothing ran under them. So are those of
// commands that were being forgotten: their outputs may be gone, and the server has them.
func (j *Journal) Entries() ([]Entry, error) {
	names, err := filepath.Glob(filepath.Join(escape(j.commands), "*"+endRecord))
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, name := range names {
		record, held, err := j.openRecord(strings.TrimSuffix(name, endRecord))
		if err != nil {
			return nil, err
		}
		order, err := record.Order()
		if err != nil && !held {
			_ = record.Close()
			record.remove()
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if _, buried := j.Buried(order.ID); buried {
			_ = record.Close()
			record.remove()
			continue
		}
		record.stopped = order.Boot == "" || order.Boot != j.boot
		entries = append(entries, Entry{Order: order, Record: record, Held: held})
	}
	slices.SortFunc(entries, func(a, b Entry) int { return int(a.Order.Seq - b.Order.Seq) })
	return entries, nil
}

func (j *Journal) openRecord(path string) (record *Record, held bool, err error) {
	file, err := os.OpenFile(path+endRecord, os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, err
	}
	record = &Record{disk: j.disk, path: path, file: file}
	free, err := record.lock()
	if err != nil {
		_ = file.Close()
		return nil, false, err
	}
	return record, !free, nil
}

// Free takes the lock of a record where no shim has it any more, and reports whether. The
// error says that it can't be known, as of a record that was closed.
func (r *Record) Free() (bool, error) { return r.lock() }

// Abandon forgets all commands that are not over for everybody, with no word of how they ended.
func (j *Journal) Abandon() error {
	if err := os.RemoveAll(j.commands); err != nil {
		return err
	}
	return lasting(j.disk, j.commands)
}

// Bury forgets a command but for its id and how it ended, once the server has its result.
func (j *Journal) Bury(id string, ending Ending, record *Record) error {
	err := j.done.add(id, ending, time.Now())
	if err != nil && record != nil {
		record.removeOutput() // what a full disk needs for the line
		err = j.done.add(id, ending, time.Now())
	}
	if err != nil {
		return err
	}
	if record != nil {
		_ = record.Close()
		record.remove()
	}
	return nil
}

// Discard forgets a command that never began: its id is as if it had never come.
func (r *Record) Discard() {
	r.remove()
	_ = r.Close() // the lock goes last
}

// Buried tells how a command ended whose result the server had, and reports whether the id
// is remembered.
func (j *Journal) Buried(id string) (Ending, bool) { return j.done.find(id) }

// remove removes the files of a command, its record last.
func (r *Record) remove() {
	r.removeOutput()
	_ = r.disk.Remove(r.path + endRecord)
}

func (r *Record) removeOutput() {
	for _, end := range []string{endHead, endTail[0], endTail[1]} {
		_ = r.disk.Remove(r.path + end)
	}
}

// fileName gives the name of a command's files: its id, or a hash of one that is no name.
func fileName(id string) string {
	plain := id != "" && len(id) <= 100 && !strings.ContainsFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
	if plain {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "id." + hex.EncodeToString(sum[:])
}

func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

package journal

import (
	"errors"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// Order is what the journal keeps of a command: neither its line nor its environment, which
// may hold secrets, and which nothing needs a second time.
type Order struct {
	ID       string    `json:"id"`
	Seq      int64     `json:"seq"`  // the order in which commands came
	Boot     string    `json:"boot"` // of the machine, as it ran then
	Accepted time.Time `json:"accepted"`
}

// State is what the shim says while the command runs.
type State struct {
	Shim int `json:"shim"` // its pid, and session
	// Begun: from here on the command may have run.
	Begun bool `json:"begun"`
	// Written counts the bytes of stdout and stderr up to which the files are right, Touched
	// those up to which they may have been written.
	Written [2]int64 `json:"written"`
	Touched [2]int64 `json:"touched"`
	// Synced: the command is over, and the files of its output were brought to the disk.
	Synced bool `json:"synced,omitempty"`
}

// Ending says how a command ended.
type Ending struct {
	Outcome  agentwire.Outcome `json:"outcome"`
	ExitCode *int              `json:"exit_code,omitempty"`
	Error    string            `json:"error,omitempty"`
	Written  [2]int64          `json:"written"` // bytes of stdout and stderr
	Millis   int64             `json:"millis"`
	Swept    int               `json:"swept,omitempty"`
}

// Wish is what the agent asks of a shim.
type Wish struct {
	Cancel bool `json:"cancel"`
}

// Record is the journal's file of a command. Who holds its lock is, or was made by, the one
// shim that may run the command.
type Record struct {
	disk disk
	path string // without its ending
	file *os.File
	// stopped: the machine was, since the command came. What was not brought to the disk by then
	// may be there or not, whatever was written later.
	stopped bool
}

// FromFile gives the record that a shim got from its agent, with its lock. Path is that of
// the command's files without their endings.
func FromFile(f *os.File, path string) *Record { return &Record{disk: system{}, path: path, file: f} }

// File gives the open file, to be handed to a shim together with its lock.
func (r *Record) File() *os.File { return r.file }

// Path gives the path of the command's files without their endings.
func (r *Record) Path() string { return r.path }

// Close closes the file; the lock goes where no other process has it.
func (r *Record) Close() error { return r.file.Close() }

// lock takes the lock, and reports whether nobody had it.
func (r *Record) lock() (bool, error) {
	raw, err := r.file.SyscallConn()
	if err != nil {
		return false, err
	}
	var failed error
	// Not by Fd: the file may be closed meanwhile, and its number be another file's.
	err = raw.Control(func(fd uintptr) { failed = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) })
	if err = errors.Join(err, failed); errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Order reads what came from the agent.
func (r *Record) Order() (Order, error) {
	var order Order
	err := readBlock(r.file, blockOrder, &order)
	return order, err
}

// State reads what the shim said last; nothing where it has said nothing.
func (r *Record) State() (State, error) {
	var state State
	err := readBlock(r.file, blockState, &state)
	if errors.Is(err, errEmpty) {
		err = nil
	}
	return state, err
}

// SetState stores what the shim says.
func (r *Record) SetState(state State) error { return r.writeBlock(blockState, state) }

// Ending reads how the command ended, and reports whether it did.
func (r *Record) Ending() (Ending, bool, error) {
	var ending Ending
	err := readBlock(r.file, blockEnding, &ending)
	if errors.Is(err, errEmpty) {
		return Ending{}, false, nil
	}
	return ending, err == nil, err
}

// SetEnding stores how the command ended.
func (r *Record) SetEnding(ending Ending) error {
	ending.Error = Brief(ending.Error)
	return r.writeBlock(blockEnding, ending)
}

// Wish reads what the agent asks.
func (r *Record) Wish() (Wish, error) {
	var wish Wish
	err := readBlock(r.file, blockWish, &wish)
	if errors.Is(err, errEmpty) {
		err = nil
	}
	return wish, err
}

// SetWish stores what the agent asks.
func (r *Record) SetWish(wish Wish) error { return r.writeBlock(blockWish, wish) }

// Sync brings the record to the disk.
func (r *Record) Sync() error { return r.disk.Sync(r.file) }

// Brief cuts an error's text to what fits in a block however it is escaped.
func Brief(text string) string {
	const most = 500
	text = strings.ToValidUTF8(text, "?")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + " …"
	}
	return text
}

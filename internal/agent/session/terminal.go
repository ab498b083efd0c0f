package session

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// The size of a terminal that nobody gave one, and the largest.
const (
	defaultCols = 80
	defaultRows = 24
	maxSide     = 1000
)

// terminal is a pseudo-terminal: what is written to the master is typed on it.
type terminal struct {
	master *os.File
	slave  *os.File
}

// openTerminal opens one. Its master never blocks a thread, so that closing it ends reads
// and writes that wait.
func openTerminal(cols, rows int) (*terminal, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	t := &terminal{master: os.NewFile(uintptr(fd), "ptmx")}
	err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	if err == nil {
		err = setSize(fd, cols, rows)
	}
	var number uint32
	if err == nil {
		number, err = unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	}
	if err == nil {
		t.slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = t.master.Close()
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	return t, nil
}

func (t *terminal) resize(cols, rows int) error {
	raw, err := t.master.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = setSize(int(fd), cols, rows) })
	if err != nil {
		return err
	}
	return failed
}

func setSize(fd, cols, rows int) error {
	return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: side(cols, defaultCols), Row: side(rows, defaultRows)})
}

func side(n, otherwise int) uint16 {
	if n < 1 {
		n = otherwise
	}
	return uint16(min(n, maxSide))
}

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	postgresName  = "postgres"
	postgresGrace = 20 * time.Second
	// postgresPatience is how long a start is tried. A start after a crash fails while the
	// killed server's backends still notice its death, and replaying its log takes time.
	postgresPatience = 2 * time.Minute
)

// postgresEnding asks for a fast stop, which ends sessions and writes a checkpoint, then
// for one that leaves the rest to recovery.
var postgresEnding = []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT}

// launchPostgres starts the cluster's server and waits until it answers.
func launchPostgres(ctx context.Context, c *Cluster, logPath string) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, postgresPatience)
	defer cancel()
	for {
		if err := c.clearStale(); err != nil {
			return nil, err
		}
		said := size(logPath)
		p, err := c.startLogged(logPath)
		if err != nil {
			return nil, err
		}
		err = c.Await(ctx, p.gone)
		if err == nil {
			return p, nil
		}
		p.stop(postgresGrace, postgresEnding...)
		if domain.CodeOf(err) != domain.CodeUnavailable || !backendsLinger(logPath, said) {
			return nil, orFull(fmt.Errorf("%w; the end of %s:\n%s", err, logPath, tail(logPath)), c.home, filepath.Dir(logPath))
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// backendsLinger reports whether the log says, after its first said bytes, that a killed
// server's children still hold its memory. They write their own last words into the same
// log, so the reason may stand anywhere in it.
func backendsLinger(logPath string, said int64) bool {
	text, err := os.ReadFile(logPath)
	return err == nil && strings.Contains(string(text[min(said, int64(len(text))):]), "shared memory block")
}

// size gives the length of a file in bytes; of one that isn't there, 0.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (c *Cluster) startLogged(logPath string) (*process, error) {
	log, err := openLog(logPath)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := c.Command()
	cmd.Stdout, cmd.Stderr = log, log
	return startProcess(cmd, postgresEnding[0])
}

// clearStale deals with what a killed server or a killed parent left: a server that still
// runs on this cluster is ended, and a lock file that names a process which isn't one is
// removed, since PostgreSQL would take any process of its user with that id for its own.
func (c *Cluster) clearStale() error {
	path := filepath.Join(c.data(), "postmaster.pid")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the database's lock file: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if pid, err := strconv.Atoi(line); err == nil && worksIn(pid, c.data()) {
		if started, ok := processStart(pid); ok {
			_, err := endStranger(record{PID: pid, Started: started}, postgresGrace, postgresEnding...)
			return err
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the database's stale lock file: %w", err)
	}
	return nil
}

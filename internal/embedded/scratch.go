package embedded

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Scratch is a PostgreSQL server for tests: its data is gone with it, nothing is synced to
// the disk, and it ends with the process that started it, however that one ends.
type Scratch struct {
	*Cluster
	leash    *os.File // the guard ends the server when this is closed, by us or by our death
	temporal *os.File // likewise of the Temporal server; nil where none was started
}

// guard runs the server, waits for the end of its input, and then ends the server and
// removes its folder. A shell does that on every system, also after a kill -9 of the test.
const guard = `dir=$1; shift
"$@" >"$dir/log" 2>&1 &
read -r _
kill -QUIT $! 2>/dev/null
wait $!
rm -rf "$dir"`

// StartScratch starts a server of its own on a free port. cacheDir keeps programs that had
// to be fetched.
func StartScratch(ctx context.Context, cacheDir string, report ProgressFunc) (*Scratch, error) {
	home, err := scratchHome()
	if err != nil {
		return nil, err
	}
	cluster, err := OpenCluster(ctx, ClusterOptions{Home: home, CacheDir: cacheDir, Fleeting: true, Progress: report})
	if err != nil {
		return nil, err
	}
	s := &Scratch{Cluster: cluster}
	if err := s.start(home); err != nil {
		return nil, err
	}
	if err := cluster.Await(ctx, nil); err != nil {
		log, _ := os.ReadFile(filepath.Join(home, "log")) // the error is told with or without it
		s.Stop()
		return nil, fmt.Errorf("start PostgreSQL for a test: %w\n%s", err, log)
	}
	return s, nil
}

func (s *Scratch) start(home string) error {
	server := s.Command("fsync=off", "synchronous_commit=off", "full_page_writes=off",
		"max_connections=400", "shared_buffers=64MB", "autovacuum_naptime=10s")
	guarded := *server
	guarded.Path = "/bin/sh"
	guarded.Args = append([]string{"sh", "-c", guard, "sh", home}, server.Args...)
	input, leash, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer input.Close()
	guarded.Stdin = input
	if err := guarded.Start(); err != nil {
		leash.Close()
		return fmt.Errorf("start PostgreSQL for a test: %w", err)
	}
	s.leash = leash
	return guarded.Process.Release()
}

// Stop ends the server and removes its data; that goes on by itself after the return.
func (s *Scratch) Stop() {
	if s.temporal != nil {
		s.temporal.Close()
	}
	s.leash.Close()
}

// ScratchTemporal is a Temporal server for tests.
type ScratchTemporal struct {
	Address   string // host:port of the frontend
	UIAddress string // with its path
	Namespace string
}

// StartTemporal starts a Temporal server on the scratch server, on free ports. It ends with
// the scratch server, and with the process that started it.
func (s *Scratch) StartTemporal(ctx context.Context, cacheDir string, report ProgressFunc) (ScratchTemporal, error) {
	program, err := TemporalServer(ctx, cacheDir, report)
	if err != nil {
		return ScratchTemporal{}, err
	}
	t := ScratchTemporal{Namespace: "default"}
	o := Options{TemporalPort: int(freePort()), UIPort: int(freePort()), UIPath: "/temporal", CodecEndpoint: "/temporal-codec", Namespace: t.Namespace}
	settings, err := newTemporalSettings(s.DSN("postgres"), o)
	if err != nil {
		return t, err
	}
	logPath := filepath.Join(s.home, "temporal.log")
	r, err := newTemporalRun(program, logPath)
	if err != nil {
		return t, err
	}
	err = r.cmd.Start()
	r.release()
	s.temporal = r.leash
	if err != nil {
		r.answers.Close()
		return t, fmt.Errorf("start the Temporal server for a test: %w", err)
	}
	if err := r.greet(ctx, settings); err != nil {
		return t, fmt.Errorf("%w; the end of its log:\n%s", err, tail(logPath))
	}
	t.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(o.TemporalPort))
	t.UIAddress = fmt.Sprintf("http://127.0.0.1:%d%s", o.UIPort, o.UIPath)
	return t, r.cmd.Process.Release()
}

// scratchHome makes a folder for a server's data that the server's user can reach.
func scratchHome() (string, error) {
	acct, err := serverAccount("")
	if err != nil {
		return "", err
	}
	for _, parent := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if !acct.reaches(filepath.Join(parent, "x")) || syscall.Access(parent, 2) != nil {
			continue
		}
		if home, err := os.MkdirTemp(parent, "harvest-test-pg-*"); err == nil {
			return home, nil
		}
	}
	return "", domain.Errorf(domain.CodeUnavailable, "no temporary folder is open to the user that PostgreSQL runs as; set TMPDIR to one that is")
}

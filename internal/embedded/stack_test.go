package embedded_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/embedded"
	"github.com/harvest-engine/harvest/internal/testkit"
)

func TestDataFolderIsLocked(t *testing.T) {
	t.Parallel()
	dir := testkit.DataDir(t)
	lock, err := embedded.LockData(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = embedded.Start(context.Background(), options(dir))
	if domain.CodeOf(err) != domain.CodeConflict || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Fatalf("a second start on the folder gives %v, not a conflict with the holder's id", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if lock, err = embedded.LockData(dir); err != nil {
		t.Fatalf("the folder stays locked: %v", err)
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
}

func TestTakenPortIsNamed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	o := options(testkit.DataDir(t))
	o.PostgresPort = port
	_, err = embedded.Start(context.Background(), o)
	if domain.CodeOf(err) != domain.CodeConflict {
		t.Fatalf("got %v, want a conflict", err)
	}
	for _, part := range []string{strconv.Itoa(port), "--postgres-port"} {
		if !strings.Contains(domain.PublicMessage(err), part) {
			t.Errorf("%q doesn't name %s", domain.PublicMessage(err), part)
		}
	}
}

func TestDataOutlivesAStop(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), testkit.DataDir(t)
	o := options(dir)
	o.NoTemporal = true
	first, err := embedded.Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := execute(ctx, first.DSN(), "create table kept (id int)"); err != nil {
		t.Fatal(err)
	}
	pid := first.PIDs()["postgres"]
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	if embedded.ProcessLives(pid) {
		t.Error("PostgreSQL runs on after the stop")
	}
	second := start(t, dir, withoutTemporal)
	if err := execute(ctx, second.DSN(), "select * from kept"); err != nil {
		t.Error(err)
	}
}

// A data folder that PostgreSQL's user can't reach has its database elsewhere; one that it
// can reach holds it.
func TestDatabaseLiesWhereItsUserReachesIt(t *testing.T) {
	t.Parallel()
	open, closed := testkit.DataDir(t), testkit.DataDir(t)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	home, err := embedded.PostgresHome(open)
	if err != nil {
		t.Fatal(err)
	}
	if home != filepath.Join(open, "postgres") {
		t.Errorf("the database of an open folder lies in %s", home)
	}
	home, err = embedded.PostgresHome(closed)
	if err != nil {
		t.Fatal(err)
	}
	_, _, other := embedded.ServerCredential()
	if inside := strings.HasPrefix(home, closed); inside == other {
		t.Errorf("the database of a closed folder lies in %s; PostgreSQL runs as another user: %v", home, other)
	}
	again, err := embedded.PostgresHome(closed)
	if err != nil || again != home {
		t.Errorf("asked again it lies in %s (%v), not in %s", again, err, home)
	}
	if other {
		t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(home)) })
		if target, err := os.Readlink(filepath.Join(closed, "postgres")); err != nil || target != home {
			t.Errorf("the data folder links to %q (%v), not to %s", target, err, home)
		}
	}
}

func TestParseMajor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n": 15,
		"postgres (PostgreSQL) 17.6":                             17,
		"postgres (PostgreSQL) 18beta1":                          18,
		"something else":                                         0,
		"":                                                       0,
	} {
		if got := embedded.ParseMajor(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

// The record of a process that ended says nothing about another with the same id.
func TestStrangersAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := testkit.DataDir(t)
	first := start0(t, dir)
	pid := stranger(t)
	if err := os.MkdirAll(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	old := fmt.Sprintf(`{"pid": %d, "started": "long ago"}`, pid)
	if err := os.WriteFile(filepath.Join(dir, "run", "postgres.json"), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	lockFile := filepath.Join(dir, "postgres", "data", "postmaster.pid")
	if err := os.WriteFile(lockFile, fmt.Appendf(nil, "%d\n%s\n1\n1\n\n127.0.0.1\n", pid, filepath.Dir(lockFile)), 0o600); err != nil {
		t.Fatal(err)
	}
	if uid, gid, ok := embedded.ServerCredential(); ok {
		if err := os.Chown(lockFile, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	second := start(t, dir, withoutTemporal)
	if second.PIDs()["postgres"] == first {
		t.Error("the server was not started")
	}
	if !embedded.ProcessLives(pid) {
		t.Error("a process that the stack never started was ended")
	}
}

// start0 starts a stack on the folder, stops it, and gives its server's process id.
func start0(t *testing.T, dir string) int {
	t.Helper()
	o := options(dir)
	o.NoTemporal = true
	s, err := embedded.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	pid := s.PIDs()["postgres"]
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	return pid
}

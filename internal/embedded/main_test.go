package embedded_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/embedded"
)

// parentVariable makes the test binary a parent to be killed: it starts a stack on the
// folder named, tells about it in one line, and waits.
const parentVariable = "HARVEST_TEST_PARENT"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentVariable); dir != "" {
		beParent(dir)
		return
	}
	os.Exit(m.Run())
}

// running is what a parent tells.
type running struct {
	DSN     string
	Address string
	PIDs    map[string]int
}

// scratchParent is the folder's name for a parent of a scratch server.
const scratchParent = "scratch"

func beParent(dir string) {
	if dir == scratchParent {
		s, err := embedded.StartScratch(context.Background(), embedded.DefaultCacheDir(), nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = json.NewEncoder(os.Stdout).Encode(running{DSN: s.DSN("postgres")})
		waitWith(s)
		return
	}
	s, err := embedded.Start(context.Background(), options(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(running{s.DSN(), s.TemporalAddress(), s.PIDs()})
	waitWith(s)
}

// waitWith waits to be killed, and holds servers meanwhile: what nobody holds is collected, and
// its pipes are closed, which ends the servers.
func waitWith(servers any) {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
	runtime.KeepAlive(servers)
}

// startParent runs a parent and gives its process and what it told.
func startParent(t *testing.T, dir string) (*exec.Cmd, running) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentVariable+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the parent told nothing: %v", err)
	}
	var told running
	if err := json.Unmarshal(line, &told); err != nil {
		t.Fatal(err)
	}
	return cmd, told
}

func options(dir string) embedded.Options {
	return embedded.Options{
		DataDir: dir, CacheDir: embedded.DefaultCacheDir(), UIPath: "/temporal", Namespace: "default",
		Log: zerolog.Nop(),
	}
}

// start runs a stack until the test ends; change may be nil.
func start(t *testing.T, dir string, change func(*embedded.Options)) *embedded.Stack {
	t.Helper()
	o := options(dir)
	if change != nil {
		change(&o)
	}
	s, err := embedded.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return s
}

func withoutTemporal(o *embedded.Options) { o.NoTemporal = true }

// eventually tries until there is no error, for a generous while.
func eventually(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		attempt, done := context.WithTimeout(ctx, 5*time.Second)
		err := try(attempt)
		done()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		}
	}
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
}

func execute(ctx context.Context, dsn, sql string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// stranger starts a process that has nothing to do with any stack, as the user that
// PostgreSQL runs as.
func stranger(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Dir = "/"
	if uid, gid, ok := embedded.ServerCredential(); ok {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

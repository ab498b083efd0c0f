package crashtest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/embedded"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// serversOrder is a process that supervises Postgres and Temporal over a data folder, as the
// command up does.
type serversOrder struct {
	Dir                        string
	Postgres, Temporal, UIPort int
}

// serversAnswer is what it says once they run.
type serversAnswer struct {
	DSN, Temporal string
	PIDs          map[string]int
}

func (o *serversOrder) run() error {
	stack, err := embedded.Start(context.Background(), embedded.Options{
		DataDir: o.Dir, CacheDir: embedded.DefaultCacheDir(), PostgresPort: o.Postgres, TemporalPort: o.Temporal, UIPort: o.UIPort,
		UIPath: "/temporal", Namespace: "default", Log: zerolog.Nop(),
	})
	if err != nil {
		return err
	}
	if err := postgres.Migrate(context.Background(), stack.DSN()); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(serversAnswer{stack.DSN(), stack.TemporalAddress(), stack.PIDs()}); err != nil {
		return err
	}
	for victims := bufio.NewScanner(os.Stdin); victims.Scan(); {
		for !killed(stack.PIDs()[victims.Text()]) {
			<-time.After(10 * time.Millisecond) // it is being started again
		}
	}
	return stack.Stop()
}

// killed kills a process; pid 0, which would mean the whole group, is nobody.
func killed(pid int) bool { return pid > 0 && syscall.Kill(pid, syscall.SIGKILL) == nil }

// servers are the servers of one test, over a data folder that outlives them.
type servers struct {
	serversAnswer
	t       *testing.T
	order   serversOrder
	process *process
}

func newServers(t *testing.T) *servers {
	t.Helper()
	dir := testkit.DataDir(t)
	s := &servers{t: t, order: serversOrder{Dir: dir, Postgres: freePort(t), Temporal: freePort(t), UIPort: freePort(t)}}
	s.start()
	t.Cleanup(func() { // in peace, so that the folder can be removed
		_ = s.process.tied.Close()
		_ = s.process.cmd.Wait()
	})
	return s
}

func (s *servers) start() {
	s.t.Helper()
	s.process = spawn(s.t, order{Servers: &s.order}, &s.serversAnswer)
}

// kill has one server killed, by its name; its supervisor will start it again.
func (s *servers) kill(name string) {
	s.t.Helper()
	if _, err := fmt.Fprintln(s.process.tied, name); err != nil {
		s.t.Fatalf("kill %s: %v", name, err)
	}
}

// killAll kills the servers and who supervises them; the supervisor first, so that it can't
// start them again.
func (s *servers) killAll() {
	s.process.kill()
	for _, pid := range s.PIDs {
		killed(pid) // it may have gone with its supervisor
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	_, port, err := net.SplitHostPort(freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

package postgres_test

import (
	"context"
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// A connection to a machine that died is given up within half a minute, whether it waits or sends.
func TestDeadServersAreNoticed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dsn := testkit.DSN(t)
	pool, err := postgres.Open(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pooled, err := pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer pooled.Release()
	alone, err := postgres.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close(ctx)
	for name, conn := range map[string]net.Conn{"of the pool": pooled.Conn().PgConn().Conn(), "alone": alone.PgConn().Conn()} {
		raw, err := conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		for option, want := range map[int]int{unix.TCP_USER_TIMEOUT: 30_000, unix.TCP_KEEPIDLE: 15, unix.TCP_KEEPINTVL: 5, unix.TCP_KEEPCNT: 3} {
			var got int
			if failure := raw.Control(func(fd uintptr) { got, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option) }); failure != nil || err != nil {
				t.Fatal(failure, err)
			}
			if got != want {
				t.Errorf("a connection %s has %d of option %d, want %d", name, got, option, want)
			}
		}
	}
}

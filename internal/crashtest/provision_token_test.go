package crashtest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// blockade is a transaction that keeps the token of one provision from being made.
type blockade struct {
	y       *yard
	backend int // of the database
	lift    func()
}

// blockToken takes the place of a provision's token, and does not say whether it keeps it.
func (y *yard) blockToken(id string) blockade {
	y.t.Helper()
	ctx := context.Background()
	tx, err := y.pool.Begin(ctx)
	if err != nil {
		y.t.Fatal(err)
	}
	b := blockade{y: y, lift: func() { _ = tx.Rollback(ctx) }} // a second time it does nothing
	y.t.Cleanup(b.lift)
	_, err = tx.Exec(ctx, `insert into install_tokens (id, project_id, hash, created_by, expires_at)
select id, project_id, sha256(id::bytea), user_id, now() from provisions where id = $1`, id)
	if err == nil {
		err = tx.QueryRow(ctx, "select pg_backend_pid()").Scan(&b.backend)
	}
	if err != nil {
		y.t.Fatal(err)
	}
	return b
}

// holds waits until it holds up n others, one behind the other.
func (b blockade) holds(n int) {
	b.y.t.Helper()
	b.y.comes("the token waits for its place", func() bool {
		var waiting int
		err := b.y.pool.QueryRow(context.Background(), `
with recursive held as (
    select pid from pg_stat_activity where $1 = any(pg_blocking_pids(pid))
    union select a.pid from pg_stat_activity a, held where held.pid = any(pg_blocking_pids(a.pid))
)
select count(*) from held`, b.backend).Scan(&waiting)
		return err == nil && waiting >= n
	})
}

// A worker that is killed as it makes the token is replaced: there is one token, and one
// container.
func TestKilledWorkerAmidToken(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.provision()
	hold := y.blockToken(p.ID)
	doomed := y.worker()
	hold.holds(1)
	doomed.kill()
	hold.lift() // what was asked for is done, and nobody hears of it
	y.worker()
	y.made(p.ID)
	y.closed(p.ID, "killed at the token")
}

// Whoever stops it as the token is made leaves no token behind, and no container.
func TestProvisionIsCanceledAmidToken(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.provision()
	hold := y.blockToken(p.ID)
	y.worker()
	hold.holds(1)
	canceled := make(chan error, 1)
	go func() {
		_, err := y.CancelProvision(context.Background(), y.project.ID, p.ID)
		canceled <- err
	}()
	hold.holds(2)
	hold.lift()
	if err := <-canceled; err != nil {
		t.Fatal(err)
	}
	if p, told := y.over(p.ID); p.Status != domain.ProvisionCanceled || !strings.HasPrefix(told[len(told)-1], "canceled ") {
		t.Errorf("it is %s (%s), told %v", p.Status, p.Error, told)
	}
	y.clean()
	y.closed(p.ID, "canceled at the token")
}

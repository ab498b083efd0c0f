package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

const day = 24 * time.Hour

// house is a store whose rows a test makes older.
type house struct {
	*testing.T
	pool  *pgxpool.Pool
	store *postgres.Store
}

func newHouse(t *testing.T) house {
	t.Helper()
	pool := testkit.Postgres(t)
	return house{t, pool, postgres.NewStore(pool)}
}

func (h house) exec(sql string, args ...any) {
	h.Helper()
	if _, err := h.pool.Exec(context.Background(), sql, args...); err != nil {
		h.Fatalf("%s: %v", sql, err)
	}
}

func (h house) count(table string) (n int) {
	h.Helper()
	if err := h.pool.QueryRow(context.Background(), "select count(*) from "+table).Scan(&n); err != nil {
		h.Fatal(err)
	}
	return n
}

func (h house) keep(r domain.Retention) domain.Housekeeping {
	h.Helper()
	done, err := h.store.Housekeep(context.Background(), r)
	if err != nil {
		h.Fatal(err)
	}
	return done
}

// age makes all that the database holds older.
func (h house) age(by time.Duration) {
	h.Helper()
	if err := h.store.EnsurePartitions(context.Background(), time.Now().Add(-by)); err != nil {
		h.Fatal(err)
	}
	for _, sql := range []string{
		`update subjects set created_at = created_at - $1::interval`,
		`update events set at = at - $1::interval`,
		`update idempotency set created_at = created_at - $1::interval`,
		`update turns set created_at = created_at - $1::interval, ended_at = ended_at - $1::interval`,
		`update ingests set created_at = created_at - $1::interval, ended_at = ended_at - $1::interval`,
		`update large_values set unused_since = unused_since - $1::interval`,
	} {
		h.exec(sql, by)
	}
}

func TestHousekeepingRemovesWhatIsPastItsTime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	req := request()
	req.IdempotencyKey = "k"
	old := create(t, h.store, req)
	finish(t, h.store, domain.TurnEnd{TurnID: old.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "Here."})
	ctx := context.Background()
	for _, id := range []string{"run-1", "run-2"} {
		if _, err := h.store.CreateIngest(ctx, order(id, "app")); err != nil {
			t.Fatal(err)
		}
		if _, err := h.store.EndIngest(ctx, id, domain.CodeUpstream, "it failed"); err != nil {
			t.Fatal(err)
		}
	}
	h.age(150 * day)
	young := create(t, h.store, request())

	if done := h.keep(domain.Retention{}); done.Any() {
		t.Errorf("removed %+v, though all is to be kept", done)
	}
	done := h.keep(domain.Retention{Events: 90 * day})
	if len(done.Partitions) == 0 || done.Runs != 1 || done.Keys != 1 {
		t.Errorf("removed %+v; want a month, the older run of two, and a key", done)
	}
	if diff := cmp.Diff([]string{"trimmed", "done"}, types(log(t, h.store, old.ID))); diff != "" {
		t.Errorf("the old turn's events (-want +got):\n%s", diff)
	}
	finish(t, h.store, domain.TurnEnd{TurnID: young.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "There."})
	if got := types(log(t, h.store, young.ID)); len(got) != 2 || got[0] != "user_message" {
		t.Errorf("the young turn's events are %v", got)
	}
	if _, err := h.store.Ingest(ctx, "run-1"); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("the older run: %v", err)
	}
	if _, err := h.store.Ingest(ctx, "run-2"); err != nil {
		t.Errorf("the newest run of a repository stays: %v", err)
	}
	if n := h.count("streams where id like 'ingest/%'"); n != 1 {
		t.Errorf("%d streams of runs are left", n)
	}
}

// Old rows that no partition took go as well.
func TestHousekeepingEmptiesTheDefaultPartition(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	create(t, h.store, request())
	h.exec(`update events set at = at - interval '400 days'`)
	if n := h.count("events_default"); n != 1 {
		t.Fatalf("%d rows are in the default partition", n)
	}
	h.keep(domain.Retention{Events: 90 * day})
	if n := h.count("events_default"); n != 0 {
		t.Errorf("%d rows are left in the default partition", n)
	}
}

func TestHousekeepingMakesPartitions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if _, err := h.store.DropEventsBefore(context.Background(), time.Now().Add(2*365*day)); err != nil {
		t.Fatal(err)
	}
	h.keep(domain.Retention{})
	create(t, h.store, request())
	if n := h.count("events_default"); n != 0 {
		t.Errorf("%d rows fell into the default partition", n)
	}
}

// A value goes once its message is gone, the turns that may have read it are over, and both
// have been so for long enough.
func TestHousekeepingRemovesUnusedValues(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	keep := domain.Retention{Values: 8 * day}
	req := request()
	req.Attachments = []domain.Attachment{{Name: "a.txt", MimeType: "text/plain", Data: []byte("attached")}}
	turn := create(t, h.store, req)
	steps := []struct {
		name string
		do   func()
		left int
	}{
		{"in use", func() { h.age(30 * day) }, 1},
		{"just unused, its turn open", func() { h.exec(`delete from messages where turn_id = $1`, turn.ID) }, 1},
		{"long unused, its turn open", func() { h.age(30 * day) }, 1},
		{"long unused, its turn just over", func() { h.exec(`update turns set ended_at = now()`) }, 1},
		{"used again", func() { create(t, h.store, req); h.age(30 * day) }, 1},
		{"unused again", func() { h.exec(`delete from messages`); h.exec(`update turns set ended_at = now()`) }, 1},
		{"unused and over for long", func() { h.age(30 * day) }, 0},
	}
	for _, step := range steps {
		step.do()
		h.keep(keep)
		if n := h.count("large_values"); n != step.left {
			t.Fatalf("%s: %d values are left, want %d", step.name, n, step.left)
		}
	}
}

// The migration finds the values of messages that were stored before.
func TestUsesOfEarlierMessages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	req := request()
	req.Attachments = []domain.Attachment{{Name: "a.txt", MimeType: "text/plain", Data: []byte("attached")}}
	create(t, h.store, req)
	const found = `
select count(*) from messages m join turns t on t.id = m.turn_id
cross join json_array_elements(case json_typeof(m.content) when 'array' then m.content else '[]' end) b(block)
join value_uses u on u.owner = 'user/' || t.user_id and u.message_id = m.id
    and u.sha256 = decode(b.block -> 'ref' ->> 'sha256', 'base64')
where b.block -> 'ref' is not null`
	var n int
	if err := h.pool.QueryRow(context.Background(), found).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d uses are found in messages, %v; want one", n, err)
	}
}

func TestOneProcessKeepsHouseAtATime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	create(t, h.store, request())
	h.age(400 * day)
	tx, err := h.pool.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(context.Background(), `select pg_advisory_xact_lock(7305516092472)`); err != nil {
		t.Fatal(err)
	}
	keep := domain.Retention{Events: 90 * day}
	if done := h.keep(keep); done.Any() {
		t.Errorf("removed %+v beside another process", done)
	}
	if err := tx.Rollback(context.Background()); err != nil {
		t.Fatal(err)
	}
	if done := h.keep(keep); !done.Any() {
		t.Error("nothing was removed")
	}
}

// A partition that is being read is left to the next time, and holds no writer up for long.
func TestHousekeepingWaitsForNoReader(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	create(t, h.store, request())
	h.age(400 * day)
	tx, err := h.pool.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(context.Background(), `select count(*) from events`); err != nil {
		t.Fatal(err)
	}
	if done, err := h.store.Housekeep(context.Background(), domain.Retention{Events: 90 * day}); err == nil || done.Any() {
		t.Errorf("removed %+v, %v", done, err)
	}
}

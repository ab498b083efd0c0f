package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

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

// over makes a turn that has ended.
func (h house) over() {
	h.Helper()
	turn := create(h.T, h.store, request())
	finish(h.T, h.store, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "Here."})
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
	if err := h.store.SkipIngest(ctx, order("skipped", "app")); err != nil {
		t.Fatal(err)
	}
	h.age(150 * day)
	young := create(t, h.store, request())

	if done := h.keep(domain.Retention{}); done.Any() {
		t.Errorf("removed %+v, though all is to be kept", done)
	}
	done := h.keep(domain.Retention{Events: 90 * day})
	if len(done.Partitions) == 0 || done.Runs != 1 || done.Keys != 1 {
		t.Errorf("removed %+v; want a month, the older run of two that did something, and a key", done)
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

// Old rows that no partition took go as well, but not those of what goes on.
func TestHousekeepingEmptiesTheDefaultPartition(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.over()
	open := create(t, h.store, request())
	h.exec(`update events set at = at - interval '400 days'`)
	h.exec(`update subjects set created_at = created_at - interval '400 days'`)
	if n := h.count("events_default"); n != 3 {
		t.Fatalf("%d rows are in the default partition", n)
	}
	keep := domain.Retention{Events: 90 * day}
	h.keep(keep)
	if n := h.count("events_default"); n != 3 {
		t.Errorf("%d rows are left in the default partition beside a turn of that age", n)
	}
	finish(t, h.store, domain.TurnEnd{TurnID: open.ID, Status: domain.TurnDone, Reason: domain.EndAnswered})
	h.keep(keep)
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

// A value that two messages hold stays until the last of them is gone.
func TestHousekeepingKeepsWhatAnotherMessageHolds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	req := request()
	req.Attachments = []domain.Attachment{{Name: "a.txt", MimeType: "text/plain", Data: []byte("attached")}}
	first := create(t, h.store, req)
	req.Attachments[0].Name = "b.txt"
	second := create(t, h.store, req)
	h.exec(`update turns set ended_at = now()`)
	h.exec(`delete from messages where turn_id = $1`, first.ID)
	for range 2 {
		h.age(30 * day)
		h.keep(domain.Retention{Values: 8 * day})
	}
	d, err := h.store.Dialogue(context.Background(), second.ID)
	if err != nil || string(d.Message.Blocks[1].Data) != "attached" {
		t.Errorf("the second message holds %+v, %v", d.Message, err)
	}
}

// A value that is used again while its removal waits stays, and what it was marked with is
// forgotten. So is a mark that was about to be set.
func TestHousekeepingBesideANewUse(t *testing.T) {
	t.Parallel()
	for _, marked := range []bool{true, false} {
		h := newHouse(t)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		keep := domain.Retention{Values: 8 * day}
		req := request()
		req.Attachments = []domain.Attachment{{Name: "a.txt", MimeType: "text/plain", Data: []byte("attached")}}
		create(t, h.store, req)
		h.exec(`update turns set ended_at = now()`)
		h.exec(`delete from messages`)
		if marked {
			h.keep(keep)
			h.age(30 * day)
		}
		// A request that uses it again, as far as CreateTurn is before its commit.
		tx, err := h.pool.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback(context.Background()) }() // after a commit it does nothing
		for _, sql := range []string{
			`insert into messages (id, role, content, characters) values ('again', 'user', '[]', 0)`,
			`insert into large_values (owner, sha256, size, body) select owner, sha256, 0, '' from large_values
				on conflict (owner, sha256) do update set unused_since = null`,
			`insert into value_uses select owner, sha256, 'again' from large_values`,
		} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				t.Fatal(err)
			}
		}
		kept := make(chan error, 1)
		go func() {
			_, err := h.store.Housekeep(ctx, keep)
			kept <- err
		}()
		if marked {
			h.blocked()
		} else if err := <-kept; err != nil { // what is in use is passed by
			t.Fatal(err)
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if marked {
			if err := <-kept; err != nil {
				t.Errorf("marked %v: %v", marked, err)
			}
		}
		if n := h.count("large_values where unused_since is null"); n != 1 {
			t.Errorf("marked %v: %d values are in use, want 1", marked, n)
		}
	}
}

// blocked waits until a session waits for a lock of another.
func (h house) blocked() {
	h.Helper()
	const waiting = `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`
	for deadline := time.Now().Add(20 * time.Second); ; {
		var found bool
		if err := h.pool.QueryRow(context.Background(), waiting).Scan(&found); err != nil {
			h.Fatal(err)
		}
		if found {
			return
		}
		if time.Now().After(deadline) {
			h.Fatal("nothing waits for a lock")
		}
	}
}

// The migration finds the values of messages that were stored before it.
func TestUsesOfEarlierMessages(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool := testkit.Postgres(t)
	h := house{t, pool, postgres.NewStore(pool)}
	h.exec(`create schema earlier`)
	config := pool.Config().ConnConfig.Copy()
	config.RuntimeParams["search_path"] = "earlier, public"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := postgres.MigrateTo(ctx, conn, "earlier", 79); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`insert into turns (id, user_id, message_id, query) values ('t', 'ada', 'm', 'q')`,
		`insert into large_values (owner, sha256, size, body) values ('user/ada', '\x0102', 1, 'a'), ('user/bob', '\x0102', 1, 'a')`,
		`insert into messages (id, turn_id, role, content, characters) values
			('m', 't', 'user', '[{"type":"text","text":"q"},{"type":"media","ref":{"sha256":"AQI=","size":1}},{"type":"media","ref":{"sha256":"AQI=","size":1}}]', 1),
			('reply', 't', 'assistant', '[{"type":"text","text":"a"}]', 1),
			('odd', 't', 'user', '"text"', 1),
			('lost', 't', 'user', '[{"type":"media","ref":{"sha256":"AwQ=","size":1}}]', 1)`,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := postgres.MigrateTo(ctx, conn, "earlier", 80); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(ctx, `select owner || ' ' || encode(sha256, 'hex') || ' ' || message_id from value_uses`)
	if err != nil {
		t.Fatal(err)
	}
	uses, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if diff := cmp.Diff([]string{"user/ada 0102 m"}, uses); err != nil || diff != "" {
		t.Errorf("uses that were found (-want +got):\n%s%v", diff, err)
	}
}

// The clock of the process doesn't count, and what goes on keeps its log, its key and all of
// its events, however old it is.
func TestHousekeepingLeavesWhatGoesOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	req := request()
	req.IdempotencyKey = "k"
	turn := create(t, h.store, req)
	c := claim(t, h.store, turn.ID, "m0")
	if _, err := h.store.CreateIngest(ctx, order("run", "app")); err != nil {
		t.Fatal(err)
	}
	h.age(150 * day)
	keep := domain.Retention{Events: 90 * day, Values: 8 * day}
	if done := h.keep(keep); done.Any() {
		t.Errorf("removed %+v beside an open turn", done)
	}
	if again, created, err := h.store.CreateTurn(ctx, req); err != nil || created || again.ID != turn.ID {
		t.Errorf("a repeated request: turn %s, created %v, %v", again.ID, created, err)
	}
	if _, err := h.store.CommitModelCall(ctx, domain.ModelCommit{CallWrite: domain.CallWrite{Claim: c}, Outcome: []byte(`{}`)}); err != nil {
		t.Errorf("the turn goes on: %v", err)
	}
	finish(t, h.store, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "Here."})
	if diff := cmp.Diff([]string{"user_message", "done"}, types(log(t, h.store, turn.ID))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if _, err := h.store.EndIngest(ctx, "run", domain.CodeCanceled, "it was canceled"); err != nil {
		t.Errorf("the run goes on: %v", err)
	}
	h.age(150 * day)
	if done := h.keep(keep); len(done.Partitions) == 0 || done.Keys != 1 {
		t.Errorf("removed %+v once all had ended", done)
	}
}

// A reader that comes back to a place whose events are gone is told so once, and where the
// outcome is, also in the middle of a block.
func TestReadersAtARemovedPlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	turn := create(t, h.store, request())
	c := claim(t, h.store, turn.ID, "m0")
	last, err := h.store.CommitModelCall(ctx, domain.ModelCommit{CallWrite: domain.CallWrite{Claim: c,
		Close: &domain.ClosedBlock{Seq: 2, Type: domain.EventTextDelta, Text: "A long text."}}, Outcome: []byte(`{}`)})
	if err != nil || last != 2 {
		t.Fatalf("commit: %d, %v", last, err)
	}
	finish(t, h.store, domain.TurnEnd{TurnID: turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "Here."})
	h.age(150 * day)
	h.keep(domain.Retention{Events: 90 * day})
	for after, want := range map[domain.Cursor]int64{{}: 2, {Seq: 1}: 1, {Seq: 2, Offset: 3}: 1} {
		var got []domain.Event
		for e, err := range h.store.Follow(ctx, turn.ID, after) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e)
		}
		if diff := cmp.Diff([]string{"trimmed", "done"}, types(got)); diff != "" {
			t.Fatalf("from %s (-want +got):\n%s", after, diff)
		}
		var told struct {
			Message string
			Events  int64
		}
		if err := json.Unmarshal(got[0].Payload, &told); err != nil || told.Events != want || !strings.Contains(told.Message, "terminal event") {
			t.Errorf("from %s: told %+v, %v; want %d events", after, told, err, want)
		}
	}
}

// Processes that keep house at once, beside requests that come in, remove everything once and
// nothing that is young.
func TestHousekeepingFromSeveralProcesses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	const turns = 20
	for i := range turns {
		req := request()
		req.IdempotencyKey = fmt.Sprint("old-", i)
		req.Attachments = []domain.Attachment{{Name: "a", MimeType: "text/plain", Data: fmt.Append(nil, "attached ", i)}}
		finish(t, h.store, domain.TurnEnd{TurnID: create(t, h.store, req).ID, Status: domain.TurnDone, Reason: domain.EndAnswered})
	}
	h.exec(`delete from messages`)
	h.keep(domain.Retention{Values: 8 * day})
	h.age(150 * day)
	keep := domain.Retention{Events: 90 * day, Values: 8 * day}
	var group errgroup.Group
	var keys atomic.Int64
	for range 4 {
		group.Go(func() error {
			done, err := postgres.NewStore(h.pool).Housekeep(ctx, keep)
			keys.Add(done.Keys)
			return err
		})
	}
	young := make([]string, turns)
	for i := range turns {
		group.Go(func() error {
			req := request()
			req.IdempotencyKey = fmt.Sprint("young-", i)
			req.Attachments = []domain.Attachment{{Name: "a", MimeType: "text/plain", Data: fmt.Append(nil, "attached ", i)}}
			turn, _, err := h.store.CreateTurn(ctx, req)
			young[i] = turn.ID
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if keys.Load() != turns {
		t.Errorf("%d keys were removed, want %d", keys.Load(), turns)
	}
	for i, id := range young {
		d, err := h.store.Dialogue(ctx, id)
		if err != nil || string(d.Message.Blocks[1].Data) != fmt.Sprint("attached ", i) {
			t.Errorf("turn %d: %v", i, err)
		}
	}
	if n := h.count("large_values where unused_since is not null"); n != 0 {
		t.Errorf("%d values in use are marked as unused", n)
	}
	if n := h.count("events"); n != turns {
		t.Errorf("%d events are left, want the %d young ones", n, turns)
	}
}

func TestOneProcessKeepsHouseAtATime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.over()
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
	h.over()
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

// A new month waits for no reader either: all who come after it would queue behind it.
func TestAMonthWaitsForNoReader(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := context.Background()
	tx, err := h.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(ctx, `select count(*) from events`); err != nil {
		t.Fatal(err)
	}
	far := time.Now().AddDate(1, 0, 0)
	if err := h.store.EnsurePartitions(ctx, far); err == nil {
		t.Error("a month was made while the log was read")
	}
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	if err := h.store.EnsurePartitions(ctx, far); err != nil {
		t.Error(err)
	}
}

package postgres_test

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
)

// blocked is something that waits for another transaction.
type blocked struct {
	sql, id string // what the other one holds
	waiters int    // how many wait; 0: one
	do      func() error
	while   func() // is called as they wait; nil for nothing
}

// behind does something while another transaction holds what sql has changed, commits that once
// it is waited for, and gives the error. What does not wait fails the test.
func (h house) behind(b blocked) error {
	h.Helper()
	ctx := context.Background()
	tx, err := h.pool.Begin(ctx)
	if err != nil {
		h.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, b.sql, b.id); err != nil {
		h.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- b.do() }()
	for waiting := 0; waiting < max(1, b.waiters); time.Sleep(2 * time.Millisecond) {
		select {
		case err := <-done:
			h.Errorf("it does not wait, and gives %v", err)
			return err
		default:
		}
		err := h.pool.QueryRow(ctx, `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).Scan(&waiting)
		if err != nil {
			h.Fatal(err)
		}
	}
	if b.while != nil {
		b.while()
	}
	if err := tx.Commit(ctx); err != nil {
		h.Fatal(err)
	}
	return <-done
}

// What begins in a project while it is being closed waits for that, and then finds it closed: it
// would be missing among what is ended with the project.
func TestWhatBeginsWaitsForWhoClosesTheProject(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, begin := range map[string]func(m machine) error{
		"a command": func(m machine) error {
			_, err := m.store.CreateCommand(ctx, domain.CommandOrder{ID: "c", ProjectID: m.ProjectID, AgentID: m.ID, Command: "x", Timeout: time.Minute, Wait: time.Minute})
			return err
		},
		"a provision": func(m machine) error {
			_, err := m.store.CreateProvision(ctx, containerOrder(m.ProjectID, "p", ""))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, project, m := newMachine(t)
			err := h.behind(blocked{sql: `update projects set deleting_at = now() where id = $1`, id: project.ID, do: func() error { return begin(m) }})
			wantCode(t, name, err, domain.CodeNotFound)
			err = h.store.AddInstallToken(ctx, domain.InstallToken{ID: "x", ProjectID: project.ID, Hash: []byte("x"), ExpiresAt: time.Now().Add(time.Hour)})
			wantCode(t, "an install token of a closed project", err, domain.CodeNotFound)
		})
	}
}

// A command is not made for an agent that is about to be removed.
func TestACommandWaitsForWhoRemovesItsAgent(t *testing.T) {
	t.Parallel()
	h, project, m := newMachine(t)
	err := h.behind(blocked{sql: `delete from agents where id = $1`, id: m.ID, do: func() error {
		_, err := h.store.CreateCommand(context.Background(), domain.CommandOrder{ID: "c", ProjectID: project.ID, AgentID: m.ID, Command: "x", Timeout: time.Minute, Wait: time.Minute})
		return err
	}})
	wantCode(t, "a command of an agent that is gone", err, domain.CodeNotFound)
}

// A command that is delivered while it is being canceled is one that may run: its agent is asked.
func TestACancelBehindADelivery(t *testing.T) {
	t.Parallel()
	h, project, m := newMachine(t)
	c := m.order()
	delivery := `update commands set status = 'delivered', machine = 'm1', durable = true, delivered_at = now(), result_by = now() + interval '1 hour' where id = $1`
	err := h.behind(blocked{sql: delivery, id: c.ID, do: func() error {
		_, err := h.store.CancelCommand(context.Background(), project.ID, c.ID, "Ada")
		return err
	}})
	if got := m.look(c.ID); err != nil || got.Status != domain.CommandDelivered || !got.CancelRequested {
		t.Errorf("it is %+v, %v", got, err)
	}
}

// One that ends while its agent is being asked to cancel it has ended.
func TestACancelBehindAResult(t *testing.T) {
	t.Parallel()
	h, project, m := newMachine(t)
	c := m.sent()
	err := h.behind(blocked{sql: `update commands set status = 'done', exit_code = 0, ended_at = now() where id = $1`, id: c.ID, do: func() error {
		_, err := h.store.CancelCommand(context.Background(), project.ID, c.ID, "Ada")
		return err
	}})
	wantCode(t, "the cancel of a command that has ended", err, domain.CodeConflict)
	if got := m.look(c.ID); got.CancelRequested {
		t.Errorf("it is %+v", got)
	}
}

// Of two late results that come at once one is kept, with its own output.
func TestTwoLateResultsAtOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	c := m.sent()
	m.late(c.ID)
	if _, err := h.store.LapseCommand(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	err := h.behind(blocked{sql: `update commands set error = error where id = $1`, id: c.ID, waiters: 2, do: func() error {
		var group errgroup.Group
		for code, text := range []string{"zero", "one"} {
			group.Go(func() error {
				_, err := h.store.EndCommand(ctx, m.ID, result(c.ID, code, text))
				return err
			})
		}
		return group.Wait()
	}})
	got := m.look(c.ID)
	if err != nil || got.Late == nil || string(got.Stdout.Head) != []string{"zero", "one"}[*got.Late.ExitCode] {
		t.Errorf("kept %+v with %q, %v", got.Late, got.Stdout.Head, err)
	}
}

// Each step of a command locks the log before the command, as whoever ends a project or an agent
// does: the other way around two of them would wait for each other.
func TestStepsLockTheLogFirst(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	for name, step := range map[string]func(id string) error{
		"started": func(id string) error { return h.store.CommandStarted(ctx, m.ID, id) },
		"output": func(id string) error {
			chunk := domain.CommandChunk{Stream: domain.StreamStdout, Data: []byte("x")}
			return h.store.TakeOutput(ctx, m.ID, id, []domain.CommandChunk{chunk}, map[string]int64{domain.StreamStdout: 1}, nil)
		},
		"result": func(id string) error { _, err := h.store.EndCommand(ctx, m.ID, result(id, 0, "x")); return err },
		"time": func(id string) error {
			m.late(id)
			_, err := h.store.LapseCommand(ctx, id)
			return err
		},
	} {
		c := m.sent()
		err := h.behind(blocked{sql: `select from subjects where id = $1 for update`, id: c.ID, do: func() error { return step(c.ID) }, while: func() {
			if _, err := h.pool.Exec(ctx, `select from commands where id = $1 for update nowait`, c.ID); err != nil {
				t.Errorf("%s has locked the command: %v", name, err)
			}
		}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

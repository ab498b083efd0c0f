package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// behind does something while another transaction holds what sql has changed, commits that once
// it waits for it, and gives its error. What does not wait fails the test.
func (h house) behind(sql, id string, do func() error) error {
	h.Helper()
	ctx := context.Background()
	tx, err := h.pool.Begin(ctx)
	if err != nil {
		h.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, sql, id); err != nil {
		h.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- do() }()
	for waits := false; !waits; time.Sleep(2 * time.Millisecond) {
		select {
		case err := <-done:
			h.Errorf("it does not wait, and gives %v", err)
			return err
		default:
		}
		err := h.pool.QueryRow(ctx, `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`).Scan(&waits)
		if err != nil {
			h.Fatal(err)
		}
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
	for name, begin := range map[string]func(h house, project domain.Project, agentID string) error{
		"a command": func(h house, project domain.Project, agentID string) error {
			_, err := h.store.CreateCommand(ctx, domain.CommandOrder{ID: "c", ProjectID: project.ID, AgentID: agentID, Command: "x", Timeout: time.Minute, Wait: time.Minute})
			return err
		},
		"a provision": func(h house, project domain.Project, _ string) error {
			_, err := h.store.CreateProvision(ctx, containerOrder(project.ID, "p", ""))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			_, project, _ := shared(t, h.store)
			m := h.join(project, "m1", whole...)
			err := h.behind(`update projects set deleting_at = now() where id = $1`, project.ID, func() error { return begin(h, project, m.ID) })
			wantCode(t, name, err, domain.CodeNotFound)
		})
	}
}

// A command is not made for an agent that is about to be removed.
func TestACommandWaitsForWhoRemovesItsAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	m := h.join(project, "m1", whole...)
	err := h.behind(`delete from agents where id = $1`, m.ID, func() error {
		_, err := h.store.CreateCommand(context.Background(), domain.CommandOrder{ID: "c", ProjectID: project.ID, AgentID: m.ID, Command: "x", Timeout: time.Minute, Wait: time.Minute})
		return err
	})
	wantCode(t, "a command of an agent that is gone", err, domain.CodeNotFound)
}

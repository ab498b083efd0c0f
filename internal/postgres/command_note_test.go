package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// told gives the events of commands and of their actions in the log of a machine's project.
func (m machine) told() (list []string) {
	m.Helper()
	rows, err := m.pool.Query(context.Background(),
		`select type, payload::text from events where subject_id = 'project/' || $1 and type in ('command_ordered', 'command_ended', 'confirm_action', 'action_decided') order by subject_seq`, m.ProjectID)
	if err != nil {
		m.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var kind, payload string
		var e struct {
			ID, Command, Hostname, Status string
			Name                          string `json:"requester_name"`
		}
		if err := rows.Scan(&kind, &payload); err != nil {
			m.Fatal(err)
		}
		if err := json.Unmarshal([]byte(payload), &e); err != nil {
			m.Fatal(err)
		}
		list = append(list, fmt.Sprint(kind, " ", e.ID, " ", e.Name, " ", e.Hostname, " ", e.Command, e.Status))
	}
	return list
}

// A project is told once of each command of its persons, and once of its end, whoever tells it.
func TestProjectsAreToldOfCommandsOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	g := newGuest(t)
	run, waits, turns, quick := g.asks(false), g.asks(true), g.asks(false), g.asks(false)
	turns.TurnID = "t1"
	for _, o := range []domain.CommandOrder{run, waits, turns, quick} {
		if _, err := g.store.CreateCommand(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	g.action(waits.ID)
	note := func(ids ...string) {
		t.Helper()
		var group sync.WaitGroup
		for range 3 {
			for _, id := range ids {
				group.Go(func() {
					if err := g.store.NoteCommand(ctx, id); err != nil {
						t.Error(err)
					}
				})
			}
		}
		group.Wait()
	}
	wants := func(want ...string) {
		t.Helper()
		if got := g.told(); !slices.Equal(got, want) {
			t.Errorf("told\n%q, want\n%q", got, want)
		}
	}
	note(run.ID, waits.ID, turns.ID, "none")
	ordered := "command_ordered " + run.ID + " eve web ls"
	if got := g.told(); len(got) != 2 || got[1] != ordered {
		t.Errorf("told %q", got)
	}
	if left, err := g.store.UnnotedCommands(ctx, -time.Minute, 10); err != nil || !slices.Equal(left, []string{quick.ID}) {
		t.Errorf("left are %v, %v", left, err)
	}
	for _, id := range []string{run.ID, waits.ID, turns.ID, quick.ID} {
		if _, err := g.store.CancelCommand(ctx, g.ProjectID, id, "eve"); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := g.store.UnnotedCommands(ctx, -time.Minute, 10); err != nil || len(left) != 3 {
		t.Errorf("left are %v, %v", left, err)
	}
	note(run.ID)
	note(waits.ID)
	note(quick.ID, turns.ID)
	first := g.told()[0]
	wants(first, ordered, "command_ended "+run.ID+" eve web canceled", "command_ended "+waits.ID+" eve web canceled",
		"command_ordered "+quick.ID+" eve web ls", "command_ended "+quick.ID+" eve web canceled")
	if left, err := g.store.UnnotedCommands(ctx, -time.Minute, 10); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}

	// Of one that is rejected the decision tells; a project that goes is told nothing.
	no, late := g.asks(true), g.asks(false)
	for _, o := range []domain.CommandOrder{no, late} {
		if _, err := g.store.CreateCommand(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	g.action(no.ID)
	if _, err := g.store.RejectCommand(ctx, no.ID, "rejected by Ada"); err != nil {
		t.Fatal(err)
	}
	before := len(g.told())
	note(no.ID)
	g.exec(`update projects set deleting_at = now() where id = $1`, g.ProjectID)
	note(late.ID)
	if got := g.told(); len(got) != before {
		t.Errorf("told %q", got[before:])
	}
}

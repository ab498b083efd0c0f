package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// unnoted judges a command c of a person's own: its project is to be told of it. What waits for
// an approval is told by its action.
const unnoted = `
c.turn_id = '' and c.noted < 2 and (c.noted = 0 and c.status <> 'pending' or c.ended_at is not null)`

var (
	sqlNoteCommand = statement("tell a project of a command", `
with was as (
    select c.id, c.noted from commands c where c.id = @command and`+unnoted+` for update
)
update commands c set noted = case when c.ended_at is null then 1 else 2 end from was where c.id = was.id
returning`+commandColumns+`, was.noted > 0 or exists (select from actions a where a.id = c.id), `+named("c.user_id"))

	sqlUnnotedCommands = statement("list commands that projects were not told of", `
select c.id from commands c
where`+unnoted+` and coalesce(c.ended_at, c.created_at) < now() - @age::interval order by c.created_at limit @limit`)
)

// NoteCommand tells a project of a person's command, once each: that it was ordered, where it runs
// without an approval, and how it ended. It does nothing where all is told, and for commands of
// turns, of which their turns tell.
func (s *Store) NoteCommand(ctx context.Context, id string) error {
	c, err := s.CommandByID(ctx, id)
	if domain.CodeOf(err) == domain.CodeNotFound || err == nil && c.TurnID != "" {
		return nil
	}
	if err != nil {
		return err
	}
	err = s.changeNoted(ctx, c.ProjectID, func(tx pgx.Tx) ([]domain.NewEvent, error) {
		if err := shareProject(ctx, tx, c.ProjectID); err != nil {
			return nil, err
		}
		if _, err := tx.Exec(ctx, sqlHoldProjectLog, pgx.NamedArgs{"project": projectLog(c.ProjectID)}); err != nil {
			return nil, err
		}
		var announced bool
		var name string
		c, err := scanCommand(tx.QueryRow(ctx, sqlNoteCommand, pgx.NamedArgs{"command": id}), &announced, &name)
		if noRows(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return noteEvents(c, announced, name), nil
	})
	switch domain.CodeOf(err) {
	case domain.CodeNotFound, domain.CodeConflict: // the project is gone, or going
		return nil
	}
	return failed("tell the project of command "+id, err)
}

// noteEvents are what a project is told of a command, as it stands.
func noteEvents(c domain.Command, announced bool, name string) (events []domain.NewEvent) {
	if !announced {
		events = append(events, c.OrderedEvent(name))
	}
	if c.Status.Over() && c.Status != domain.CommandRejected { // that is told by the decision
		events = append(events, c.EndedEvent(name))
	}
	return events
}

// UnnotedCommands names commands of persons of which their projects were not told all, since
// longer than age.
func (s *Store) UnnotedCommands(ctx context.Context, age time.Duration, limit int) ([]string, error) {
	return s.ids(ctx, "list commands that projects were not told of", sqlUnnotedCommands, pgx.NamedArgs{"age": age, "limit": limit})
}

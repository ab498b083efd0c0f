package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	// Waits for those who begin something in the project; who comes later is refused.
	sqlCloseProject = statement("close a project", `
update projects set deleting_at = coalesce(deleting_at, now()) where id = @project returning id`)

	sqlProjectTurns = statement("list the open turns of a project", `
select`+turnColumns+` from turns t where t.project_id = @project and t.ended_at is null order by t.id`)

	sqlCountProject = statement("count what a project has", `
select (select count(*) from conversations where project_id = @project),
    (select count(*) from messages m join conversations c on c.id = m.conversation_id where c.project_id = @project),
    (select count(*) from turns where project_id = @project),
    (select count(*) from turns where project_id = @project and ended_at is null),
    (select count(*) from actions where project_id = @project), (select count(*) from artifacts where project_id = @project),
    (select count(*) from skills where project_id = @project), (select count(*) from memories where project_id = @project),
    (select count(*) from secrets where project_id = @project and deleted_at is null),
    (select count(*) from agents where project_id = @project), (select count(*) from commands where project_id = @project)`)

	sqlEndAfterwords = statement("end a project's afterwords", `
with over as (
    update turns set afterword_due = false where project_id = @project and afterword_due
    returning id, user_id, afterword_reserved, afterword_reserved_on
)`+releaseAfterwords+`
select id from over`)

	sqlClosedProjects = statement("list projects that are being deleted", `
select id from projects where deleting_at < now() - @age::interval order by deleting_at limit @limit`)

	// What refers to the project by a key goes with its last step. No turn of it runs any more that
	// could ask for the large values; the texts of documents go with them. Messages that are no
	// longer in a conversation are those of turns whose conversation was removed while they ran.
	sqlDropProject = map[string]string{
		"chunks":   statement("remove a project's open blocks", `delete from event_chunks k using subjects s where s.stream_id = @log and k.subject_id = s.id`),
		"events":   statement("remove a project's events", `delete from events where stream_id = @log`),
		"keys":     statement("remove a project's idempotency keys", `delete from idempotency i using turns t where t.project_id = @project and i.turn_id = t.id`),
		"calls":    statement("remove a project's calls", `delete from turn_calls c using turns t where t.project_id = @project and c.turn_id = t.id`),
		"rounds":   statement("remove a project's rounds", `delete from turn_messages r using turns t where t.project_id = @project and r.turn_id = t.id`),
		"subjects": statement("remove a project's logs", `delete from subjects where stream_id = @log`),
		"stream":   statement("remove a project's stream", `delete from streams where id = @log`),
		"machined": statement("remove the events of a project's provisions", `delete from events e using provisions p where p.project_id = @project and e.subject_id = p.id`),
		"machines": statement("remove the logs of a project's provisions", `delete from subjects s using provisions p where p.project_id = @project and s.id = p.id`),
		"makings":  statement("remove the feeds of a project's provisions", `delete from streams st using provisions p where p.project_id = @project and st.id = '`+provisionFeed+`' || p.id`),
		"acts":     statement("remove what people did in a project", `delete from performed where project_id = @project`),
		"presence": statement("remove who is in a project", `delete from presence where project_id = @project`),
		"replies":  statement("remove a project's messages", `delete from messages m using turns t where t.project_id = @project and m.id in (t.message_id, 'reply-' || t.id)`),
		"talks":    statement("remove a project's conversations", `delete from conversations where project_id = @project`),
		"values":   statement("remove a project's large values", `delete from large_values where owner = @log`),
		"last":     statement("forget where people were", `update users set last_project_id = '' where last_project_id = @project`),
		"awaited":  sqlEndAfterwords,
		"outputs": statement("remove the events of a project's commands", `
delete from events e using commands c where c.project_id = @project and e.stream_id = '`+commandFeed+`' || c.id`),
		"runs":    statement("remove the logs of a project's commands", `delete from subjects s using commands c where c.project_id = @project and s.id = c.id`),
		"feeds":   statement("remove the streams of a project's commands", `delete from streams t using commands c where c.project_id = @project and t.id = '`+commandFeed+`' || c.id`),
		"project": statement("remove a project", `delete from projects where id = @project`),
	}
	dropOrder = []string{"chunks", "events", "keys", "calls", "rounds", "subjects", "stream", "acts", "presence", "replies", "talks", "values", "last", "awaited", "outputs", "runs", "feeds", "machined", "machines", "makings", "project"}
)

// CloseProject keeps new work from a project that is to be deleted, and lists the turns that
// still run. It is not_found for an unknown project.
func (s *Store) CloseProject(ctx context.Context, id string) ([]domain.Turn, error) {
	args := pgx.NamedArgs{"project": id}
	err := s.pool.QueryRow(ctx, sqlCloseProject, args).Scan(&id)
	if noRows(err) {
		return nil, domain.NotFound("there is no project %q", id)
	}
	if err != nil {
		return nil, failed("close project "+id, err)
	}
	return s.turns(ctx, "list the turns of project "+id, sqlProjectTurns, args)
}

// EndAfterwords gives up what was to follow the turns of a project, and names these turns.
func (s *Store) EndAfterwords(ctx context.Context, projectID string) ([]string, error) {
	return s.ids(ctx, "end the afterwords of project "+projectID, sqlEndAfterwords, pgx.NamedArgs{"project": projectID})
}

// ClosedProjects lists projects that were closed to be deleted longer than age ago and are
// still there.
func (s *Store) ClosedProjects(ctx context.Context, age time.Duration, limit int) ([]string, error) {
	return s.ids(ctx, "list projects that are being deleted", sqlClosedProjects, pgx.NamedArgs{"age": age, "limit": limit})
}

func (s *Store) ids(ctx context.Context, doing, sql string, args pgx.NamedArgs) ([]string, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, failed(doing, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return list, failed(doing, err)
}

// DeleteProject removes a closed project with all that it owns, and says how much that was.
// It is a conflict while a turn runs.
func (s *Store) DeleteProject(ctx context.Context, id string) (removed domain.Removed, err error) {
	args := pgx.NamedArgs{"project": id, "log": projectLog(id)}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, sqlCloseProject, args).Scan(&id); err != nil {
			return err
		}
		var open int64
		if err := tx.QueryRow(ctx, sqlCountProject, args).Scan(&removed.Conversations, &removed.Messages, &removed.Turns, &open,
			&removed.Actions, &removed.Artifacts, &removed.Skills, &removed.Memories, &removed.Secrets, &removed.Agents, &removed.Commands); err != nil {
			return err
		}
		if open > 0 {
			return domain.Errorf(domain.CodeConflict, "turns that were asked to stop still run: %d; the project goes by itself once they have ended, or delete it again", open)
		}
		steps := &pgx.Batch{}
		for _, part := range dropOrder {
			steps.Queue(sqlDropProject[part], args)
		}
		return tx.SendBatch(ctx, steps).Close()
	})
	switch {
	case noRows(err):
		return removed, domain.NotFound("there is no project %q", id)
	case domain.CodeOf(err) == domain.CodeConflict:
		return removed, err
	}
	return removed, failed("delete project "+id, err)
}

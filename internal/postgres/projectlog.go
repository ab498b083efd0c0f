package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

// projectLog is the subject of a project's own log, and the stream that it shares with the
// logs of the project's turns. Unlike theirs it never ends.
func projectLog(projectID string) string { return "project/" + projectID }

// note appends events to a project's log, in the caller's transaction. It gives the log's new
// end and what readers are to be told once the transaction is committed.
func note(ctx context.Context, tx sender, projectID string, events ...domain.NewEvent) (last int64, told []live.Message, err error) {
	b := newBatch(projectLog(projectID), 0, events, nil)
	var at time.Time
	steps := &pgx.Batch{}
	queueProjectLog(steps, projectID)
	steps.Queue(sqlAppend, b.args).QueryRow(func(row pgx.Row) error { return row.Scan(&last, &at) })
	if err := tx.SendBatch(ctx, steps).Close(); err != nil {
		return 0, nil, fmt.Errorf("tell the project: %w", err)
	}
	return last, b.messages(last, at), nil
}

// queueProjectLog makes a project's log on first use.
func queueProjectLog(steps *pgx.Batch, projectID string) {
	args := pgx.NamedArgs{"subject": projectLog(projectID), "stream": projectLog(projectID)}
	steps.Queue(sqlNewStream, args)
	steps.Queue(sqlNewSubject, args)
}

// changeNoted makes a change and tells its project of it in one commit. For what is nobody's
// project there is nothing to tell.
func (s *Store) changeNoted(ctx context.Context, projectID string, change func(tx pgx.Tx) ([]domain.NewEvent, error)) error {
	var told []live.Message
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		events, err := change(tx)
		if err != nil || projectID == "" || len(events) == 0 {
			return err
		}
		_, told, err = note(ctx, tx, projectID, events...)
		return err
	})
	if err == nil {
		s.tell(told...)
	}
	return err
}

func conversationCreated(c domain.Conversation) domain.NewEvent {
	return domain.NewPayload(domain.EventConversationCreated, map[string]any{"conversation": c, "conv_id": c.ID})
}

func conversationUpdated(id string, at time.Time) domain.NewEvent {
	return domain.NewPayload(domain.EventConversationUpdated, map[string]any{"conv_id": id, "updated_at": at.UTC()})
}

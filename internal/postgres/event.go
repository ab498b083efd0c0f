package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

var (
	sqlNewStream  = statement("new stream", `insert into streams (id) values (@stream) on conflict do nothing`)
	sqlNewSubject = statement("new subject", `insert into subjects (id, stream_id) values (@subject, @stream) on conflict do nothing`)
	sqlAppend     = statement("append events", "with"+guardSubject+appendEvents+appended)
	sqlEnd        = statement("end a subject", "with"+guardSubject+appendEvents+closeOpen+endSubject+appended)
)

// NewSubject makes the log of a run, in the feed of a person. Doing it again changes nothing.
func (s *Store) NewSubject(ctx context.Context, subject, userID string) error {
	steps := &pgx.Batch{}
	args := pgx.NamedArgs{"subject": subject, "stream": streamOf(userID)}
	steps.Queue(sqlNewStream, args)
	steps.Queue(sqlNewSubject, args)
	return failed("make an event log", s.pool.SendBatch(ctx, steps).Close())
}

func streamOf(userID string) string { return "user/" + userID }

// feedOf is the stream of what belongs to a project, or to a person where that is "", and
// the owner of its large values.
func feedOf(projectID, userID string) string {
	if projectID != "" {
		return projectLog(projectID)
	}
	return streamOf(userID)
}

// AppendEvents appends to the log of a subject in one commit. Terminal events are not among
// them: see EndSubject. A log that has ended takes no more and gives a superseded error.
func (s *Store) AppendEvents(ctx context.Context, subject string, events ...domain.NewEvent) error {
	_, err := s.append(ctx, "append events", sqlAppend, newBatch(subject, 0, events, nil))
	return err
}

// EndSubject appends the terminal event of a run. A second one gives a superseded error.
func (s *Store) EndSubject(ctx context.Context, subject string, last domain.NewEvent) error {
	b := newBatch(subject, 0, []domain.NewEvent{last}, pgx.NamedArgs{"ends": true})
	_, err := s.append(ctx, "end the event log", sqlEnd, b)
	return err
}

// append runs an append statement, gives the log's new end, and tells readers.
func (s *Store) append(ctx context.Context, doing, sql string, b *batch) (int64, error) {
	var last int64
	var at time.Time
	err := s.pool.QueryRow(ctx, sql, b.args).Scan(&last, &at)
	if noRows(err) {
		return 0, refused(doing)
	}
	if err != nil {
		return 0, failed(doing, err)
	}
	s.tell(b.messages(last, at)...)
	return last, nil
}

func textLength(e domain.NewEvent) int {
	var body struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(e.Payload, &body) // our own payloads
	return len(body.Text)
}

// Publish tells readers of text that is not committed yet.
func (s *Store) Publish(p domain.TextPiece) { s.tell(live.Message{Piece: &p}) }

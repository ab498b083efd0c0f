package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/harvest-engine/harvest/internal/domain"
)

// reportEvery is the shortest time between two progress events of one version.
const reportEvery = 250 * time.Millisecond

// ingestStep is a claimed step of a run whose progress is stored while it works.
type ingestStep struct {
	ingestID string
	attempt  int
	start    domain.IngestProgress // names the repository, the version and the first phase
}

// reporting runs work and meanwhile stores what it notes, at most every reportEvery and
// without ever holding it up: between two writes only the newest progress is kept. Work's
// context ends when a later attempt has taken the step over. The last progress is given
// back; it may not have been written.
func (a *Ingest) reporting(ctx context.Context, step ingestStep, work func(ctx context.Context, note func(domain.IngestProgress)) error) (domain.IngestProgress, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	board := &progressBoard{newest: step.start, changed: true}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			if progress, changed := board.take(); changed {
				err := a.Store.NoteProgress(ctx, step.ingestID, step.attempt, progress)
				if code := domain.CodeOf(err); code == domain.CodeSuperseded || code == domain.CodeCanceled {
					cancel(err)
					return
				}
				if err != nil {
					board.putBack()
				}
			}
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	err := work(ctx, board.note)
	close(stop)
	<-stopped
	if cause := context.Cause(ctx); err != nil && domain.CodeOf(cause) == domain.CodeSuperseded {
		err = cause
	}
	return board.last(), err
}

// setback gives the error of a step as Temporal is to see it. Those who wait are told of one
// that will be tried again, and why.
func (a *Ingest) setback(ctx context.Context, step ingestStep, err error) error {
	err = impatient(ctx, err)
	var known *temporal.ApplicationError
	if errors.As(err, &known) || permanent(domain.CodeOf(err)) || ctx.Err() != nil {
		return err
	}
	progress := step.start
	progress.Waiting = domain.PublicMessage(err)
	// Where the database is what fails, nobody can be told.
	_ = a.Store.NoteProgress(ctx, step.ingestID, step.attempt, progress)
	return err
}

// progressBoard holds the newest progress between the reader and the writer.
type progressBoard struct {
	mu      sync.Mutex
	newest  domain.IngestProgress
	changed bool
}

func (b *progressBoard) note(progress domain.IngestProgress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	progress.Repository, progress.Version = b.newest.Repository, b.newest.Version
	b.changed = b.changed || progress != b.newest
	b.newest = progress
}

func (b *progressBoard) take() (progress domain.IngestProgress, changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed, b.changed = b.changed, false
	return b.newest, changed
}

// putBack has the newest progress written again, after a write that failed.
func (b *progressBoard) putBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = true
}

func (b *progressBoard) last() domain.IngestProgress {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.newest
}

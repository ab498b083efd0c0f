package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge"
)

// How often the refs of what was read are looked at, to tell of versions that are stale.
const (
	lookEvery       = 10 * time.Second
	localLookAfter  = 30 * time.Second
	remoteLookAfter = 15 * time.Minute
	lookLimit       = time.Minute // for one repository
)

// looks reports whether a worker of these queues, none for all, looks at repositories: the
// one that reads them can reach them.
func looks(queues []string) bool {
	return len(queues) == 0 || slices.Contains(queues, "ingest")
}

// keepLooking looks at the refs of repositories, again and again, until ctx ends.
func (a *assembly) keepLooking(ctx context.Context, reader *knowledge.Reader) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		for a.lookAtOne(ctx, reader) {
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lookAtOne looks at the repository that is due; false where none is, or the database is away.
func (a *assembly) lookAtOne(ctx context.Context, reader *knowledge.Reader) bool {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	repo, at, err := a.code.DueLook(ctx, localLookAfter, remoteLookAfter)
	if err == nil {
		err = reader.Look(ctx, a.code, repo, at)
	}
	if err != nil && domain.CodeOf(err) != domain.CodeNotFound && !errors.Is(err, context.Canceled) {
		a.log.Debug().Str("repository", repo.Name).Err(err).Msg("look_postponed")
	}
	return repo.Name != "" && ctx.Err() == nil
}

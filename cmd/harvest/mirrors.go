package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/harvest-engine/harvest/internal/engine"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
)

// mirrorsEvery is how often mirrors that no repository needs are looked for.
const mirrorsEvery = time.Hour

// mirrors are the copies of remote repositories on this machine.
func (a *assembly) mirrors() *gitrepo.Store {
	return gitrepo.NewStore(gitrepo.Config{Dir: filepath.Join(a.cfg.Data.Dir, "repositories"), Environ: os.Environ()})
}

// tidyMirrors removes mirrors of repositories that were deleted, until ctx ends.
func (a *assembly) tidyMirrors(ctx context.Context) {
	ticker := time.NewTicker(mirrorsEvery)
	defer ticker.Stop()
	for {
		removed, err := a.mirrors().RemoveOthers(ctx, a.addresses)
		switch {
		case err != nil && ctx.Err() == nil:
			a.log.Warn().Err(err).Msg("mirror_removal_postponed")
		case removed > 0:
			a.log.Info().Int("mirrors", removed).Msg("mirrors_removed")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// addresses are those of all repositories.
func (a *assembly) addresses(ctx context.Context) ([]gitrepo.Address, error) {
	repositories, err := a.code.Repositories(ctx)
	if err != nil {
		return nil, err
	}
	known := make([]gitrepo.Address, 0, len(repositories))
	for _, r := range repositories {
		if addr, err := gitrepo.ParseAddress(r.URL); err == nil {
			known = append(known, addr)
		}
	}
	return known, nil
}

// graphs are what keeps versions of code, and leftovers of them.
func (a *assembly) graphs() []engine.HousekeepingGraph {
	graphs := []engine.HousekeepingGraph{a.code}
	if other, ok := a.graph.(engine.HousekeepingGraph); ok && other != engine.HousekeepingGraph(a.code) {
		graphs = append(graphs, other)
	}
	return graphs
}

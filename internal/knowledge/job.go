package knowledge

import (
	"sync"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
)

// job is one reading of one version: how far it is, and who is told.
type job struct {
	repo   domain.Repository
	ref    domain.VersionRef
	report Progress

	lock  sync.Mutex
	state domain.IngestProgress
}

func newJob(repo domain.Repository, ref domain.VersionRef, report Progress) *job {
	return &job{repo: repo, ref: ref, report: quietly(report), state: domain.IngestProgress{Repository: repo.Name, Version: ref.Tag}}
}

// change applies a change to the state and tells it.
func (j *job) change(apply func(*domain.IngestProgress)) {
	j.lock.Lock()
	defer j.lock.Unlock()
	apply(&j.state)
	j.report(j.state)
}

func (j *job) phase(name string) {
	j.change(func(p *domain.IngestProgress) { p.Phase = name })
}

// listed begins the parsing of entries.
func (j *job) listed(entries []gitrepo.Entry) {
	j.change(func(p *domain.IngestProgress) {
		p.Phase, p.FilesTotal = "parse", len(entries)
		for _, e := range entries {
			p.BytesTotal += e.Size
		}
	})
}

// reused counts a file that the version before tells.
func (j *job) reused(e gitrepo.Entry, f graph.VersionFile) { j.read(e.Size, f.Skipped, false) }

// read counts a file that was read.
func (j *job) read(size int64, skipped string, parsed bool) {
	j.change(func(p *domain.IngestProgress) {
		p.FilesDone++
		p.BytesDone += size
		switch {
		case skipped == skippedOversized:
			p.Skipped.Oversized++
		case skipped == skippedBinary:
			p.Skipped.Binary++
		case skipped == skippedGenerated:
			p.Skipped.Generated++
		case !parsed:
			p.Reused++
		}
	})
}

// begin starts a phase that goes over files.
func (j *job) begin(phase string, files int) {
	j.change(func(p *domain.IngestProgress) { p.Phase, p.FilesDone, p.FilesTotal = phase, 0, files })
}

// resolved counts files whose edges are known.
func (j *job) resolved(files, symbols, edges int) {
	j.change(func(p *domain.IngestProgress) {
		p.FilesDone += files
		p.Symbols += symbols
		p.Edges += edges
	})
}

package knowledge

import (
	"context"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
)

// Ingest reads one version and publishes it. Killed at any moment and called again it goes
// on from what is stored; two calls for one version at once do no harm.
//
// Errors: not_found (repository, commit), conflict (the folder changed while it was read),
// and what Sync gives where the mirror must be fetched again.
func (r *Reader) Ingest(ctx context.Context, repo domain.Repository, ref domain.VersionRef, progress Progress) (domain.VersionDetail, error) {
	job := newJob(repo, ref, progress)
	job.phase("list")
	snap, err := r.openSnapshot(ctx, repo, ref)
	if err != nil {
		return domain.VersionDetail{}, fmt.Errorf("list the files of %s: %w", ref.Tag, err)
	}
	defer snap.close()
	base, err := r.findBase(ctx, repo, ref)
	if err != nil {
		return domain.VersionDetail{}, err
	}
	job.listed(snap.entries)
	s := scan{
		reader: r, snap: snap, known: base.unchanged(ctx, snap), job: job,
		kept: map[graph.BlobID]*domain.FileFacts{}, room: maxKept, texts: map[string][]byte{}, textRoom: maxKeptText,
	}
	files, err := s.run(ctx)
	if err != nil {
		return domain.VersionDetail{}, err
	}
	job.begin("resolve", len(files))
	world, err := r.newWorld(ctx, files, base, s.kept)
	if err != nil {
		return domain.VersionDetail{}, err
	}
	byPath := make(map[string]gitrepo.Entry, len(snap.entries))
	for _, e := range snap.entries {
		byPath[e.Path] = e
	}
	world.texts = func(ctx context.Context, paths []string) (map[string][]byte, error) {
		return snap.texts(ctx, byPath, paths, s.texts)
	}
	return r.load(ctx, job, world)
}

// load stages the version, loads what edges are missing, and publishes it.
func (r *Reader) load(ctx context.Context, job *job, w *world) (detail domain.VersionDetail, err error) {
	loader, err := r.cfg.Graph.Stage(ctx, specOf(job.repo, job.ref))
	if err != nil {
		return detail, fmt.Errorf("stage %s: %w", job.ref.Tag, err)
	}
	defer func() {
		if err != nil {
			clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardLimit)
			defer cancel()
			_ = loader.Discard(clean) // the first error says why; what is left is replaced by the next attempt
		}
	}()
	if err = w.resolveAll(ctx, job, loader); err != nil {
		return detail, err
	}
	job.phase("publish")
	if detail, err = loader.Publish(ctx, w.files, w.again); err != nil {
		return detail, fmt.Errorf("publish %s: %w", job.ref.Tag, err)
	}
	job.phase("done")
	return detail, nil
}

// distinct gives the distinct blobs of files.
func distinct(files []graph.VersionFile) []graph.BlobID {
	seen := make(map[graph.BlobID]bool, len(files))
	ids := make([]graph.BlobID, 0, len(files))
	for _, f := range files {
		if !seen[f.Blob] {
			seen[f.Blob] = true
			ids = append(ids, f.Blob)
		}
	}
	return ids
}

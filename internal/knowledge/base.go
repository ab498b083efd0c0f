package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// base is a whole version of the same repository that was read under the same stamp. Files
// that it has in common with the version to read need not be read, and may not need to be
// resolved, again.
type base struct {
	commit string                       // "" for a folder
	files  map[string]graph.VersionFile // by path
}

// findBase chooses the version to start from: one of the same commit, else the one of the
// same name, else the newest that was read. An empty base is no error: the version is read in full then.
func (r *Reader) findBase(ctx context.Context, repo domain.Repository, ref domain.VersionRef) (base, error) {
	known, err := r.cfg.Sources.Repository(ctx, repo.Name)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return base{}, nil
	}
	if err != nil {
		return base{}, fmt.Errorf("load repository: %w", err)
	}
	versions := slices.Clone(known.Versions)
	distance := func(v domain.VersionDetail) int {
		switch {
		case ref.Commit != "" && v.Commit == ref.Commit:
			return 0
		case v.Tag == ref.Tag:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(versions, func(a, b domain.VersionDetail) int {
		return cmp.Or(cmp.Compare(distance(a), distance(b)), b.IngestedAt.Compare(a.IngestedAt))
	})
	for _, v := range versions[:min(len(versions), 3)] {
		b, err := r.loadBase(ctx, repo.Name, v)
		if err != nil || len(b.files) > 0 {
			return b, err
		}
	}
	return base{}, nil
}

// loadBase reads the files of a version; one that was read under another stamp, or that is
// not listed whole, is of no use and comes back empty.
func (r *Reader) loadBase(ctx context.Context, repo string, v domain.VersionDetail) (base, error) {
	files, err := r.cfg.Sources.Files(ctx, repo, v.Tag, "", math.MaxInt32)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return base{}, nil // it was deleted meanwhile
	}
	if err != nil {
		return base{}, fmt.Errorf("list the files of %s: %w", v.Tag, err)
	}
	if len(files) != v.Files {
		return base{}, nil
	}
	b := base{commit: v.Commit, files: make(map[string]graph.VersionFile, len(files))}
	for _, f := range files {
		if !r.current(f.Resolved) {
			return base{}, nil
		}
		b.files[f.Path] = f
	}
	return b, nil
}

// unchanged gives those files of a snapshot that the base has with the same content, as git
// says by its object ids. Folders have none: they are read in full.
func (b base) unchanged(ctx context.Context, s *snapshot) map[string]graph.VersionFile {
	if b.commit == "" || s.folder != nil {
		return nil
	}
	tree, err := s.repo.Tree(ctx, b.commit)
	if err != nil {
		return nil // the mirror was made anew since: everything is read
	}
	oids := make(map[string]string, len(tree))
	for _, e := range tree {
		oids[e.Path] = e.OID
	}
	same := make(map[string]graph.VersionFile, len(s.entries))
	for _, e := range s.entries {
		if f, ok := b.files[e.Path]; ok && oids[e.Path] == e.OID {
			same[e.Path] = f
		}
	}
	return same
}

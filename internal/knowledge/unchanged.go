package knowledge

import (
	"context"
	"errors"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// Unchanged reports whether a folder holds the same files as when its version was read, by
// the same rules: reading it again would give the same version. It costs a scan. Of a version
// that was never read, and of one with a commit, it says no.
//
// Errors: as Ingest.
func (r *Reader) Unchanged(ctx context.Context, repo domain.Repository, ref domain.VersionRef) (bool, error) {
	if ref.Commit != "" || ref.Tag != domain.WorktreeVersion {
		return false, nil
	}
	have, err := r.folderVersion(ctx, repo.Name)
	if err != nil || len(have) == 0 {
		return false, err
	}
	snap, err := r.openSnapshot(ctx, repo, ref)
	if err != nil {
		return false, fmt.Errorf("list the files of %s: %w", ref.Tag, err)
	}
	defer snap.close()
	err = snap.compare(ctx, &scan{reader: r, snap: snap}, have)
	if errors.Is(err, errDiffers) || domain.CodeOf(err) == domain.CodeConflict {
		return false, nil
	}
	return err == nil, err
}

// folderVersion gives the files of the version that was read of a folder; none where it was
// not, or by other rules.
func (r *Reader) folderVersion(ctx context.Context, repo string) (map[string]graph.VersionFile, error) {
	known, err := r.cfg.Sources.Repository(ctx, repo)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load repository: %w", err)
	}
	for _, v := range known.Versions {
		if v.Tag == domain.WorktreeVersion && v.Commit == "" {
			b, err := r.loadBase(ctx, repo, v)
			return b.files, err
		}
	}
	return nil, nil
}

var errDiffers = errors.New("the folder differs")

// compare ends with errDiffers at the first file that is not as a version has it.
func (s *snapshot) compare(ctx context.Context, by *scan, have map[string]graph.VersionFile) error {
	if len(s.entries) != len(have) {
		return errDiffers
	}
	same := func(it item) error {
		if f, ok := have[it.path]; !ok || f.Blob != it.blob.ID {
			return errDiffers
		}
		return nil
	}
	read := s.entries[:0:0]
	for i, e := range s.entries {
		if !s.unreadable(e) {
			read = append(read, e)
		} else if err := same(by.tooLarge(i, e)); err != nil {
			return err
		}
	}
	return s.each(ctx, read, func(i int, data []byte) error {
		if data == nil {
			return errDiffers
		}
		return same(by.classify(i, read[i], data))
	})
}

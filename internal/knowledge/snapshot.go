package knowledge

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
)

// snapshot is the files of a version as they can be read.
type snapshot struct {
	entries []gitrepo.Entry
	maxSize int64
	repo    *gitrepo.Repo   // for a commit
	folder  *gitrepo.Folder // for a folder; nil for a commit
	blobs   *gitrepo.Blobs  // for a commit: the process that reads its objects
	// seen are the digests of what was read of a folder, by path: a folder may change while
	// it is read, and a version must not be a mixture.
	seen map[string][sha256.Size]byte
}

// openSnapshot lists the files of a version. The caller closes it.
func (r *Reader) openSnapshot(ctx context.Context, repo domain.Repository, ref domain.VersionRef) (*snapshot, error) {
	if ref.Commit == "" && ref.Tag != domain.WorktreeVersion {
		return nil, noRef(ref.Tag)
	}
	source, err := r.open(ctx, repo, ref)
	if err != nil {
		return nil, err
	}
	s := &snapshot{maxSize: r.cfg.MaxSize, repo: source}
	if ref.Commit == "" {
		if s.folder, err = source.Folder(ctx); err != nil {
			return nil, err
		}
		s.entries, s.seen = s.folder.Entries, map[string][sha256.Size]byte{}
		return s, nil
	}
	if s.entries, err = source.Tree(ctx, ref.Commit); err != nil {
		return nil, err
	}
	s.blobs, err = source.Blobs(ctx)
	return s, err
}

func (s *snapshot) close() {
	if s.blobs != nil {
		_ = s.blobs.Close()
	}
	if s.folder != nil {
		_ = s.folder.Close() // it was only read
	}
}

// oversized reports whether an entry is too large to be read.
func (s *snapshot) oversized(e gitrepo.Entry) bool { return e.Size > s.maxSize }

// maxDeclaring is the size in bytes up to which an oversized Go file is looked at by the
// type checker: other files depend on what it declares.
const maxDeclaring = 4 << 20

// unreadable reports whether nothing at all looks at an entry.
func (s *snapshot) unreadable(e gitrepo.Entry) bool {
	return s.oversized(e) && !(strings.HasSuffix(e.Path, ".go") && e.Size <= maxDeclaring)
}

// each reads entries, none of them unreadable, in their order. data is nil for a file of a
// folder that is gone, or has grown beyond the limit, since it was listed.
func (s *snapshot) each(ctx context.Context, entries []gitrepo.Entry, visit func(i int, data []byte) error) error {
	if len(entries) == 0 {
		return nil
	}
	if s.folder != nil {
		return s.eachOfFolder(ctx, entries, visit)
	}
	oids := make([]string, len(entries))
	for i, e := range entries {
		oids[i] = e.OID
	}
	stop := context.AfterFunc(ctx, func() { _ = s.blobs.Close() }) // ctx may end before that of the reading
	defer stop()
	return s.blobs.Each(oids, visit)
}

func (s *snapshot) eachOfFolder(ctx context.Context, entries []gitrepo.Entry, visit func(i int, data []byte) error) error {
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		limit := max(s.maxSize, min(e.Size, maxDeclaring))
		data, err := s.folder.Read(e, limit)
		if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
			return err
		}
		if err != nil || int64(len(data)) > limit {
			data = nil
		} else if data == nil {
			data = []byte{}
		}
		digest := sha256.Sum256(data)
		if before, again := s.seen[e.Path]; again && before != digest {
			return domain.Errorf(domain.CodeConflict, "%s changed while it was read; read it again", e.Path)
		}
		s.seen[e.Path] = digest
		if err := visit(i, data); err != nil {
			return err
		}
	}
	return nil
}

// texts gives whole files by path, for the type checker; those that are not kept are read.
func (s *snapshot) texts(ctx context.Context, byPath map[string]gitrepo.Entry, paths []string, kept map[string][]byte) (map[string][]byte, error) {
	var entries []gitrepo.Entry
	texts := make(map[string][]byte, len(paths))
	for _, path := range paths {
		if text, ok := kept[path]; ok {
			texts[path] = text
		} else if e, ok := byPath[path]; ok && !s.unreadable(e) {
			entries = append(entries, e)
		}
	}
	err := s.each(ctx, entries, func(i int, data []byte) error {
		texts[entries[i].Path] = data
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	return texts, nil
}

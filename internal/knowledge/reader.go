package knowledge

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/knowledge/gitrepo"
	"github.com/harvest-engine/harvest/internal/knowledge/gotypes"
)

// Sources is the part of graph.Sources that reading needs.
type Sources interface {
	Repository(ctx context.Context, name string) (domain.Repository, error)
	NoteRef(ctx context.Context, repo, tag, commit string) error
	MissingBlobs(ctx context.Context, ids []graph.BlobID) ([]graph.BlobID, error)
	PutBlobs(ctx context.Context, blobs []graph.Blob) error
	Facts(ctx context.Context, ids []graph.BlobID) (map[graph.BlobID]*domain.FileFacts, error)
	Outlines(ctx context.Context, ids []graph.BlobID) (map[graph.BlobID]*domain.FileFacts, error)
	Files(ctx context.Context, repo, version, glob string, limit int) ([]graph.VersionFile, error)
}

// Graph is the part of a graph.Backend that reading needs.
type Graph interface {
	Stage(ctx context.Context, spec graph.VersionSpec) (graph.Loader, error)
}

// Extractor reads facts out of one file; package lang is one. Facts depend on the language
// and the content alone.
type Extractor struct {
	Version string // changes when the same content gives other facts than before
	Detect  func(path string, head []byte) string
	Extract func(ctx context.Context, path string, src []byte) (domain.FileFacts, error)
}

// Config says what a Reader works with.
type Config struct {
	Sources   Sources
	Graph     Graph
	Git       *gitrepo.Store
	Extractor Extractor
	// Credentials finds what opens a repository; nil: nothing does.
	Credentials func(ctx context.Context, repo domain.Repository) (gitrepo.Credentials, error)
	MaxSize     int64  // of a file that is read, in bytes; 0: 1 MiB
	Workers     int    // parsers at once; 0: 2
	GOROOT      string // where Go's standard library is; "": its types are unknown
	NamesOnly   bool   // leave Go's type checker out
}

// Reader reads repositories. It is safe for concurrent use.
type Reader struct {
	cfg      Config
	stamp    string         // of all settings that edges depend on; see resolvedID
	declared *gotypes.Cache // of Go packages, for the next version
}

// declaredLimit bounds what is kept of Go packages, in bytes: those of Go's standard library
// and its tools take 10 MB.
const declaredLimit = 32 << 20

// NewReader builds a Reader.
func NewReader(cfg Config) *Reader {
	if cfg.MaxSize <= 0 {
		cfg.MaxSize = defaultMaxSize
	}
	if cfg.Workers <= 0 {
		cfg.Workers = 2
	}
	return &Reader{cfg: cfg, stamp: stampOf(cfg), declared: gotypes.NewCache(declaredLimit)}
}

// Progress is told how far a reading is. It may be called from any goroutine, one at a time.
type Progress = func(domain.IngestProgress)

// Sync fetches a repository and gives the versions that it is to be read at: its refs, or
// the folder as it lies where the repository asks for that or is no git repository. A ref that
// is not there is given without a commit, so that its reading fails and the others' does not;
// where there is nothing else it is not_found.
//
// Errors: invalid (address, ref), not_found, forbidden (credentials), unavailable (network),
// unprocessable (nothing to read), upstream.
func (r *Reader) Sync(ctx context.Context, repo domain.Repository, progress Progress) ([]domain.VersionRef, error) {
	progress = quietly(progress)
	addr, err := gitrepo.ParseAddress(repo.URL)
	if err != nil {
		return nil, fmt.Errorf("address of %s: %w", repo.Name, err)
	}
	progress(domain.IngestProgress{Repository: repo.Name, Phase: "fetch"})
	source, refs, err := r.look(ctx, repo, addr, progress)
	if err != nil {
		return nil, err
	}
	versions := make([]domain.VersionRef, 0, len(refs)+1)
	if repo.Worktree || source.Plain() {
		versions = append(versions, domain.VersionRef{Tag: domain.WorktreeVersion})
	}
	for _, ref := range refs {
		commit, err := source.Commit(ctx, ref.Commit)
		if err != nil {
			return nil, fmt.Errorf("commit of %s: %w", ref.Name, err)
		}
		versions = append(versions, domain.VersionRef{Tag: ref.Name, Commit: ref.Commit, CommittedAt: commit.Time})
		if err := r.cfg.Sources.NoteRef(ctx, repo.Name, ref.Name, ref.Commit); err != nil {
			return nil, fmt.Errorf("note ref %s: %w", ref.Name, err)
		}
	}
	missing := missingRefs(repo.Refs, refs)
	if len(versions) == 0 && len(missing) > 0 {
		return nil, noRef(missing[0])
	}
	for _, name := range missing {
		versions = append(versions, domain.VersionRef{Tag: name})
	}
	return versions, nil
}

// missingRefs gives the names that none of the refs stands for.
func missingRefs(names []string, refs []gitrepo.Ref) []string {
	var missing []string
	for _, name := range names {
		if !slices.ContainsFunc(refs, func(r gitrepo.Ref) bool { return name == r.Name || name == r.Full || name == r.Commit }) {
			missing = append(missing, name)
		}
	}
	return missing
}

func noRef(name string) error {
	return domain.NotFound("there is no branch, tag or full commit id %q", name)
}

// Forget removes the mirror of a repository, unless one of others has the same address. A
// local repository is left alone, and so is an address that was never read.
func (r *Reader) Forget(ctx context.Context, repo domain.Repository, others []domain.Repository) error {
	addr, err := gitrepo.ParseAddress(repo.URL)
	if err != nil {
		return nil // what can't be fetched has no mirror
	}
	for _, other := range others {
		if same, err := gitrepo.ParseAddress(other.URL); err == nil && same == addr {
			return nil
		}
	}
	return r.cfg.Git.Remove(ctx, addr)
}

// look opens or fetches a repository and finds its refs. A worktree alone needs none.
func (r *Reader) look(ctx context.Context, repo domain.Repository, addr gitrepo.Address, progress Progress) (*gitrepo.Repo, []gitrepo.Ref, error) {
	want := gitrepo.Wanted{Refs: repo.Refs, AllTags: repo.AllTags, IfThere: true}
	if !addr.Local() {
		if repo.Worktree {
			return nil, nil, domain.Invalid("worktree", "only a local repository has a working tree")
		}
		credentials, err := r.credentials(ctx, repo)
		if err != nil {
			return nil, nil, err
		}
		return r.cfg.Git.Fetch(ctx, gitrepo.Request{
			Address: addr, Credentials: credentials, Want: want,
			Progress: func(p gitrepo.Progress) {
				progress(domain.IngestProgress{Repository: repo.Name, Phase: "fetch", FilesDone: p.Objects, FilesTotal: p.Total, BytesDone: p.Bytes})
			},
		})
	}
	source, err := r.cfg.Git.Local(ctx, addr)
	if err != nil {
		return nil, nil, err
	}
	named := len(repo.Refs) > 0 || repo.AllTags
	if source.Plain() && named {
		return nil, nil, domain.Invalid("refs", "%s is no git repository: it has no refs", addr)
	}
	if source.Plain() || (repo.Worktree && !named) {
		return source, nil, nil
	}
	refs, err := source.Refs(ctx, want)
	return source, refs, err
}

func (r *Reader) credentials(ctx context.Context, repo domain.Repository) (gitrepo.Credentials, error) {
	if r.cfg.Credentials == nil {
		return gitrepo.Credentials{}, nil
	}
	return r.cfg.Credentials(ctx, repo)
}

// open opens a repository whose ref was seen by Sync. The mirror is fetched again where
// this machine does not have the commit.
func (r *Reader) open(ctx context.Context, repo domain.Repository, ref domain.VersionRef) (*gitrepo.Repo, error) {
	addr, err := gitrepo.ParseAddress(repo.URL)
	if err != nil {
		return nil, fmt.Errorf("address of %s: %w", repo.Name, err)
	}
	if addr.Local() {
		return r.cfg.Git.Local(ctx, addr)
	}
	if mirror, err := r.cfg.Git.Mirror(addr); err == nil {
		if _, err := mirror.Commit(ctx, ref.Commit); err == nil {
			return mirror, nil
		}
	}
	credentials, err := r.credentials(ctx, repo)
	if err != nil {
		return nil, err
	}
	mirror, _, err := r.cfg.Git.Fetch(ctx, gitrepo.Request{
		Address: addr, Credentials: credentials, Want: gitrepo.Wanted{Refs: []string{ref.Commit}},
	})
	return mirror, err
}

// quietly makes progress callable where nobody asks for it.
func quietly(progress Progress) Progress {
	if progress == nil {
		return func(domain.IngestProgress) {}
	}
	return progress
}

// specOf names a version to the graph.
func specOf(repo domain.Repository, ref domain.VersionRef) graph.VersionSpec {
	spec := graph.VersionSpec{Repo: repo.Name, Tag: ref.Tag, Commit: ref.Commit}
	if !ref.CommittedAt.IsZero() {
		spec.CommittedAt = ref.CommittedAt.Unix()
	}
	return spec
}

// discardLimit bounds the clean-up after a failure.
const discardLimit = 30 * time.Second

// Package knowledgetest keeps what the knowledge room reads in memory, for tests: a store of
// blobs and versions, and a graph that takes loads as a real one does.
package knowledgetest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// Memory is sources and a graph in memory. It is safe for concurrent use.
type Memory struct {
	// Fail, where set, is asked before each write of a name (put_blobs, put, publish): an
	// error ends it, as a crash or a lost connection would.
	Fail func(step string) error

	lock     sync.Mutex
	blobs    map[graph.BlobID][]byte // JSON of graph.Blob, as a database would keep it
	outlines map[graph.BlobID][]byte // JSON of the facts without references and docs
	parsed   int
	edges    map[graph.ResolvedID]graph.ResolvedFile
	loaded   int
	versions map[string]map[string]version
	refs     map[string]string
}

type version struct {
	detail domain.VersionDetail
	files  []graph.VersionFile
}

// NewMemory makes an empty Memory.
func NewMemory() *Memory {
	return &Memory{
		blobs: map[graph.BlobID][]byte{}, outlines: map[graph.BlobID][]byte{}, edges: map[graph.ResolvedID]graph.ResolvedFile{},
		versions: map[string]map[string]version{}, refs: map[string]string{},
	}
}

// Parsed counts the blobs that were stored, and Loaded the files whose edges were.
func (m *Memory) Parsed() int { m.lock.Lock(); defer m.lock.Unlock(); return m.parsed }

// Loaded counts the files whose edges were loaded.
func (m *Memory) Loaded() int { m.lock.Lock(); defer m.lock.Unlock(); return m.loaded }

// Ref gives the commit at which a ref was last noted.
func (m *Memory) Ref(repo, tag string) string {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.refs[repo+"\x00"+tag]
}

func (m *Memory) fail(step string) error {
	if m.Fail == nil {
		return nil
	}
	return m.Fail(step)
}

// Repository gives a repository with its whole versions.
func (m *Memory) Repository(_ context.Context, name string) (domain.Repository, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	versions, ok := m.versions[name]
	if !ok {
		return domain.Repository{}, domain.NotFound("there is no repository %q", name)
	}
	repo := domain.Repository{Name: name}
	for _, tag := range slices.Sorted(maps.Keys(versions)) {
		repo.Versions = append(repo.Versions, versions[tag].detail)
	}
	return repo, nil
}

// NoteRef records a ref's commit.
func (m *Memory) NoteRef(_ context.Context, repo, tag, commit string) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.refs[repo+"\x00"+tag] = commit
	return nil
}

// MissingBlobs gives those of ids that are not stored.
func (m *Memory) MissingBlobs(_ context.Context, ids []graph.BlobID) ([]graph.BlobID, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return slices.DeleteFunc(slices.Clone(ids), func(id graph.BlobID) bool { return m.blobs[id] != nil }), nil
}

// PutBlobs stores blobs.
func (m *Memory) PutBlobs(_ context.Context, blobs []graph.Blob) error {
	if err := m.fail("put_blobs"); err != nil {
		return err
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, b := range blobs {
		if m.blobs[b.ID] != nil {
			continue
		}
		data, err := json.Marshal(b)
		if err != nil {
			return fmt.Errorf("encode blob: %w", err)
		}
		facts := b.Facts
		facts.References = nil
		facts.Symbols = slices.Clone(facts.Symbols)
		for i := range facts.Symbols {
			facts.Symbols[i].Doc = ""
		}
		outline, err := json.Marshal(facts)
		if err != nil {
			return fmt.Errorf("encode outline: %w", err)
		}
		m.blobs[b.ID], m.outlines[b.ID] = data, outline
		m.parsed++
	}
	return nil
}

// Facts loads facts.
func (m *Memory) Facts(_ context.Context, ids []graph.BlobID) (map[graph.BlobID]*domain.FileFacts, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	all := map[graph.BlobID]*domain.FileFacts{}
	for _, id := range ids {
		if data := m.blobs[id]; data != nil {
			var b graph.Blob
			if err := json.Unmarshal(data, &b); err != nil {
				return nil, fmt.Errorf("decode blob: %w", err)
			}
			all[id] = &b.Facts
		}
	}
	return all, nil
}

// Outlines loads facts without references and docs.
func (m *Memory) Outlines(_ context.Context, ids []graph.BlobID) (map[graph.BlobID]*domain.FileFacts, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	all := map[graph.BlobID]*domain.FileFacts{}
	for _, id := range ids {
		if data := m.outlines[id]; data != nil {
			all[id] = &domain.FileFacts{}
			if err := json.Unmarshal(data, all[id]); err != nil {
				return nil, fmt.Errorf("decode outline: %w", err)
			}
		}
	}
	return all, nil
}

// Files lists the files of a version; of globs only "" is known.
func (m *Memory) Files(_ context.Context, repo, tag, _ string, limit int) ([]graph.VersionFile, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	v, ok := m.versions[repo][tag]
	if !ok {
		return nil, domain.NotFound("there is no version %q", tag)
	}
	return slices.Clone(v.files[:min(limit, len(v.files))]), nil
}

// Text gives the stored text of a file.
func (m *Memory) Text(repo, tag, path string) string {
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, f := range m.versions[repo][tag].files {
		if f.Path == path {
			var b graph.Blob
			_ = json.Unmarshal(m.blobs[f.Blob], &b)
			return string(b.Text)
		}
	}
	return ""
}

// Edges gives all edges of a version as "path:local kind path:local line how", sorted.
func (m *Memory) Edges(repo, tag string) []string {
	m.lock.Lock()
	defer m.lock.Unlock()
	var lines []string
	for _, f := range m.versions[repo][tag].files {
		r, ok := m.edges[f.Resolved]
		if !ok {
			lines = append(lines, f.Path+" has no edges loaded")
			continue
		}
		names := domain.LocalNames(r.Facts.Symbols)
		for _, e := range r.Edges {
			from := ""
			if e.From >= 0 {
				from = names[e.From]
			}
			lines = append(lines, fmt.Sprintf("%s:%s %s %s:%s %d %s", f.Path, from, e.Kind, e.To.Path, e.To.Local, e.Line, e.How))
		}
	}
	slices.Sort(lines)
	return lines
}

// Nodes gives all files and symbols of a version, sorted.
func (m *Memory) Nodes(repo, tag string) []string {
	m.lock.Lock()
	defer m.lock.Unlock()
	var lines []string
	for _, f := range m.versions[repo][tag].files {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", f.Path, f.Language, f.Skipped, f.Blob))
		for _, s := range m.edges[f.Resolved].Facts.Symbols {
			lines = append(lines, fmt.Sprintf("%s %s %s %d-%d", f.Path, s.QualifiedName(), s.Kind, s.StartLine, s.EndLine))
		}
	}
	slices.Sort(lines)
	return lines
}

// Stage begins a load.
func (m *Memory) Stage(_ context.Context, spec graph.VersionSpec) (graph.Loader, error) {
	return &loader{memory: m, spec: spec}, nil
}

type loader struct {
	memory *Memory
	spec   graph.VersionSpec
}

func (l *loader) Missing(_ context.Context, ids []graph.ResolvedID) ([]graph.ResolvedID, error) {
	l.memory.lock.Lock()
	defer l.memory.lock.Unlock()
	return slices.DeleteFunc(slices.Clone(ids), func(id graph.ResolvedID) bool { _, ok := l.memory.edges[id]; return ok }), nil
}

func (l *loader) Put(_ context.Context, files []graph.ResolvedFile) error {
	if err := l.memory.fail("put"); err != nil {
		return err
	}
	l.memory.lock.Lock()
	defer l.memory.lock.Unlock()
	for _, f := range files {
		l.memory.edges[f.ID] = f
		l.memory.loaded++
	}
	return nil
}

func (l *loader) Publish(ctx context.Context, files []graph.VersionFile, load func(context.Context, []graph.ResolvedID) ([]graph.ResolvedFile, error)) (domain.VersionDetail, error) {
	m := l.memory
	if err := m.fail("publish"); err != nil {
		return domain.VersionDetail{}, err
	}
	var lost []graph.ResolvedID
	m.lock.Lock()
	for _, f := range files {
		if _, ok := m.edges[f.Resolved]; !ok {
			lost = append(lost, f.Resolved)
		}
	}
	m.lock.Unlock()
	if len(lost) > 0 {
		again, err := load(ctx, lost)
		if err != nil {
			return domain.VersionDetail{}, err
		}
		if err := l.Put(ctx, again); err != nil {
			return domain.VersionDetail{}, err
		}
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	v := version{files: slices.Clone(files), detail: domain.VersionDetail{
		Repo: l.spec.Repo, Tag: l.spec.Tag, Commit: l.spec.Commit, IngestedAt: time.Now(), Files: len(files),
	}}
	if l.spec.CommittedAt != 0 {
		at := time.Unix(l.spec.CommittedAt, 0).UTC()
		v.detail.CommittedAt = &at
	}
	for _, f := range files {
		v.detail.Symbols += len(m.edges[f.Resolved].Facts.Symbols)
		switch f.Skipped {
		case "oversized":
			v.detail.Skipped.Oversized++
		case "binary":
			v.detail.Skipped.Binary++
		case "generated":
			v.detail.Skipped.Generated++
		}
	}
	if m.versions[l.spec.Repo] == nil {
		m.versions[l.spec.Repo] = map[string]version{}
	}
	m.versions[l.spec.Repo][l.spec.Tag] = v
	return v.detail, nil
}

func (l *loader) Discard(context.Context) error { return nil }

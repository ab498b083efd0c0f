package library

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// ArtifactStore keeps artifacts and the PDF renderings of their versions.
type ArtifactStore interface {
	Artifacts(ctx context.Context, projectID string) ([]domain.Artifact, error)
	Artifact(ctx context.Context, id string) (domain.Artifact, error)
	ArtifactProject(ctx context.Context, id string) (string, error)
	CreateArtifact(ctx context.Context, a domain.Artifact, by domain.Author) (domain.Artifact, error)
	ReviseArtifact(ctx context.Context, a domain.Artifact, by domain.Author, restoredFrom int) (domain.Artifact, error)
	DeleteArtifact(ctx context.Context, id string, version int) (int, error)
	ArtifactVersions(ctx context.Context, id string) ([]domain.Revision, error)
	ArtifactVersion(ctx context.Context, id string, version int) (domain.Revision, error)
	ClaimRendering(ctx context.Context) (r domain.Rendering, ok bool, err error)
	SaveRendering(ctx context.Context, artifactID string, version int, out domain.Rendered) error
	Rendering(ctx context.Context, artifactID string, version int) (domain.Rendered, error)
}

// Artifacts are the documents and bundles of projects. Whether the caller may see an
// artifact's project is decided before.
type Artifacts struct {
	store ArtifactStore
	wake  chan struct{} // that something is to be rendered
	every time.Duration // between looks for what other processes ordered
	wait  time.Duration // the longest that a download waits for its rendering
}

// How PDFs are rendered: see Artifacts.Render.
const (
	renderLook   = 2 * time.Second
	downloadWait = 15 * time.Second
)

// NewArtifacts builds the artifacts on a store. Render must run in some process.
func NewArtifacts(store ArtifactStore) *Artifacts {
	return &Artifacts{store: store, wake: make(chan struct{}, 1), every: renderLook, wait: downloadWait}
}

// List gives the artifacts of a project, the one changed last first, without contents.
func (s *Artifacts) List(ctx context.Context, projectID string) ([]domain.Artifact, error) {
	return s.store.Artifacts(ctx, projectID)
}

// Get gives an artifact with its content.
func (s *Artifacts) Get(ctx context.Context, id string) (domain.Artifact, error) {
	return s.store.Artifact(ctx, id)
}

// ProjectOf gives the id of the project that an artifact belongs to.
func (s *Artifacts) ProjectOf(ctx context.Context, id string) (string, error) {
	return s.store.ArtifactProject(ctx, id)
}

// Create keeps an artifact as version 1; a tool call that is repeated makes it once.
func (s *Artifacts) Create(ctx context.Context, a domain.Artifact, by domain.Author) (domain.Artifact, error) {
	if !a.Kind.Valid() {
		return domain.Artifact{}, domain.Invalid("kind", "must be markdown, pdf, terraform, terragrunt or context")
	}
	if err := fitArtifact(&a); err != nil {
		return domain.Artifact{}, err
	}
	a.CreatedBy = by.UserID
	made, err := s.store.CreateArtifact(ctx, a, by)
	s.ordered(made)
	return made, err
}

// fitArtifact checks title and content; of a bundle it also makes equal contents equal texts.
func fitArtifact(a *domain.Artifact) error {
	a.Title = strings.TrimSpace(a.Title)
	switch {
	case a.Title == "" || utf8.RuneCountInString(a.Title) > domain.MaxArtifactTitle || strings.ContainsAny(a.Title, "\n\r\x00") || !utf8.ValidString(a.Title):
		return domain.Invalid("title", "must be one line of 1 to %d characters", domain.MaxArtifactTitle)
	case a.Kind.Bundle():
		b, err := domain.ParseBundle(a.Content)
		if err != nil {
			return err
		}
		a.Content = b.JSON()
		return nil
	case strings.TrimSpace(a.Content) == "":
		return domain.Invalid("content", "must not be empty")
	case len(a.Content) > domain.MaxArtifactBytes:
		return domain.Errorf(domain.CodeTooLarge, "an artifact may have %d bytes, not %d", domain.MaxArtifactBytes, len(a.Content))
	case strings.ContainsRune(a.Content, 0) || !utf8.ValidString(a.Content):
		return domain.Invalid("content", "is not text")
	}
	return nil
}

// Update makes a new version of an artifact, and gives it as it is then; nothing happens where
// nothing would change. A conflict where change.Version is no longer the newest.
func (s *Artifacts) Update(ctx context.Context, id string, change domain.ArtifactChange) (domain.Artifact, error) {
	old, err := s.store.Artifact(ctx, id)
	if err != nil {
		return domain.Artifact{}, err
	}
	next := old
	if change.Title != nil {
		next.Title = *change.Title
	}
	if change.Content != nil {
		next.Content = *change.Content
	}
	if change.Version != 0 {
		next.Version = change.Version
	}
	if err := fitArtifact(&next); err != nil {
		return domain.Artifact{}, err
	}
	if next.Title == old.Title && next.Content == old.Content && next.Version == old.Version {
		return old, nil
	}
	made, err := s.store.ReviseArtifact(ctx, next, change.Author, change.RestoredFrom)
	s.ordered(made)
	return made, err
}

// Restore makes an earlier version the newest again, as a new one.
func (s *Artifacts) Restore(ctx context.Context, id string, version int, by domain.Author) (domain.Artifact, error) {
	then, err := s.store.ArtifactVersion(ctx, id, version)
	if err != nil {
		return domain.Artifact{}, err
	}
	return s.Update(ctx, id, domain.ArtifactChange{Title: &then.Title, Content: &then.Content, RestoredFrom: version, Author: by})
}

// Delete removes an artifact that is at the version, 0 for any, with all its versions, and
// gives the version that it had. A conflict where that is another.
func (s *Artifacts) Delete(ctx context.Context, id string, version int) (int, error) {
	return s.store.DeleteArtifact(ctx, id, version)
}

// Versions lists an artifact's versions, newest first, without contents.
func (s *Artifacts) Versions(ctx context.Context, id string) ([]domain.Revision, error) {
	return s.store.ArtifactVersions(ctx, id)
}

// Version gives one version with its content.
func (s *Artifacts) Version(ctx context.Context, id string, version int) (domain.Revision, error) {
	return s.store.ArtifactVersion(ctx, id, version)
}

// Diff compares two versions; of a bundle file by file.
func (s *Artifacts) Diff(ctx context.Context, id string, from, to int) (domain.Difference, error) {
	a, err := s.store.Artifact(ctx, id)
	if err != nil {
		return domain.Difference{}, err
	}
	before, err := s.store.ArtifactVersion(ctx, id, from)
	if err != nil {
		return domain.Difference{}, err
	}
	after, err := s.store.ArtifactVersion(ctx, id, to)
	if err != nil {
		return domain.Difference{}, err
	}
	d := domain.Difference{From: from, To: to}
	if a.Kind.Bundle() {
		d.Diff, err = unifiedBundle(before.Content, after.Content, from, to)
	} else {
		d.Diff, err = unified("content.md", before.Content, after.Content, from, to)
	}
	return d, err
}

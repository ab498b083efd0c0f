package api

import (
	"context"
	"mime"
	"net/http"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// artifacts answers GET /projects/:pid/artifacts.
func (s *Server) artifacts(ctx context.Context, r request[none]) ([]domain.Artifact, error) {
	return listing(s.Artifacts.List(ctx, r.project.ID))
}

// artifactBody is the body of a new artifact.
type artifactBody struct {
	Title   string              `json:"title"`
	Kind    domain.ArtifactKind `json:"kind"`
	Content string              `json:"content"`
}

// madeArtifact is the answer to a new artifact.
type madeArtifact struct {
	ID        string              `json:"id"`
	Title     string              `json:"title"`
	Kind      domain.ArtifactKind `json:"kind"`
	CreatedAt time.Time           `json:"created_at"`
}

// createArtifact answers POST /projects/:pid/artifacts.
func (s *Server) createArtifact(ctx context.Context, r request[artifactBody]) (madeArtifact, error) {
	if err := s.scrubNames(ctx, r.project.ID, &r.body.Title); err != nil {
		return madeArtifact{}, err
	}
	a := domain.Artifact{ProjectID: r.project.ID, Title: r.body.Title, Kind: r.body.Kind, Content: r.body.Content}
	made, err := s.Artifacts.Create(ctx, a, domain.Author{UserID: r.caller.UserID})
	return madeArtifact{made.ID, made.Title, made.Kind, made.CreatedAt}, err
}

// artifact answers GET /artifacts/:id.
func (s *Server) artifact(ctx context.Context, r request[none]) (domain.Artifact, error) {
	a, err := s.Artifacts.Get(ctx, r.path["id"])
	tag(r.reply, a.Version)
	return a, err
}

// artifactChange is the body of PUT /artifacts/:id.
type artifactChange struct {
	Title   *string             `json:"title"`
	Kind    domain.ArtifactKind `json:"kind"` // must be the artifact's own, or left out
	Content *string             `json:"content"`
	Version int                 `json:"version"` // that the change builds on; 0 for whichever is the newest
}

func (b *artifactChange) validate() error {
	if b.Title == nil && b.Content == nil {
		return domain.Invalid("", "give a title or a content")
	}
	return nil
}

// changedArtifact is the answer to a changed artifact.
type changedArtifact struct {
	ID        string              `json:"id"`
	Title     string              `json:"title"`
	Kind      domain.ArtifactKind `json:"kind"`
	Version   int                 `json:"version"`
	UpdatedAt time.Time           `json:"updated_at"`
}

func changed(a domain.Artifact) changedArtifact {
	return changedArtifact{a.ID, a.Title, a.Kind, a.Version, a.UpdatedAt}
}

// updateArtifact answers PUT /artifacts/:id.
func (s *Server) updateArtifact(ctx context.Context, r request[artifactChange]) (changedArtifact, error) {
	if err := s.scrubNames(ctx, r.project.ID, r.body.Title); err != nil {
		return changedArtifact{}, err
	}
	version, err := builtOn(r.header, r.body.Version)
	if err != nil {
		return changedArtifact{}, err
	}
	if r.body.Kind != "" {
		a, err := s.Artifacts.Get(ctx, r.path["id"])
		if err != nil {
			return changedArtifact{}, err
		}
		if a.Kind != r.body.Kind {
			return changedArtifact{}, domain.Invalid("kind", "is %s and can't be changed", a.Kind)
		}
	}
	a, err := s.Artifacts.Update(ctx, r.path["id"], domain.ArtifactChange{
		Title: r.body.Title, Content: r.body.Content, Version: version, Author: domain.Author{UserID: r.caller.UserID},
	})
	return changed(a), err
}

// deleteArtifact answers DELETE /artifacts/:id.
func (s *Server) deleteArtifact(ctx context.Context, r request[none]) (raw, error) {
	id := r.path["id"]
	version, err := s.Artifacts.Delete(ctx, id, 0)
	if err == nil {
		acted(ctx, map[string]any{"id": id}, map[string]any{"id": id, "version": version})
	}
	return raw{status: http.StatusNoContent}, err
}

// artifactVersions answers GET /artifacts/:id/versions.
func (s *Server) artifactVersions(ctx context.Context, r request[none]) ([]domain.Revision, error) {
	return s.Artifacts.Versions(ctx, r.path["id"])
}

// artifactVersion answers GET /artifacts/:id/versions/:version.
func (s *Server) artifactVersion(ctx context.Context, r request[none]) (domain.Revision, error) {
	version, err := versionNumber("version", r.path["version"])
	if err != nil {
		return domain.Revision{}, err
	}
	return s.Artifacts.Version(ctx, r.path["id"], version)
}

// artifactDiff answers GET /artifacts/:id/diff.
func (s *Server) artifactDiff(ctx context.Context, r request[none]) (domain.Difference, error) {
	from, to, err := versionRange(r.query)
	if err != nil {
		return domain.Difference{}, err
	}
	return s.Artifacts.Diff(ctx, r.path["id"], from, to)
}

// restoreArtifact answers POST /artifacts/:id/versions/:version/restore.
func (s *Server) restoreArtifact(ctx context.Context, r request[none]) (changedArtifact, error) {
	version, err := versionNumber("version", r.path["version"])
	if err != nil {
		return changedArtifact{}, err
	}
	a, err := s.Artifacts.Restore(ctx, r.path["id"], version, domain.Author{UserID: r.caller.UserID})
	return changed(a), err
}

// downloadArtifact answers GET /artifacts/:id/download[?version=]. The file is never shown in
// a page of ours.
func (s *Server) downloadArtifact(ctx context.Context, r request[none]) (raw, error) {
	version := 0
	if r.query.Has("version") {
		var err error
		if version, err = versionNumber("version", r.query.Get("version")); err != nil {
			return raw{}, err
		}
	}
	file, err := s.Artifacts.Download(ctx, r.path["id"], version)
	if err != nil {
		return raw{}, err
	}
	r.reply.Set("Content-Type", file.Type)
	r.reply.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": file.Name}))
	r.reply.Set("X-Content-Type-Options", "nosniff")
	return raw{json: file.Body}, nil
}

package api

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Skills keeps playbooks; a project "" stands for none, whose skills are the global ones.
// Every method gives not_found for a skill of another project.
type Skills interface {
	// List gives skills by name, without contents; with global set also the global ones,
	// save those that a skill of the project hides.
	List(ctx context.Context, projectID string, global bool) ([]domain.Skill, error)
	Get(ctx context.Context, projectID, id string) (domain.Skill, error)
	// Create keeps a skill; invalid where it is unfit, a conflict where its name is taken.
	Create(ctx context.Context, skill domain.Skill) (domain.Skill, error)
	Update(ctx context.Context, projectID, id string, change domain.SkillChange, author string) error
	Delete(ctx context.Context, projectID, id string) error
	Versions(ctx context.Context, projectID, id string) ([]domain.Revision, error)
	Version(ctx context.Context, projectID, id string, version int) (domain.Revision, error)
	Diff(ctx context.Context, projectID, id string, from, to int) (domain.Difference, error)
	Restore(ctx context.Context, projectID, id string, version int, author string) error
}

// Artifacts keeps documents and bundles. Whether the caller may see an artifact's project is
// the API's to check, beforehand.
type Artifacts interface {
	// List gives a project's artifacts, the one changed last first, without contents.
	List(ctx context.Context, projectID string) ([]domain.Artifact, error)
	// Get gives an artifact with its content, or not_found, as do those below.
	Get(ctx context.Context, id string) (domain.Artifact, error)
	// ProjectOf gives the id of the project that an artifact belongs to.
	ProjectOf(ctx context.Context, id string) (string, error)
	// Create keeps an artifact; invalid or too_large where it is unfit.
	Create(ctx context.Context, a domain.Artifact, by domain.Author) (domain.Artifact, error)
	// Update makes a new version; a conflict where it does not build on the newest.
	Update(ctx context.Context, id string, change domain.ArtifactChange) (domain.Artifact, error)
	// Delete removes an artifact that is at the version, 0 for any, and gives the version that
	// it had; a conflict where that is another.
	Delete(ctx context.Context, id string, version int) (int, error)
	Versions(ctx context.Context, id string) ([]domain.Revision, error)
	Version(ctx context.Context, id string, version int) (domain.Revision, error)
	// Diff compares two versions; unprocessable where they are too long for it.
	Diff(ctx context.Context, id string, from, to int) (domain.Difference, error)
	Restore(ctx context.Context, id string, version int, by domain.Author) (domain.Artifact, error)
	// Download gives a version as a file, 0 for the newest; unavailable while a PDF is still
	// being rendered.
	Download(ctx context.Context, id string, version int) (domain.Download, error)
}

// Secrets keeps the secrets of projects; names may be in any case. No error of it holds
// anything of a value. Methods that name a secret give not_found for one of another project.
type Secrets interface {
	// List gives secrets by name, without values.
	List(ctx context.Context, projectID string) ([]domain.Secret, error)
	// Versions lists the kept versions of a secret, the newest first, without values.
	Versions(ctx context.Context, projectID, name string) ([]domain.SecretVersion, error)
	// Save keeps a value as the newest version. Errors: invalid or too_large where name or
	// value are unfit, unprocessable where the project has as many as it may.
	Save(ctx context.Context, projectID, name string, value domain.SecretValue, by domain.Author) (domain.Secret, error)
	// SaveGenerated saves a random value, which nobody sees.
	SaveGenerated(ctx context.Context, projectID, name string, by domain.Author) (domain.Secret, error)
	// Permit says whether models may see a secret.
	Permit(ctx context.Context, projectID, name string, revealable bool) error
	// Delete removes a secret with all its versions.
	Delete(ctx context.Context, projectID, name string) error
	// Scrubber gives what takes the values of a project's secrets out of texts.
	Scrubber(ctx context.Context, projectID string) (domain.Scrubber, error)
	// Reseal seals all that is kept sealed with an old key with the active one.
	Reseal(ctx context.Context) (domain.Resealed, error)
}

// Memories keeps a project's notes. Every method gives not_found for one of another project.
type Memories interface {
	// List gives memories, the one changed last first, without contents.
	List(ctx context.Context, projectID string) ([]domain.Memory, error)
	Get(ctx context.Context, projectID, id string) (domain.Memory, error)
	Create(ctx context.Context, m domain.Memory, by domain.Author) (domain.Memory, error)
	// Update changes title or content; a conflict where it does not build on the newest version.
	Update(ctx context.Context, projectID, id string, change domain.MemoryChange) error
	Delete(ctx context.Context, projectID, id string) error
}

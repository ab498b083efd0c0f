package secrets

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Store keeps sealed values. It never has one that is open.
type Store interface {
	// Secrets lists a project's secrets by name.
	Secrets(ctx context.Context, projectID string) ([]domain.Secret, error)
	// Secret gives a secret, or not_found.
	Secret(ctx context.Context, projectID, name string) (domain.Secret, error)
	// SecretVersions lists the kept versions of a secret, newest first, or gives not_found.
	SecretVersions(ctx context.Context, projectID, name string) ([]domain.SecretVersion, error)
	// SaveSecret keeps a new version: seal is given the offer that the write takes, if it takes
	// one, and the place of the version. A write that was made before, by the author's key,
	// gives its secret as it is now. Errors: not_found for a project or an offer that is gone;
	// unprocessable where a limit is reached.
	SaveSecret(ctx context.Context, w domain.SecretWrite, seal domain.SecretSeal) (domain.Secret, error)
	// SealedSecret gives a version as it is stored, with that of the secret; not_found where
	// the secret or the version is gone.
	SealedSecret(ctx context.Context, projectID string, ref domain.SecretRef) (domain.SealedSecret, domain.Secret, error)
	// PermitSecret says whether models may see a secret, or gives not_found.
	PermitSecret(ctx context.Context, projectID, name string, revealable bool) error
	// DeleteSecret removes a secret with all its versions, or gives not_found.
	DeleteSecret(ctx context.Context, projectID, name string) error

	// OfferSecret keeps a value that was given to a tool call, in the place of one before.
	OfferSecret(ctx context.Context, by domain.Author, offer domain.SealedSecret) error
	// DropOffer removes the value that was given to a tool call, if there is one.
	DropOffer(ctx context.Context, by domain.Author) error

	// SecretGeneration gives a number that grows with each change of a project's secrets; 0
	// where it never had one.
	SecretGeneration(ctx context.Context, projectID string) (int64, error)
	// KeptSecrets gives all kept versions of a project, with the generation that they are of.
	KeptSecrets(ctx context.Context, projectID string) ([]domain.KeptSecret, int64, error)

	// ResealableSecrets lists up to limit sealed values, of secrets and calls, whose key is not
	// the active one, in the order of their places and after that of one.
	ResealableSecrets(ctx context.Context, active string, after domain.SealedSecret, limit int) ([]domain.SealedSecret, error)
	// ResealSecret puts a value that was sealed anew in the place of the old sealing; nothing
	// where that is gone.
	ResealSecret(ctx context.Context, old, sealed domain.SealedSecret) error
	// ResealStored does the same with all else that is kept sealed. It gives how many values
	// that were, and a line for each that does not open.
	ResealStored(ctx context.Context) (resealed int, faults []string, err error)
}

// Auditor keeps a record of what was done.
type Auditor interface {
	Audit(ctx context.Context, e domain.AuditEntry) error
}

package secrets

import (
	"context"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Vault keeps the secrets of projects. No error of it holds anything of a value. Methods that
// name a secret give not_found for one that the project does not have.
type Vault struct {
	store   Store
	sealer  *Sealer
	auditor Auditor
	cache   cache
}

// New builds a vault.
func New(store Store, sealer *Sealer, auditor Auditor) *Vault {
	return &Vault{store: store, sealer: sealer, auditor: auditor}
}

// List gives a project's secrets by name, without values.
func (v *Vault) List(ctx context.Context, projectID string) ([]domain.Secret, error) {
	return v.store.Secrets(ctx, projectID)
}

// Get gives what is known of a secret; its name may be in any case.
func (v *Vault) Get(ctx context.Context, projectID, name string) (domain.Secret, error) {
	name, err := domain.SecretName(name)
	if err != nil {
		return domain.Secret{}, err
	}
	return v.store.Secret(ctx, projectID, name)
}

// Versions lists the kept versions of a secret, the newest first, without values.
func (v *Vault) Versions(ctx context.Context, projectID, name string) ([]domain.SecretVersion, error) {
	name, err := domain.SecretName(name)
	if err != nil {
		return nil, err
	}
	return v.store.SecretVersions(ctx, projectID, name)
}

// Pin gives the version that a handle means: the newest where it names none. A conflict where
// it names one that is not the newest any more.
func (v *Vault) Pin(ctx context.Context, projectID string, ref domain.SecretRef) (domain.SecretRef, error) {
	secret, err := v.store.Secret(ctx, projectID, ref.Name)
	if err != nil {
		return domain.SecretRef{}, err
	}
	if ref.Version != 0 && ref.Version != secret.Version {
		return domain.SecretRef{}, outdated(ref, secret.Version)
	}
	return secret.Ref(), nil
}

// Open gives the value of a pinned version. A conflict where it is not the newest any more:
// what was approved for one value is not done with another.
func (v *Vault) Open(ctx context.Context, projectID string, ref domain.SecretRef) (domain.SecretValue, error) {
	if ref.Version < 1 {
		return domain.SecretValue{}, domain.Invalid("", "the handle of the secret %s names no version", ref.Name)
	}
	sealed, secret, err := v.store.SealedSecret(ctx, projectID, ref)
	if err != nil {
		return domain.SecretValue{}, err
	}
	if secret.Version != ref.Version {
		return domain.SecretValue{}, outdated(ref, secret.Version)
	}
	return v.sealer.Open(sealed)
}

func outdated(ref domain.SecretRef, newest int) error {
	return domain.Errorf(domain.CodeConflict, "the secret %s has changed: version %d is meant, and %d is the newest; ask again with its new handle", ref.Name, ref.Version, newest)
}

// Reveal gives the newest value to a model, and leaves an audit entry. Forbidden where no
// admin has permitted it.
func (v *Vault) Reveal(ctx context.Context, projectID, name string, by domain.Author) (domain.SecretValue, error) {
	secret, err := v.Get(ctx, projectID, name)
	if err != nil {
		return domain.SecretValue{}, err
	}
	if !secret.Revealable {
		v.note(ctx, secret, by, domain.OutcomeDenied)
		return domain.SecretValue{}, domain.Errorf(domain.CodeForbidden, "no admin has permitted that models see the secret %s; use its handle", secret.Name)
	}
	if err := v.note(ctx, secret, by, domain.OutcomeDone); err != nil {
		return domain.SecretValue{}, err // what isn't noted isn't shown
	}
	return v.Open(ctx, projectID, secret.Ref())
}

// Save keeps a value as the newest version of a secret, which it makes where there is none. A
// tool call that is repeated saves once. Errors: see domain.SecretValue.Check; unprocessable
// where the project has as many secrets as it may.
func (v *Vault) Save(ctx context.Context, projectID, name string, value domain.SecretValue, by domain.Author) (domain.Secret, error) {
	name, err := domain.SecretName(name)
	if err != nil {
		return domain.Secret{}, err
	}
	if err := value.Check(); err != nil {
		return domain.Secret{}, err
	}
	return v.store.SaveSecret(ctx, domain.SecretWrite{ProjectID: projectID, Name: name, By: by},
		func(_ *domain.SealedSecret, at domain.SealedSecret) (domain.SealedSecret, error) {
			return v.sealer.Seal(value, at)
		})
}

// Offer seals a value for the tool call of by, which takes it with SaveOfCall. It goes with
// the end of the call's action or turn.
func (v *Vault) Offer(ctx context.Context, projectID string, value domain.SecretValue, by domain.Author) error {
	sealed, err := v.SealOffer(projectID, value, by)
	if err != nil {
		return err
	}
	return v.store.OfferSecret(ctx, by, sealed)
}

// SealOffer seals a value for the tool call of by, without storing it.
func (v *Vault) SealOffer(projectID string, value domain.SecretValue, by domain.Author) (domain.SealedSecret, error) {
	if by.Key() == "" {
		return domain.SealedSecret{}, fmt.Errorf("offer a secret: there is no call to take it")
	}
	if err := value.Check(); err != nil {
		return domain.SealedSecret{}, err
	}
	return v.sealer.Seal(value, domain.SealedSecret{ProjectID: projectID, Slot: by.Key()})
}

// GenerateOffer makes a random value and seals it for the tool call of by, without storing it.
func (v *Vault) GenerateOffer(projectID string, by domain.Author) (domain.SealedSecret, error) {
	return v.SealOffer(projectID, Generate(), by)
}

// DropOffer removes the value that was given to a call, if there is one.
func (v *Vault) DropOffer(ctx context.Context, by domain.Author) error {
	return v.store.DropOffer(ctx, by)
}

// Permit says whether models may see a secret.
func (v *Vault) Permit(ctx context.Context, projectID, name string, revealable bool) error {
	name, err := domain.SecretName(name)
	if err != nil {
		return err
	}
	return v.store.PermitSecret(ctx, projectID, name, revealable)
}

// Delete removes a secret with all its versions.
func (v *Vault) Delete(ctx context.Context, projectID, name string) error {
	name, err := domain.SecretName(name)
	if err != nil {
		return err
	}
	return v.store.DeleteSecret(ctx, projectID, name)
}

// note keeps a record of a value's way to a model. The route is the tool's, which no HTTP
// method names.
func (v *Vault) note(ctx context.Context, secret domain.Secret, by domain.Author, outcome domain.Outcome) error {
	err := v.auditor.Audit(ctx, domain.AuditEntry{
		UserID: by.UserID, Method: "TOOL", Route: "get_secret", Path: secret.Ref().Handle(), ProjectID: secret.ProjectID,
		Outcome: outcome, RequestID: by.Key(),
	})
	if err != nil {
		return fmt.Errorf("note that the secret %s is shown: %w", secret.Name, err)
	}
	return nil
}

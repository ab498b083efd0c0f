package secrets

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// SaveOfCall saves what was given to a tool call, or, where nothing was and it may be made, a
// random value that nobody has seen. A call that is repeated saves once. Errors: not_found
// where there is no value; a conflict where the call may not overwrite and there is a secret.
func (v *Vault) SaveOfCall(ctx context.Context, projectID string, save domain.CallSecret) (domain.Secret, error) {
	name, err := domain.SecretName(save.Name)
	if err != nil {
		return domain.Secret{}, err
	}
	write := domain.SecretWrite{ProjectID: projectID, Name: name, By: save.By, Offered: true, New: save.New}
	secret, err := v.store.SaveSecret(ctx, write, func(offered *domain.SealedSecret, at domain.SealedSecret) (domain.SealedSecret, error) {
		value, err := v.sealer.Open(*offered)
		if err != nil {
			return domain.SealedSecret{}, err
		}
		return v.sealer.Seal(value, at)
	})
	if !save.Generate || domain.CodeOf(err) != domain.CodeNotFound {
		return secret, err
	}
	write.Offered = false
	return v.store.SaveSecret(ctx, write, func(_ *domain.SealedSecret, at domain.SealedSecret) (domain.SealedSecret, error) {
		return v.sealer.Seal(Generate(), at)
	})
}

// SaveGenerated saves a random value that nobody has seen.
func (v *Vault) SaveGenerated(ctx context.Context, projectID, name string, by domain.Author) (domain.Secret, error) {
	return v.Save(ctx, projectID, name, Generate(), by)
}

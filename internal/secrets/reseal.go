package secrets

import (
	"context"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
)

// resealBatch is how many values are read at once.
const resealBatch = 100

// Reseal seals what is sealed with an old key with the active one: secrets, the values given to
// calls, and all else that the store keeps sealed. After it nothing stored needs the old keys. What
// does not open is passed over and told. It may be repeated, and run in several processes at once.
func (v *Vault) Reseal(ctx context.Context) (domain.Resealed, error) {
	done, err := v.resealSecrets(ctx)
	if err != nil {
		return done, err
	}
	more, faults, err := v.store.ResealStored(ctx)
	done.Resealed += more
	done.Failed = append(done.Failed, faults...)
	done.Failed = done.Failed[:min(len(done.Failed), domain.MaxResealFaults)]
	return done, err
}

func (v *Vault) resealSecrets(ctx context.Context) (domain.Resealed, error) {
	done := domain.Resealed{Key: v.sealer.active, Failed: []string{}}
	var after domain.SealedSecret
	for {
		batch, err := v.store.ResealableSecrets(ctx, v.sealer.active, after, resealBatch)
		if err != nil {
			return done, err
		}
		for _, old := range batch {
			value, err := v.sealer.Open(old)
			if err != nil {
				if len(done.Failed) < domain.MaxResealFaults {
					done.Failed = append(done.Failed, fmt.Sprintf("project %s, version %d: %s", old.ProjectID, old.Version, domain.PublicMessage(err)))
				}
				continue
			}
			if err := v.reseal(ctx, old, value); err != nil {
				return done, err
			}
			done.Resealed++
		}
		if len(batch) < resealBatch {
			return done, nil
		}
		after = batch[len(batch)-1]
	}
}

func (v *Vault) reseal(ctx context.Context, old domain.SealedSecret, value domain.SecretValue) error {
	sealed, err := v.sealer.Seal(value, old)
	if err != nil {
		return err
	}
	return v.store.ResealSecret(ctx, old, sealed)
}

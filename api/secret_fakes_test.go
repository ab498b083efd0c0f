package api_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/secrets"
)

// newVault gives a vault in memory.
func newVault() *secrets.Vault {
	sealer, err := secrets.NewSealer([]secrets.Key{{ID: "k1", Secret: make([]byte, 32)}})
	if err != nil {
		panic(err)
	}
	return secrets.New(&shelfOfSecrets{kept: map[string]domain.Secret{}}, sealer, newFakePeople())
}

// shelfOfSecrets is a store of secrets that keeps their newest versions.
type shelfOfSecrets struct {
	secrets.Store // what no route uses

	mu   sync.Mutex
	kept map[string]domain.Secret // by project and name
}

func (s *shelfOfSecrets) Secrets(_ context.Context, projectID string) (list []domain.Secret, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.kept {
		if secret.ProjectID == projectID {
			list = append(list, secret)
		}
	}
	slices.SortFunc(list, func(a, b domain.Secret) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

func (s *shelfOfSecrets) SecretVersions(_ context.Context, projectID, name string) ([]domain.SecretVersion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, ok := s.kept[projectID+"/"+name]
	if !ok {
		return nil, domain.NotFound("there is no secret %s", name)
	}
	return []domain.SecretVersion{{Version: secret.Version, Author: secret.Author, CreatedAt: secret.UpdatedAt}}, nil
}

func (s *shelfOfSecrets) SaveSecret(_ context.Context, w domain.SecretWrite, seal domain.SecretSeal) (domain.Secret, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, old := s.kept[w.ProjectID+"/"+w.Name]
	if !old {
		secret = domain.Secret{ProjectID: w.ProjectID, Name: w.Name, CreatedAt: day}
	}
	secret.Version, secret.Author, secret.UpdatedAt = secret.Version+1, w.By.UserID, day
	if _, err := seal(nil, domain.SealedSecret{ProjectID: w.ProjectID, Slot: w.Name, Version: secret.Version}); err != nil {
		return domain.Secret{}, err
	}
	s.kept[w.ProjectID+"/"+w.Name] = secret
	return secret, nil
}

func (s *shelfOfSecrets) PermitSecret(_ context.Context, projectID, name string, revealable bool) error {
	return s.change(projectID, name, func(key string, secret domain.Secret) {
		secret.Revealable = revealable
		s.kept[key] = secret
	})
}

func (s *shelfOfSecrets) DeleteSecret(_ context.Context, projectID, name string) error {
	return s.change(projectID, name, func(key string, _ domain.Secret) {
		maps.DeleteFunc(s.kept, func(k string, _ domain.Secret) bool { return k == key })
	})
}

func (s *shelfOfSecrets) change(projectID, name string, do func(key string, secret domain.Secret)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := projectID + "/" + name
	secret, ok := s.kept[key]
	if !ok {
		return domain.NotFound("there is no secret %s", name)
	}
	do(key, secret)
	return nil
}

func (s *shelfOfSecrets) SecretGeneration(context.Context, string) (int64, error) { return 0, nil }

func (s *shelfOfSecrets) ResealStored(context.Context) (int, []string, error) { return 0, nil, nil }

func (s *shelfOfSecrets) ResealableSecrets(context.Context, string, domain.SealedSecret, int) ([]domain.SealedSecret, error) {
	return nil, nil
}

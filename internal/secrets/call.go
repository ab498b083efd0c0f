package secrets

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// SaveGenerated saves a random value that nobody has seen, for the tool call of by; a call
// that is repeated saves once.
func (v *Vault) SaveGenerated(ctx context.Context, projectID, name string, by domain.Author) (domain.Secret, error) {
	return v.Save(ctx, projectID, name, Generate(), by)
}

package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlSaveCredentials = statement("save credentials", `
insert into repository_credentials (repo_id, sealed) select id, @sealed from repositories where name = @repository
on conflict (repo_id) do update set sealed = excluded.sealed, set_at = now()`)

	sqlCredentials = statement("read credentials", `
select c.sealed from repository_credentials c join repositories r on r.id = c.repo_id where r.name = @repository`)
)

// keptCredentials is the form that is sealed: domain.Credentials does not marshal.
type keptCredentials struct {
	Token  string `json:"token,omitempty"`
	SSHKey string `json:"ssh_key,omitempty"`
}

// SaveCredentials replaces the credentials of a repository; not_found where there is none.
func (s *Store) SaveCredentials(ctx context.Context, repository string, c domain.Credentials) error {
	plain, err := json.Marshal(keptCredentials{c.Token, c.SSHKey})
	if err != nil {
		return fmt.Errorf("save the credentials of %s: %w", repository, err)
	}
	sealed, err := s.seal.Seal(plain, credentialContext(repository))
	if err != nil {
		return fmt.Errorf("seal the credentials of %s: %w", repository, err)
	}
	tag, err := s.pool.Exec(ctx, sqlSaveCredentials, pgx.NamedArgs{"repository": repository, "sealed": sealed})
	if err != nil {
		return failed("save the credentials of "+repository, err)
	}
	if tag.RowsAffected() == 0 {
		return domain.NotFound("there is no repository %q", repository)
	}
	return nil
}

// Credentials gives what was saved for a repository; the zero value where nothing was.
func (s *Store) Credentials(ctx context.Context, repository string) (domain.Credentials, error) {
	var sealed []byte
	err := s.pool.QueryRow(ctx, sqlCredentials, pgx.NamedArgs{"repository": repository}).Scan(&sealed)
	if noRows(err) {
		return domain.Credentials{}, nil
	}
	if err != nil {
		return domain.Credentials{}, failed("read the credentials of "+repository, err)
	}
	plain, err := s.seal.Open(sealed, credentialContext(repository))
	if err != nil {
		return domain.Credentials{}, domain.Wrap(domain.CodeForbidden, err,
			"the credentials of %s can't be opened with the encryption keys of this process; give it the same keys as the others, or the repository its credentials anew", repository)
	}
	var kept keptCredentials
	if err := json.Unmarshal(plain, &kept); err != nil {
		return domain.Credentials{}, fmt.Errorf("read the credentials of %s: %w", repository, err)
	}
	return domain.Credentials{Token: kept.Token, SSHKey: kept.SSHKey}, nil
}

// credentialContext binds sealed credentials to their repository.
func credentialContext(repository string) []byte { return []byte("credentials of " + repository) }

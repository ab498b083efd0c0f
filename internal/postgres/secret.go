package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const secretColumns = `
s.project_id, s.name, s.version, s.revealable, v.author, s.created_at, v.created_at`

const newestSecret = `
from secrets s join secret_versions v on v.project_id = s.project_id and v.name = s.name and v.version = s.version
where s.project_id = @project and s.deleted_at is null`

var (
	sqlSecrets = statement("list secrets", `select`+secretColumns+newestSecret+` order by s.name`)

	sqlSecret = statement("read a secret", `select`+secretColumns+newestSecret+` and s.name = @name`)

	sqlSecretVersions = statement("list a secret's versions", `
select version, author, turn_id, created_at from secret_versions
where project_id = @project and name = @name order by version desc`)

	sqlSealedSecret = statement("read a sealed secret", `
select`+secretColumns+`, w.key, w.sealed`+` from secrets s
join secret_versions v on v.project_id = s.project_id and v.name = s.name and v.version = s.version
left join secret_versions w on w.project_id = s.project_id and w.name = s.name and w.version = @version
where s.project_id = @project and s.deleted_at is null and s.name = @name`)

	sqlPermitSecret = statement("permit a secret to be seen", `
update secrets set revealable = @revealable where project_id = @project and name = @name and deleted_at is null returning name`)

	sqlDropSecret = statement("remove a secret", `
with dropped as (
    update secrets set deleted_at = now(), revealable = false
    where project_id = @project and name = @name and deleted_at is null returning project_id, name
), emptied as (
    delete from secret_versions v using dropped d where v.project_id = d.project_id and v.name = d.name
)
select name from dropped`)

	sqlSecretGeneration = statement("read the generation of secrets", `
select generation from secret_generations where project_id = @project`)

	// The project is held first, as whoever removes it does.
	sqlChangeSecrets = statement("change the generation of secrets", `
with held as (select id from projects where id = @project for key share)
insert into secret_generations (project_id, generation) select id, 1 from held
on conflict (project_id) do update set generation = secret_generations.generation + 1
returning generation`)

	// One statement sees one state: the generation is that of the values.
	sqlKeptSecrets = statement("read the kept values of secrets", `
select g.generation, s.revealable, v.name, v.version, v.key, v.sealed
from secret_generations g
left join (secrets s join secret_versions v on v.project_id = s.project_id and v.name = s.name) on s.project_id = g.project_id
where g.project_id = @project order by v.name, v.version`)
)

// Secrets lists a project's secrets by name.
func (s *Store) Secrets(ctx context.Context, projectID string) ([]domain.Secret, error) {
	rows, err := s.pool.Query(ctx, sqlSecrets, pgx.NamedArgs{"project": projectID})
	if err != nil {
		return nil, failed("list secrets", err)
	}
	secrets, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Secret, error) { return scanSecret(row) })
	return secrets, failed("list secrets", err)
}

// Secret gives a secret, or not_found.
func (s *Store) Secret(ctx context.Context, projectID, name string) (domain.Secret, error) {
	secret, err := scanSecret(s.pool.QueryRow(ctx, sqlSecret, pgx.NamedArgs{"project": projectID, "name": name}))
	if noRows(err) {
		return secret, noSecret(name)
	}
	return secret, failed("load secret "+name, err)
}

// SecretVersions lists the kept versions of a secret, newest first, or gives not_found.
func (s *Store) SecretVersions(ctx context.Context, projectID, name string) ([]domain.SecretVersion, error) {
	rows, err := s.pool.Query(ctx, sqlSecretVersions, pgx.NamedArgs{"project": projectID, "name": name})
	if err != nil {
		return nil, failed("list the versions of secret "+name, err)
	}
	versions, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v domain.SecretVersion, err error) {
		err = row.Scan(&v.Version, &v.Author, &v.TurnID, &v.CreatedAt)
		v.CreatedAt = v.CreatedAt.UTC()
		return v, err
	})
	if err == nil && len(versions) == 0 {
		return nil, noSecret(name)
	}
	return versions, failed("list the versions of secret "+name, err)
}

// SealedSecret gives a version as it is stored, and the secret as it is now; not_found where
// the secret or the version is gone.
func (s *Store) SealedSecret(ctx context.Context, projectID string, ref domain.SecretRef) (domain.SealedSecret, domain.Secret, error) {
	sealed := domain.SealedSecret{ProjectID: projectID, Slot: ref.Name, Version: ref.Version}
	var key *string
	args := pgx.NamedArgs{"project": projectID, "name": ref.Name, "version": ref.Version}
	secret, err := scanSecret(beside{s.pool.QueryRow(ctx, sqlSealedSecret, args), []any{&key, &sealed.Body}})
	switch {
	case noRows(err):
		return sealed, secret, noSecret(ref.Name)
	case err != nil:
		return sealed, secret, failed("open secret "+ref.Name, err)
	case key == nil:
		return sealed, secret, domain.NotFound("the secret %s has no version %d any more; the newest is %d", ref.Name, ref.Version, secret.Version)
	}
	sealed.Key = *key
	return sealed, secret, nil
}

// PermitSecret says whether models may see a secret, or gives not_found.
func (s *Store) PermitSecret(ctx context.Context, projectID, name string, revealable bool) error {
	return s.changeSecret(ctx, sqlPermitSecret, pgx.NamedArgs{"project": projectID, "name": name, "revealable": revealable})
}

// DeleteSecret removes a secret with all its versions, or gives not_found. A later secret of
// that name goes on with the next version: no handle ever means another value.
func (s *Store) DeleteSecret(ctx context.Context, projectID, name string) error {
	return s.changeSecret(ctx, sqlDropSecret, pgx.NamedArgs{"project": projectID, "name": name})
}

func (s *Store) changeSecret(ctx context.Context, sql string, args pgx.NamedArgs) error {
	var name string
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := changeSecrets(ctx, tx, args); err != nil {
			return err
		}
		return tx.QueryRow(ctx, sql, args).Scan(&name)
	})
	if noRows(err) {
		return noSecret(args["name"].(string))
	}
	return failed("change a secret", err)
}

// changeSecrets counts a change of a project's secrets, and keeps others from changing them
// until the commit; noRows for a project that is gone.
func changeSecrets(ctx context.Context, tx pgx.Tx, args pgx.NamedArgs) error {
	var generation int64
	return tx.QueryRow(ctx, sqlChangeSecrets, args).Scan(&generation)
}

// SecretGeneration gives a number that grows with each change of a project's secrets; 0 where
// it never had one.
func (s *Store) SecretGeneration(ctx context.Context, projectID string) (generation int64, err error) {
	err = s.pool.QueryRow(ctx, sqlSecretGeneration, pgx.NamedArgs{"project": projectID}).Scan(&generation)
	if noRows(err) {
		return 0, nil
	}
	return generation, failed("read the generation of secrets", err)
}

// KeptSecrets gives all kept versions of a project's secrets, and the generation that they are
// of.
func (s *Store) KeptSecrets(ctx context.Context, projectID string) (kept []domain.KeptSecret, generation int64, err error) {
	rows, err := s.pool.Query(ctx, sqlKeptSecrets, pgx.NamedArgs{"project": projectID})
	if err != nil {
		return nil, 0, failed("read the kept values of secrets", err)
	}
	var name, key *string
	var version *int
	var revealable *bool
	var sealed []byte
	_, err = pgx.ForEachRow(rows, []any{&generation, &revealable, &name, &version, &key, &sealed}, func() error {
		if name != nil {
			kept = append(kept, domain.KeptSecret{
				SealedSecret: domain.SealedSecret{ProjectID: projectID, Slot: *name, Version: *version, Key: *key, Body: sealed},
				Revealable:   *revealable,
			})
		}
		return nil
	})
	return kept, generation, failed("read the kept values of secrets", err)
}

func noSecret(name string) error { return domain.NotFound("there is no secret %s", name) }

func scanSecret(row pgx.Row) (s domain.Secret, err error) {
	err = row.Scan(&s.ProjectID, &s.Name, &s.Version, &s.Revealable, &s.Author, &s.CreatedAt, &s.UpdatedAt)
	s.CreatedAt, s.UpdatedAt = s.CreatedAt.UTC(), s.UpdatedAt.UTC()
	return s, err
}

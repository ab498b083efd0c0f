package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlSecretWritten = statement("find the secret of a call", `
select name from secret_versions where project_id = @project and write_key = @key`)

	sqlSecretThere = statement("look whether a secret is there", `
select exists (select from secrets where project_id = @project and name = @name and deleted_at is null)`)

	sqlSecretChanged = statement("look whether a secret has changed since a call was asked about", `
select exists (
    select from secret_versions v join actions a on a.turn_id = @turn and a.call_id = @call and a.created_at < v.created_at
    where v.project_id = @project and v.name = @name)`)

	// A secret that comes again after its deletion is a new one, save for its numbers.
	sqlSaveSecret = statement("save a secret", `
insert into secrets as s (project_id, name, version) values (@project, @name, 1)
on conflict (project_id, name) do update set version = s.version + 1, deleted_at = null,
    created_at = case when s.deleted_at is null then s.created_at else now() end
returning version`)

	sqlSaveSecretVersion = statement("save a version of a secret", `
insert into secret_versions (project_id, name, version, key, sealed, author, turn_id, write_key)
values (@project, @name, @version, @key, @sealed, @user, @turn, nullif(@write, ''))`)

	sqlPruneSecret = statement("remove old versions of a secret", `
delete from secret_versions where project_id = @project and name = @name and version <= @version - @keep::int`)

	sqlCountSecrets = statement("count a project's secrets", `
select (select count(*) from secrets where project_id = @project and deleted_at is null),
    (select coalesce(sum(octet_length(sealed)), 0) from secret_versions where project_id = @project)`)

	// A turn that has ended takes nothing more: nobody would remove it.
	sqlOfferSecret = statement("offer a value to a call", `
with open as (
    select id from turns where id = @turn and project_id = @project and ended_at is null for share
)
insert into secret_offers (turn_id, call_id, project_id, key, sealed)
select id, @call, @project, @key, @sealed from open
on conflict (turn_id, call_id) do update set key = excluded.key, sealed = excluded.sealed, created_at = now()
where secret_offers.project_id = excluded.project_id
returning turn_id`)

	sqlTakeOffer = statement("take an offered value", `
delete from secret_offers where turn_id = @turn and call_id = @call and project_id = @project
returning key, sealed`)

	sqlDropOffer  = statement("remove an offered value", `delete from secret_offers where turn_id = @turn and call_id = @call`)
	sqlDropOffers = statement("remove a turn's offered values", `delete from secret_offers where turn_id = @turn`)

	sqlResealable = statement("list values of old keys", `
select project_id, slot, version, key, sealed from (
    select project_id, name as slot, version, key, sealed from secret_versions
    union all
    select project_id, turn_id || '/' || call_id, 0, key, sealed from secret_offers
) sealed
where key <> @active and (project_id, slot, version) > (@project, @slot, @version::int)
order by project_id, slot, version limit @limit`)

	sqlResealSecret = statement("seal a secret anew", `
update secret_versions set key = @key, sealed = @sealed
where project_id = @project and name = @slot and version = @version and sealed = @old`)

	sqlResealOffer = statement("seal an offered value anew", `
update secret_offers set key = @key, sealed = @sealed
where project_id = @project and turn_id = @turn and call_id = @call and sealed = @old`)
)

// sealedOverhead is what sealing adds to a value, in bytes: nonce and tag.
const sealedOverhead = 40

// SaveSecret keeps a new version of a secret, and removes those beyond what is kept. seal gets
// the offer that the write takes, which is removed in the same step. A write that was made
// before, by the author's key, gives its secret as it is now. Errors: not_found for a project
// or an offer that is gone; unprocessable where a limit is reached; those of seal.
func (s *Store) SaveSecret(ctx context.Context, w domain.SecretWrite, seal domain.SecretSeal) (domain.Secret, error) {
	name := w.Name
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		args := pgx.NamedArgs{"project": w.ProjectID, "name": w.Name, "key": w.By.Key()}
		if err := changeSecrets(ctx, tx, args); err != nil {
			return err
		}
		if w.By.Key() != "" {
			err := tx.QueryRow(ctx, sqlSecretWritten, args).Scan(&name)
			if !noRows(err) {
				return err
			}
		}
		return saveSecret(ctx, tx, w, seal)
	})
	switch {
	case err == nil:
		return s.Secret(ctx, w.ProjectID, name)
	case noRows(err):
		return domain.Secret{}, domain.NotFound("there is no such project any more")
	case domain.CodeOf(err) != domain.CodeInternal:
		return domain.Secret{}, err
	}
	return domain.Secret{}, failed("save secret "+w.Name, err)
}

func saveSecret(ctx context.Context, tx pgx.Tx, w domain.SecretWrite, seal domain.SecretSeal) error {
	offered, err := takeOffer(ctx, tx, w)
	if err != nil {
		return err
	}
	args := pgx.NamedArgs{"project": w.ProjectID, "name": w.Name, "user": w.By.UserID, "turn": w.By.TurnID, "call": w.By.CallID, "write": w.By.Key(), "keep": domain.MaxSecretVersions}
	if err := mayWrite(ctx, tx, w, args); err != nil {
		return err
	}
	at := domain.SealedSecret{ProjectID: w.ProjectID, Slot: w.Name}
	if err := tx.QueryRow(ctx, sqlSaveSecret, args).Scan(&at.Version); err != nil {
		return fmt.Errorf("number the version: %w", err)
	}
	if at, err = seal(offered, at); err != nil {
		return err
	}
	args["version"], args["key"], args["sealed"] = at.Version, at.Key, at.Body
	for _, sql := range []string{sqlSaveSecretVersion, sqlPruneSecret} {
		if _, err := tx.Exec(ctx, sql, args); err != nil {
			return err
		}
	}
	var secrets, size int
	if err := tx.QueryRow(ctx, sqlCountSecrets, args).Scan(&secrets, &size); err != nil {
		return fmt.Errorf("count the secrets: %w", err)
	}
	switch {
	case secrets > domain.MaxSecrets:
		return domain.Errorf(domain.CodeUnprocessable, "a project may have at most %d secrets; delete one first", domain.MaxSecrets)
	case size > domain.MaxSecretBytes+sealedOverhead*domain.MaxSecrets*domain.MaxSecretVersions:
		return domain.Errorf(domain.CodeUnprocessable, "the secrets of a project, old versions too, may have at most %d bytes in all; delete one first", domain.MaxSecretBytes)
	}
	return nil
}

// mayWrite keeps a write that must be a new secret's from overwriting one, and that of a call
// that was approved from overwriting another version than the approval was asked for.
func mayWrite(ctx context.Context, tx pgx.Tx, w domain.SecretWrite, args pgx.NamedArgs) error {
	if !w.New {
		var changed bool
		if err := tx.QueryRow(ctx, sqlSecretChanged, args).Scan(&changed); err != nil {
			return fmt.Errorf("look whether the secret has changed: %w", err)
		}
		if changed {
			return domain.Errorf(domain.CodeConflict, "the secret %s was saved by somebody since this was asked for, and stays as it is; ask again", w.Name)
		}
		return nil
	}
	var there bool
	if err := tx.QueryRow(ctx, sqlSecretThere, args).Scan(&there); err != nil {
		return fmt.Errorf("look for the secret: %w", err)
	}
	if there {
		return domain.Errorf(domain.CodeConflict, "the secret %s is there by now, and nobody has approved that it is overwritten; save it again, and a person is asked", w.Name)
	}
	return nil
}

// takeOffer takes what was given to the call of a write; nil where it takes nothing.
func takeOffer(ctx context.Context, tx pgx.Tx, w domain.SecretWrite) (*domain.SealedSecret, error) {
	if !w.Offered {
		return nil, nil
	}
	offer := domain.SealedSecret{ProjectID: w.ProjectID, Slot: w.By.Key()}
	err := tx.QueryRow(ctx, sqlTakeOffer, offerArgs(w.By, offer)).Scan(&offer.Key, &offer.Body)
	if noRows(err) {
		return nil, domain.NotFound("no value was given for the secret %s, or it has been taken", w.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("take the offered value: %w", err)
	}
	return &offer, nil
}

// OfferSecret keeps a value that was given to a tool call, in the place of one before. It is
// superseded where the turn has ended, or is not of that project.
func (s *Store) OfferSecret(ctx context.Context, by domain.Author, offer domain.SealedSecret) error {
	var turn string
	err := s.pool.QueryRow(ctx, sqlOfferSecret, offerArgs(by, offer)).Scan(&turn)
	if noRows(err) {
		return refused("offer a value to call " + by.CallID)
	}
	return failed("offer a value to call "+by.CallID, err)
}

// DropOffer removes the value that was given to a tool call, if there is one.
func (s *Store) DropOffer(ctx context.Context, by domain.Author) error {
	_, err := s.pool.Exec(ctx, sqlDropOffer, pgx.NamedArgs{"turn": by.TurnID, "call": by.CallID})
	return failed("remove the value of call "+by.CallID, err)
}

func offerArgs(by domain.Author, offer domain.SealedSecret) pgx.NamedArgs {
	return pgx.NamedArgs{"turn": by.TurnID, "call": by.CallID, "project": offer.ProjectID, "key": offer.Key, "sealed": offer.Body}
}

// ResealableSecrets lists up to limit sealed values, of secrets and of calls, whose key is not
// the active one, in the order of their places and after that of one.
func (s *Store) ResealableSecrets(ctx context.Context, active string, after domain.SealedSecret, limit int) ([]domain.SealedSecret, error) {
	rows, err := s.pool.Query(ctx, sqlResealable, pgx.NamedArgs{
		"active": active, "project": after.ProjectID, "slot": after.Slot, "version": after.Version, "limit": limit,
	})
	if err != nil {
		return nil, failed("list values of old keys", err)
	}
	values, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (v domain.SealedSecret, err error) {
		err = row.Scan(&v.ProjectID, &v.Slot, &v.Version, &v.Key, &v.Body)
		return v, err
	})
	return values, failed("list values of old keys", err)
}

// ResealSecret puts a value that was sealed anew in the place of the old sealing; nothing where
// that is gone.
func (s *Store) ResealSecret(ctx context.Context, old, sealed domain.SealedSecret) error {
	args := pgx.NamedArgs{"project": old.ProjectID, "slot": old.Slot, "version": old.Version, "old": old.Body, "key": sealed.Key, "sealed": sealed.Body}
	sql := sqlResealSecret
	if old.Version == 0 {
		sql = sqlResealOffer
		args["turn"], args["call"], _ = strings.Cut(old.Slot, "/")
	}
	_, err := s.pool.Exec(ctx, sql, args)
	return failed("seal a secret anew", err)
}

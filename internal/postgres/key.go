package postgres

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// keyMark begins every API key, so that scanners for lost secrets know them.
	keyMark = "hvk_"
	// keyPrefix is how much of a key is shown to tell it from others.
	keyPrefix = len(keyMark) + 6
	keyFields = `id, name, prefix, scopes, created_at, expires_at, last_used_at`
)

var (
	sqlNewKey = statement("new API key", `
insert into api_keys (id, user_id, name, prefix, hash, scopes, expires_at)
values (@key, @user, @name, @prefix, @key_hash, @scopes, @expires) returning `+keyFields)

	sqlKeys = statement("list API keys", `select `+keyFields+` from api_keys where user_id = @user order by created_at, id`)

	sqlDropKey = statement("remove an API key", `delete from api_keys where id = @key and user_id = @user returning id`)

	sqlKeyElsewhere = statement("look for an API key anywhere", `select exists (select from api_keys where id = @id)`)

	// The minute of its last use is noted once: a busy key must not write at each request.
	sqlKeyActor = statement("find who an API key is of", `
with used as (
    update api_keys set last_used_at = date_trunc('minute', now())
    where hash = @hash and (last_used_at is null or last_used_at < now() - interval '1 minute')
)
select`+userColumns+`, k.id, k.scopes from api_keys k join users u on u.id = k.user_id
where k.hash = @hash and (k.expires_at is null or k.expires_at > now()) and u.disabled_at is null`)
)

// CreateKey makes an API key, and gives it with its text, which is not kept.
func (s *Store) CreateKey(ctx context.Context, n domain.NewAPIKey) (key domain.APIKey, text string, err error) {
	text, args := newKey()
	args["user"], args["name"], args["scopes"], args["expires"] = n.UserID, n.Name, n.Scopes, n.ExpiresAt
	key, err = scanKey(s.pool.QueryRow(ctx, sqlNewKey, args))
	return key, text, failed("create an API key", err)
}

// newKey makes the text of a key, and what is kept of it.
func newKey() (text string, kept pgx.NamedArgs) {
	text = keyMark + strings.ToLower(rand.Text())
	sum := sha256.Sum256([]byte(text))
	return text, pgx.NamedArgs{"key": domain.NewID(), "prefix": text[:keyPrefix], "key_hash": sum[:]}
}

// Keys lists a person's keys, the oldest first; those that have expired too.
func (s *Store) Keys(ctx context.Context, userID string) ([]domain.APIKey, error) {
	rows, err := s.pool.Query(ctx, sqlKeys, pgx.NamedArgs{"user": userID})
	if err != nil {
		return nil, failed("list API keys", err)
	}
	keys, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.APIKey, error) { return scanKey(row) })
	return keys, failed("list API keys", err)
}

// DeleteKey ends a key of a person, or gives not_found.
func (s *Store) DeleteKey(ctx context.Context, userID, id string) error {
	err := s.pool.QueryRow(ctx, sqlDropKey, pgx.NamedArgs{"key": id, "user": userID}).Scan(&id)
	if noRows(err) {
		return s.missing(ctx, sqlKeyElsewhere, id, "there is no key %q")
	}
	s.accessChanged()
	return failed("remove an API key", err)
}

// KeyActor gives who acts by an API key, as the database knows them now. Errors: unauthorized
// for a key that does not exist, was removed or has expired.
func (s *Store) KeyActor(ctx context.Context, text string) (domain.Actor, error) {
	if !strings.HasPrefix(text, keyMark) {
		return domain.Actor{}, errKey
	}
	sum := sha256.Sum256([]byte(text))
	var a domain.Actor
	u, err := scanUser(s.pool.QueryRow(ctx, sqlKeyActor, pgx.NamedArgs{"hash": sum[:]}), &a.KeyID, &a.Scopes)
	if noRows(err) {
		return domain.Actor{}, errKey
	}
	a.UserID, a.Name, a.Role, a.Groups = u.ID, u.Name, u.Role, u.GroupIDs
	return a, failed("find who an API key is of", err)
}

var errKey = domain.Errorf(domain.CodeUnauthorized, "the key is wrong, was removed, or has expired")

func scanKey(row pgx.Row) (k domain.APIKey, err error) {
	err = row.Scan(&k.ID, &k.Name, &k.Prefix, &k.Scopes, &k.CreatedAt, &k.ExpiresAt, &k.LastUsedAt)
	k.CreatedAt = k.CreatedAt.UTC()
	if k.ExpiresAt != nil {
		*k.ExpiresAt = k.ExpiresAt.UTC()
	}
	return k, err
}

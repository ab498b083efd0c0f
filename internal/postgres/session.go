package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlNewSession = statement("new session", `
insert into sessions (id, user_id, hash, expires_at)
select @session, u.id, @hash, now() + @life::interval from users u where u.id = @user and u.disabled_at is null returning id`)

	sqlSessionActor = statement("find who a session is of", `
select`+userColumns+` from sessions s join users u on u.id = s.user_id
where s.id = @session and s.user_id = @user and s.expires_at > now() and u.disabled_at is null`)

	// A session that is used goes on, but not beyond @longest after it began.
	sqlRenewSession = statement("renew a session", `
update sessions set seen_at = now(), expires_at = least(now() + @life::interval, created_at + @longest::interval)
where hash = @hash and expires_at > now() returning id, user_id`)

	sqlEndSession = statement("end a session", `delete from sessions where id = @session or hash = @hash`)

	// Who has no session that goes on ends none.
	sqlEndSessions = statement("end all sessions of a person", `
delete from sessions where user_id in (
    select user_id from sessions where (id = @session or hash = @hash) and expires_at > now())`)

	sqlSetPassword = statement("set a password", `
with ended as (delete from sessions where user_id = @user and id <> @session and hash is distinct from @hash::bytea)
update users set password = @password where id = @user and provider <> 'owner' returning id`)

	sqlIdentity = statement("find an identity", `select user_id from identities where issuer = @issuer and subject = @subject`)

	sqlLinkIdentity = statement("link an identity", `
insert into identities (issuer, subject, user_id) values (@issuer, @subject, @user)
on conflict (issuer, subject) do update set issuer = excluded.issuer returning user_id`)

	// An attempt counts before it is judged, so that many at once are no way around the limit.
	sqlCountAttempt = statement("count an attempt to sign in", `
insert into sign_in_attempts as a (subject, began_at, count) values (@subject, now(), 1)
on conflict (subject) do update set
    count = case when a.began_at < now() - @window::interval then 1 else a.count + 1 end,
    began_at = case when a.began_at < now() - @window::interval then now() else a.began_at end
returning count, greatest(began_at + @window::interval - now(), interval '0')`)

	sqlForgetAttempts = statement("forget attempts to sign in", `delete from sign_in_attempts where subject = @subject`)

	sqlTakeBackAttempt = statement("take an attempt to sign in back", `
update sign_in_attempts set count = greatest(count - 1, 0) where subject = @subject`)
)

// CreateSession begins a session of a person, which the secret of that hash renews; forbidden
// where the account is disabled.
func (s *Store) CreateSession(ctx context.Context, userID string, hash []byte, life time.Duration) (id string, err error) {
	args := pgx.NamedArgs{"session": domain.NewID(), "user": userID, "hash": hash, "life": life}
	err = s.pool.QueryRow(ctx, sqlNewSession, args).Scan(&id)
	if noRows(err) {
		return "", errDisabled
	}
	return id, failed("begin a session", err)
}

// SessionActor gives who is signed in by a session, as the database knows them now; or
// unauthorized where the session has ended, or is not that person's.
func (s *Store) SessionActor(ctx context.Context, id, userID string) (domain.Actor, error) {
	u, err := scanUser(s.pool.QueryRow(ctx, sqlSessionActor, pgx.NamedArgs{"session": id, "user": userID}))
	if noRows(err) {
		return domain.Actor{}, errSession
	}
	return domain.Actor{UserID: u.ID, Name: u.Name, Role: u.Role, Groups: u.GroupIDs}, failed("find who a session is of", err)
}

// RenewSession gives the session that a secret of that hash renews, and lets it live for life
// from now, but no longer than longest in all; or unauthorized.
func (s *Store) RenewSession(ctx context.Context, hash []byte, life, longest time.Duration) (id, userID string, err error) {
	err = s.pool.QueryRow(ctx, sqlRenewSession, pgx.NamedArgs{"hash": hash, "life": life, "longest": longest}).Scan(&id, &userID)
	if noRows(err) {
		return "", "", errSession
	}
	return id, userID, failed("renew a session", err)
}

// EndSession ends the session of that id, or that a secret of that hash renews.
func (s *Store) EndSession(ctx context.Context, id string, hash []byte) error {
	_, err := s.pool.Exec(ctx, sqlEndSession, pgx.NamedArgs{"session": id, "hash": hash})
	s.accessChanged()
	return failed("end a session", err)
}

// EndSessions ends all sessions of the person whose is the session of that id, or that a
// secret of that hash renews.
func (s *Store) EndSessions(ctx context.Context, id string, hash []byte) error {
	_, err := s.pool.Exec(ctx, sqlEndSessions, pgx.NamedArgs{"session": id, "hash": hash})
	s.accessChanged()
	return failed("end all sessions of a person", err)
}

// SetPassword sets the hash of a person's password, and ends all their sessions but the one of
// that id, or that a secret of keepHash renews; or not_found.
func (s *Store) SetPassword(ctx context.Context, userID, password, keepID string, keepHash []byte) error {
	args := pgx.NamedArgs{"user": userID, "password": password, "session": keepID, "hash": keepHash}
	err := s.pool.QueryRow(ctx, sqlSetPassword, args).Scan(&userID)
	if noRows(err) {
		return domain.NotFound("there is no user %q", userID)
	}
	s.accessChanged()
	return failed("set the password of "+userID, err)
}

var errSession = domain.Errorf(domain.CodeUnauthorized, "the session has ended; sign in again")

// UserByIdentity gives the id of the person that a provider knows so, or not_found.
func (s *Store) UserByIdentity(ctx context.Context, i domain.Identity) (userID string, err error) {
	err = s.pool.QueryRow(ctx, sqlIdentity, pgx.NamedArgs{"issuer": i.Issuer, "subject": i.Subject}).Scan(&userID)
	if noRows(err) {
		return "", domain.NotFound("nobody has this identity")
	}
	return userID, failed("find an identity", err)
}

// LinkIdentity makes an identity a person's own; conflict where it is somebody else's.
func (s *Store) LinkIdentity(ctx context.Context, i domain.Identity, userID string) error {
	var owner string
	err := s.pool.QueryRow(ctx, sqlLinkIdentity, pgx.NamedArgs{"issuer": i.Issuer, "subject": i.Subject, "user": userID}).Scan(&owner)
	if err == nil && owner != userID {
		return domain.Errorf(domain.CodeConflict, "this identity belongs to another account")
	}
	return failed("link an identity", err)
}

// CountAttempt counts an attempt to sign in, and gives how many there were in the window and
// how long it is to go on.
func (s *Store) CountAttempt(ctx context.Context, subject string, window time.Duration) (count int, left time.Duration, err error) {
	err = s.pool.QueryRow(ctx, sqlCountAttempt, pgx.NamedArgs{"subject": subject, "window": window}).Scan(&count, &left)
	return count, left, failed("count an attempt to sign in", err)
}

// ForgetAttempts forgets the attempts at an account, and takes back the last one of an address.
func (s *Store) ForgetAttempts(ctx context.Context, account, address string) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, sqlForgetAttempts, pgx.NamedArgs{"subject": account}); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, sqlTakeBackAttempt, pgx.NamedArgs{"subject": address})
		return err
	})
	return failed("forget attempts to sign in", err)
}

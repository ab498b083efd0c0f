package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlLXDIdentity = statement("read the identity for LXD", `select installation, certificate, sealed_key from lxd_identity`)

	sqlKeepLXDIdentity = statement("keep an identity for LXD", `
insert into lxd_identity (installation, certificate, sealed_key) values (@installation, @certificate, @sealed)
on conflict do nothing`)

	sqlLXDPin = statement("read the pin of an LXD server", `select fingerprint from lxd_servers where endpoint = @endpoint`)

	sqlPinLXD = statement("pin an LXD server", `
insert into lxd_servers (endpoint, fingerprint) values (@endpoint, @fingerprint)
on conflict (endpoint) do update set fingerprint = excluded.fingerprint, joined_at = now()`)
)

// LXDIdentity gives the identity by which LXD servers know this installation, and keeps the one
// that make gives where there is none: whoever is first, in whichever process, makes it.
func (s *Store) LXDIdentity(ctx context.Context, make func() (domain.LXDIdentity, error)) (domain.LXDIdentity, error) {
	found, err := s.lxdIdentity(ctx)
	if !noRows(err) {
		return found, err
	}
	made, err := make()
	if err != nil {
		return made, err
	}
	sealed, err := s.seal.Seal([]byte(made.Key), identityContext(made))
	if err != nil {
		return made, failed("seal the identity for LXD", err)
	}
	args := pgx.NamedArgs{"installation": made.Installation, "certificate": made.Certificate, "sealed": sealed}
	if _, err := s.pool.Exec(ctx, sqlKeepLXDIdentity, args); err != nil {
		return made, failed("keep the identity for LXD", err)
	}
	return s.lxdIdentity(ctx)
}

func (s *Store) lxdIdentity(ctx context.Context) (found domain.LXDIdentity, err error) {
	var sealed []byte
	err = s.pool.QueryRow(ctx, sqlLXDIdentity).Scan(&found.Installation, &found.Certificate, &sealed)
	if err != nil {
		return found, failed("read the identity for LXD", err)
	}
	key, err := s.seal.Open(sealed, identityContext(found))
	if err != nil {
		return found, domain.Wrap(domain.CodeUnavailable, err,
			"Harvest's identity for LXD does not open with the encryption keys of this process; give it the same keys as the others, under [temporal.codec]")
	}
	found.Key = string(key)
	return found, nil
}

// identityContext binds the sealed key to its certificate.
func identityContext(i domain.LXDIdentity) []byte {
	return []byte("lxd identity of " + i.Installation + "\n" + i.Certificate)
}

// LXDPin gives the fingerprint of the certificate of the LXD server at an address; "" for one
// that was not joined.
func (s *Store) LXDPin(ctx context.Context, endpoint string) (fingerprint string, err error) {
	err = s.pool.QueryRow(ctx, sqlLXDPin, pgx.NamedArgs{"endpoint": endpoint}).Scan(&fingerprint)
	if noRows(err) {
		return "", nil
	}
	return fingerprint, failed("read the pin of an LXD server", err)
}

// PinLXD keeps the fingerprint of the certificate of the LXD server at an address.
func (s *Store) PinLXD(ctx context.Context, endpoint, fingerprint string) error {
	_, err := s.pool.Exec(ctx, sqlPinLXD, pgx.NamedArgs{"endpoint": endpoint, "fingerprint": fingerprint})
	return failed("pin an LXD server", err)
}

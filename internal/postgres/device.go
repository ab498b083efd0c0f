package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlNewDevice = statement("new device", `
with gone as (delete from devices where expires_at < now())
insert into devices (hash, user_code, name, scopes, key_days, address, expires_at)
values (@hash, @code, @name, @scopes, @days, @address, now() + @life::interval)`)

	sqlDevice = statement("find a device", `
select user_code, name, scopes, key_days, address, status, expires_at from devices where user_code = @code and expires_at > now()`)

	sqlDecideDevice = statement("decide about a device", `
update devices set status = @status, user_id = @user
where user_code = @code and status = 'waiting' and expires_at > now() returning user_code`)

	// The key is made as the device is taken, so that it is fetched once.
	sqlRedeemDevice = statement("fetch the key of a device", `
with taken as (
    delete from devices where hash = @hash and status = 'granted' and expires_at > now() returning *
)
insert into api_keys (id, user_id, name, prefix, hash, scopes, expires_at)
select @key, user_id, name, @prefix, @key_hash, scopes, case when key_days > 0 then now() + make_interval(days => key_days) end
from taken returning `+keyFields)

	sqlDeviceStatus = statement("see how a device stands", `select status from devices where hash = @hash and expires_at > now()`)
)

var errDevice = domain.NotFound("no terminal waits with this code: it is wrong, was used, or is too old")

// CreateDevice begins to wait for somebody who grants a device its key; hash is that of what
// fetches it. The codes must be new.
func (s *Store) CreateDevice(ctx context.Context, userCode string, hash []byte, d domain.NewDevice, life time.Duration) error {
	_, err := s.pool.Exec(ctx, sqlNewDevice, pgx.NamedArgs{
		"hash": hash, "code": userCode, "name": d.Name, "scopes": d.Scopes, "days": d.KeyDays, "address": d.Address, "life": life,
	})
	return failed("begin a device's sign-in", err)
}

// Device gives the device that shows a code, or not_found.
func (s *Store) Device(ctx context.Context, userCode string) (d domain.Device, err error) {
	err = s.pool.QueryRow(ctx, sqlDevice, pgx.NamedArgs{"code": userCode}).
		Scan(&d.UserCode, &d.Name, &d.Scopes, &d.KeyDays, &d.Address, &d.Status, &d.ExpiresAt)
	if noRows(err) {
		return d, errDevice
	}
	return d, failed("find a device", err)
}

// DecideDevice grants or refuses a device its key, once; not_found where none waits.
func (s *Store) DecideDevice(ctx context.Context, d domain.DeviceDecision) error {
	status := domain.DeviceRefused
	if d.Granted {
		status = domain.DeviceGranted
	}
	var code string
	err := s.pool.QueryRow(ctx, sqlDecideDevice, pgx.NamedArgs{"code": d.UserCode, "user": d.UserID, "status": string(status)}).Scan(&code)
	if noRows(err) {
		return errDevice
	}
	return failed("decide about a device", err)
}

// RedeemDevice makes the key of a device that was granted one, and gives it with its text,
// which is not kept. Until somebody decides the text is "". Errors: forbidden where it was
// refused, not_found.
func (s *Store) RedeemDevice(ctx context.Context, hash []byte) (key domain.APIKey, text string, err error) {
	text, args := newKey()
	args["hash"] = hash
	key, err = scanKey(s.pool.QueryRow(ctx, sqlRedeemDevice, args))
	if err == nil {
		return key, text, nil
	}
	if !noRows(err) {
		return key, "", failed("fetch the key of a device", err)
	}
	var status domain.DeviceStatus
	err = s.pool.QueryRow(ctx, sqlDeviceStatus, pgx.NamedArgs{"hash": hash}).Scan(&status)
	switch {
	case noRows(err):
		return key, "", errDevice
	case err == nil && status == domain.DeviceRefused:
		return key, "", domain.Errorf(domain.CodeForbidden, "the key was refused")
	}
	return key, "", failed("see how a device stands", err)
}

package api

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// People keeps who there is, their groups and their keys.
type People interface {
	// User gives a person, or not_found.
	User(ctx context.Context, id string) (domain.User, error)
	// UpdateUser changes a person's own settings.
	UpdateUser(ctx context.Context, userID string, c domain.UserChange) error
	// Users lists the people who signed up, in that order.
	Users(ctx context.Context) ([]domain.User, error)
	// SetDisabled shuts a person out or lets them in again: not_found, or conflict for the last
	// admin.
	SetDisabled(ctx context.Context, userID string, disabled bool) error
	// SetRole changes what a person may do: not_found, invalid, or conflict for the last admin.
	SetRole(ctx context.Context, userID string, role domain.UserRole) error
	// SetGroups makes a person a member of exactly these groups: not_found, or invalid.
	SetGroups(ctx context.Context, userID string, groupIDs []string) error
	// CreateGroup makes a group; a taken name is a conflict.
	CreateGroup(ctx context.Context, name, description string) (domain.Group, error)
	// DeleteGroup removes a group, or gives not_found; its projects stay, for admins.
	DeleteGroup(ctx context.Context, id string) error
	// SetDefaultGroup says whether new people join the group; or not_found.
	SetDefaultGroup(ctx context.Context, id string, isDefault bool) error
	// KeyActor gives who acts by an API key, or unauthorized.
	KeyActor(ctx context.Context, key string) (domain.Actor, error)
	// CreateKey makes an API key, and gives it with its text, which is not kept.
	CreateKey(ctx context.Context, n domain.NewAPIKey) (key domain.APIKey, text string, err error)
	// Keys lists a person's keys.
	Keys(ctx context.Context, userID string) ([]domain.APIKey, error)
	// DeleteKey ends a key of a person, or gives not_found.
	DeleteKey(ctx context.Context, userID, id string) error
	// FollowAccess calls changed each time that what somebody may do may have changed, on any
	// server, until ctx ends.
	FollowAccess(ctx context.Context, changed func())
}

// SignIn signs people up, in and out; signin.Service does.
type SignIn interface {
	// LocalLogin reports whether local accounts can sign in.
	LocalLogin() bool
	// Ways lists the providers, with what keeps one from working now.
	Ways() []domain.SignInWay
	// Register makes a local account and signs it in: invalid, conflict, forbidden, too_many.
	Register(ctx context.Context, r domain.Registration) (domain.SignedIn, error)
	// Login signs a local account in: unauthorized, forbidden, too_many.
	Login(ctx context.Context, l domain.Login) (domain.SignedIn, error)
	// Session gives who is signed in, with a fresh token where the old one is used up; or
	// unauthorized.
	Session(ctx context.Context, token, session string) (who domain.Actor, fresh *domain.SignedIn, err error)
	// Logout ends a session on every server at once, or all sessions of its person.
	Logout(ctx context.Context, token, session string, all bool) error
	// ChangePassword replaces a person's own password: forbidden, conflict, invalid, too_many.
	ChangePassword(ctx context.Context, c domain.PasswordChange) error
	// ResetPassword gives a person a password: forbidden, not_found, conflict, invalid.
	ResetPassword(ctx context.Context, userID, password string) error
	// Begin gives where to send a browser, and what it keeps until it is back: not_configured,
	// unavailable.
	Begin(ctx context.Context, start domain.SignInStart) (address, keep string, err error)
	// Finish signs in who comes back: invalid, upstream, conflict, forbidden, unauthorized.
	Finish(ctx context.Context, end domain.SignInEnd) (domain.SignedIn, error)
	// BeginDevice begins to wait for somebody who grants a device an API key: too_many.
	BeginDevice(ctx context.Context, d domain.NewDevice) (domain.DeviceCodes, error)
	// Device gives the device that shows a code, to a person who types it: not_found, too_many.
	Device(ctx context.Context, userID, userCode string) (domain.Device, error)
	// DecideDevice grants or refuses a device its key, once: not_found.
	DecideDevice(ctx context.Context, d domain.DeviceDecision) error
	// RedeemDevice gives the key that a device was granted, once; text is "" until somebody has
	// decided: forbidden, not_found.
	RedeemDevice(ctx context.Context, deviceCode string) (key domain.APIKey, text string, err error)
}

// Auditor keeps who was refused what, and who changed or removed what.
type Auditor interface {
	// Audit notes a call.
	Audit(ctx context.Context, e domain.AuditEntry) error
	// AuditEntries lists the calls that a filter leaves, the newest first.
	AuditEntries(ctx context.Context, f domain.AuditFilter) ([]domain.AuditEntry, error)
}

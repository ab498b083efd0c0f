package api_test

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/harvest-engine/harvest/internal/domain"
)

// fakePeople keeps people, keys and noted calls in memory.
type fakePeople struct {
	mu      sync.Mutex
	users   map[string]domain.User
	keys    map[string]domain.NewAPIKey // by text
	entries []domain.AuditEntry
	changed chan struct{}
}

func newFakePeople() *fakePeople {
	return &fakePeople{
		changed: make(chan struct{}, 64), keys: map[string]domain.NewAPIKey{},
		users: map[string]domain.User{domain.OwnerID: {ID: domain.OwnerID, Name: "owner", Role: domain.UserAdmin, Provider: "owner", CreatedAt: day}},
	}
}

// join makes a person with a key of these scopes, and gives the key.
func (f *fakePeople) join(name string, role domain.UserRole, groups []string, scopes ...domain.KeyScope) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users[name] = domain.User{ID: name, Email: name + "@example.com", Name: name, Role: role, Provider: "local", CreatedAt: day, GroupIDs: groups}
	key := fmt.Sprintf("hvk_%s_%d", name, len(f.keys))
	f.keys[key] = domain.NewAPIKey{UserID: name, Name: name, Scopes: scopes}
	return key
}

func (f *fakePeople) alter(id string, change func(*domain.User)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	u, ok := f.users[id]
	if !ok {
		return domain.NotFound("there is no user %q", id)
	}
	change(&u)
	f.users[id] = u
	f.changed <- struct{}{}
	return nil
}

func (f *fakePeople) Actor(ctx context.Context, id string) (domain.Actor, error) {
	u, err := f.User(ctx, id)
	return domain.Actor{UserID: u.ID, Name: u.Name, Role: u.Role, Groups: u.GroupIDs}, err
}

func (f *fakePeople) User(_ context.Context, id string) (domain.User, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	u, ok := f.users[id]
	if !ok {
		return u, domain.NotFound("there is no user %q", id)
	}
	return u, nil
}

func (f *fakePeople) UpdateUser(_ context.Context, id string, c domain.UserChange) error {
	return f.alter(id, func(u *domain.User) {
		if c.Name != nil {
			u.Name = *c.Name
		}
		if c.ProjectID != nil {
			u.Last.ProjectID = *c.ProjectID
		}
	})
}

func (f *fakePeople) Users(context.Context) (list []domain.User, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range f.users {
		if u.Provider != "owner" {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(a, b domain.User) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })
	return list, nil
}

func (f *fakePeople) SetRole(_ context.Context, id string, role domain.UserRole) error {
	return f.alter(id, func(u *domain.User) { u.Role = role })
}

func (f *fakePeople) SetDisabled(_ context.Context, id string, disabled bool) error {
	return f.alter(id, func(u *domain.User) { u.Disabled = disabled })
}

func (f *fakePeople) SetGroups(_ context.Context, id string, groups []string) error {
	return f.alter(id, func(u *domain.User) { u.GroupIDs = groups })
}

func (f *fakePeople) CreateGroup(_ context.Context, name, description string) (domain.Group, error) {
	return domain.Group{ID: "g-" + name, Name: name, Description: description, CreatedAt: day}, nil
}

func (f *fakePeople) DeleteGroup(_ context.Context, id string) error {
	if id != "red" {
		return domain.NotFound("there is no group %q", id)
	}
	return nil
}

func (f *fakePeople) SetDefaultGroup(ctx context.Context, id string, _ bool) error {
	return f.DeleteGroup(ctx, id)
}

func (f *fakePeople) KeyActor(ctx context.Context, text string) (domain.Actor, error) {
	f.mu.Lock()
	key, ok := f.keys[text]
	f.mu.Unlock()
	if !ok {
		return domain.Actor{}, domain.Errorf(domain.CodeUnauthorized, "no such key")
	}
	who, err := f.Actor(ctx, key.UserID)
	who.KeyID, who.Scopes = "key-of-"+key.UserID, key.Scopes
	return who, err
}

func (f *fakePeople) CreateKey(_ context.Context, n domain.NewAPIKey) (domain.APIKey, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := fmt.Sprintf("hvk_made_%d", len(f.keys))
	f.keys[text] = n
	return domain.APIKey{ID: text, Name: n.Name, Prefix: "hvk_made", Scopes: n.Scopes, CreatedAt: day, ExpiresAt: n.ExpiresAt}, text, nil
}

func (f *fakePeople) Keys(_ context.Context, userID string) (list []domain.APIKey, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for text, n := range f.keys {
		if n.UserID == userID {
			list = append(list, domain.APIKey{ID: text, Name: n.Name, Prefix: "hvk_made", Scopes: n.Scopes, CreatedAt: day})
		}
	}
	return list, nil
}

func (f *fakePeople) DeleteKey(_ context.Context, userID, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys[id].UserID != userID {
		return domain.NotFound("there is no key %q", id)
	}
	delete(f.keys, id)
	f.changed <- struct{}{}
	return nil
}

func (f *fakePeople) FollowAccess(ctx context.Context, changed func()) {
	for {
		select {
		case <-f.changed:
			changed()
		case <-ctx.Done():
			return
		}
	}
}

func (f *fakePeople) Audit(_ context.Context, e domain.AuditEntry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	e.ID, e.At = fmt.Sprintf("%06d", len(f.entries)), day
	f.entries = append(f.entries, e)
	return nil
}

func (f *fakePeople) AuditEntries(_ context.Context, filter domain.AuditFilter) (list []domain.AuditEntry, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range slices.Backward(f.entries) {
		if (filter.Outcome == "" || e.Outcome == filter.Outcome) && (filter.Before == "" || e.ID < filter.Before) && len(list) < filter.Limit {
			list = append(list, e)
		}
	}
	return list, nil
}

// noted gives the last noted call.
func (f *fakePeople) noted() (last domain.AuditEntry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.entries) > 0 {
		last = f.entries[len(f.entries)-1]
	}
	return last
}

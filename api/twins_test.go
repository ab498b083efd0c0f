package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/signin"
)

// openTwins opens two API processes that share a database and a secret.
func openTwins(t *testing.T, changes ...func(*signin.Config)) (one, two *house) {
	t.Helper()
	one = openHouse(t, changes...)
	return one, openOn(t, one.pool, one.clock, changes...)
}

// at is the same browser, on a page of another process: cookies don't tell ports apart.
func (b *browser) at(h *house) *browser { return &browser{h, b.client} }

func admins(t *testing.T, h *house) (n int) {
	t.Helper()
	users, err := h.store.Users(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range users {
		if u.Role == domain.UserAdmin {
			n++
		}
	}
	return n
}

// Of many who sign up at once, by two processes, exactly one is the admin.
func TestTheFirstByTwoProcesses(t *testing.T) {
	t.Parallel()
	one, two := openTwins(t)
	var all sync.WaitGroup
	for i := range 8 {
		b := []*house{one, two}[i%2].browser(t)
		all.Go(func() { b.expect(t, 200, "POST", "/auth/register", account(fmt.Sprint("person", i))) })
	}
	all.Wait()
	if n := admins(t, one); n != 1 {
		t.Errorf("%d admins", n)
	}
}

// Two admins who demote each other at once, by two processes: one stays.
func TestAdminsDemoteEachOther(t *testing.T) {
	t.Parallel()
	one, two := openTwins(t)
	ada, grace := one.browser(t), two.browser(t)
	ada.expect(t, 200, "POST", "/auth/register", account("ada"))
	grace.expect(t, 200, "POST", "/auth/register", account("grace"))
	ids := [2]string{one.idOf(t, "ada"), one.idOf(t, "grace")}
	for round := range 5 {
		for _, id := range ids {
			if err := one.store.SetRole(t.Context(), id, domain.UserAdmin); err != nil {
				t.Fatal(err)
			}
		}
		var both sync.WaitGroup
		statuses := [2]int{}
		for i, b := range []*browser{ada, grace} {
			both.Go(func() {
				resp, _ := b.send(t, "PUT", "/admin/users/"+ids[1-i]+"/role", `{"role":"regular"}`)
				statuses[i] = resp.StatusCode
			})
		}
		both.Wait()
		// The slower one is the last admin's peer no more, or no admin any more.
		if n := admins(t, one); n != 1 || (statuses[0] == 200) == (statuses[1] == 200) {
			t.Errorf("round %d: %d admins, answers %v", round, n, statuses)
		}
	}
}

// What changes by one process holds at the next request to another.
func TestChangesHoldInOtherProcesses(t *testing.T) {
	t.Parallel()
	one, two := openTwins(t)
	ada, grace := one.browser(t), two.browser(t)
	ada.expect(t, 200, "POST", "/auth/register", account("ada"))
	grace.expect(t, 200, "POST", "/auth/register", account("grace"))
	id := one.idOf(t, "grace")
	project := created(t, ada.expect(t, 201, "POST", "/projects", `{"name":"engine","group_id":"everyone"}`))
	grace.expect(t, 200, "GET", "/projects/"+project, "")
	ada.expect(t, 200, "PUT", "/admin/users/"+id+"/groups", `{"group_ids":[]}`)
	grace.expect(t, 404, "GET", "/projects/"+project, "")
	grace.expect(t, 403, "GET", "/admin/users", "")
	ada.expect(t, 200, "PUT", "/admin/users/"+id+"/role", `{"role":"admin"}`)
	grace.expect(t, 200, "GET", "/admin/users", "")
	grace.expect(t, 200, "GET", "/projects/"+project, "")
	grace.expect(t, 200, "PUT", "/admin/users/"+one.idOf(t, "ada")+"/role", `{"role":"regular"}`)
	ada.expect(t, 403, "GET", "/admin/users", "")
}

// A logout ends one session, or all of the person, in all processes; keys go on.
func TestLogoutsHoldInOtherProcesses(t *testing.T) {
	t.Parallel()
	one, two := openTwins(t)
	phone, laptop, grace := one.browser(t), two.browser(t), one.browser(t)
	phone.expect(t, 200, "POST", "/auth/register", account("ada"))
	laptop.expect(t, 200, "POST", "/auth/login", `{"email":"ada@example.com","password":"a sentence of ada"}`)
	grace.expect(t, 200, "POST", "/auth/register", account("grace"))
	_, key, err := one.store.CreateKey(t.Context(), domain.NewAPIKey{UserID: one.idOf(t, "ada"), Name: "k", Scopes: domain.KeyScopes()})
	if err != nil {
		t.Fatal(err)
	}
	thief := two.browser(t) // has copies of the cookies
	for _, name := range []string{"token", "session"} {
		thief.set(t, name, phone.cookie(t, name))
	}
	thief.expect(t, 200, "GET", "/auth/me", "")
	phone.expect(t, 400, "POST", "/auth/logout?all=maybe", "")
	phone.expect(t, 200, "POST", "/auth/logout", "")
	thief.expect(t, 401, "GET", "/auth/me", "")
	thief.expect(t, 200, "POST", "/auth/logout?all=true", "") // by a session that has ended nothing ends
	laptop.expect(t, 200, "GET", "/auth/me", "")

	phone.expect(t, 200, "POST", "/auth/login", `{"email":"ada@example.com","password":"a sentence of ada"}`)
	phone.at(two).expect(t, 200, "POST", "/auth/logout?all=true", "")
	laptop.expect(t, 401, "GET", "/auth/me", "")
	laptop.at(one).expect(t, 401, "GET", "/auth/me", "")
	grace.expect(t, 200, "GET", "/auth/me", "")
	two.browser(t).expect(t, 200, "GET", "/auth/me", "", "Authorization: Bearer "+key)
}

// Nobody ends another's session by a token that only says to be of it.
func TestForgedTokensEndNoSessions(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	ada, mallory := h.browser(t), h.browser(t)
	ada.expect(t, 200, "POST", "/auth/register", account("ada"))
	mallory.expect(t, 200, "POST", "/auth/register", account("mallory"))
	forged := ada.cookie(t, "token")
	mallory.set(t, "token", forged[:strings.LastIndex(forged, ".")+1]+"AAAA")
	for _, path := range []string{"/auth/logout", "/auth/logout?all=true"} {
		mallory.set(t, "token", forged[:strings.LastIndex(forged, ".")+1]+"AAAA")
		mallory.set(t, "session", "guessed")
		mallory.expect(t, 200, "POST", path, "")
		ada.expect(t, 200, "GET", "/auth/me", "")
	}
}

// Fifty requests that come when the token is used up all pass, and the session goes on.
func TestRenewalsAtOnce(t *testing.T) {
	t.Parallel()
	one, two := openTwins(t)
	b := one.browser(t)
	b.expect(t, 200, "POST", "/auth/register", account("ada"))
	for round := range 3 {
		one.clock.pass(11 * time.Minute)
		var all sync.WaitGroup
		for i := range 50 {
			at := b.at([]*house{one, two}[i%2])
			all.Go(func() { at.expect(t, 200, "GET", "/auth/me", "") })
		}
		all.Wait()
		if b.cookie(t, "session") == "" || b.cookie(t, "token") == "" {
			t.Errorf("round %d lost a cookie", round)
		}
	}
	b.at(two).expect(t, 200, "GET", "/auth/me", "")
}

func TestPasswordsAreChanged(t *testing.T) {
	t.Parallel()
	one, two := openTwins(t)
	phone, laptop, grace := one.browser(t), two.browser(t), two.browser(t)
	phone.expect(t, 200, "POST", "/auth/register", account("ada"))
	laptop.expect(t, 200, "POST", "/auth/login", `{"email":"ada@example.com","password":"a sentence of ada"}`)
	change := func(current, next string) string { return fmt.Sprintf(`{"current":%q,"password":%q}`, current, next) }
	phone.expect(t, 403, "PUT", "/auth/password", change("a sentence of bob", "another sentence"))
	phone.expect(t, 400, "PUT", "/auth/password", change("a sentence of ada", "12345678"))
	laptop.expect(t, 200, "GET", "/auth/me", "")
	phone.expect(t, 200, "PUT", "/auth/password", change("a sentence of ada", "another sentence"))
	laptop.expect(t, 401, "GET", "/auth/me", "")
	phone.at(two).expect(t, 200, "GET", "/auth/me", "")
	laptop.expect(t, 401, "POST", "/auth/login", `{"email":"ada@example.com","password":"a sentence of ada"}`)
	laptop.expect(t, 200, "POST", "/auth/login", `{"email":"ada@example.com","password":"another sentence"}`)

	// By a token that is used up, the session's secret tells which one stays.
	one.clock.pass(11 * time.Minute)
	phone.expect(t, 200, "PUT", "/auth/password", change("another sentence", "a third sentence"))
	phone.expect(t, 200, "GET", "/auth/me", "")
	laptop.expect(t, 401, "GET", "/auth/me", "")

	grace.expect(t, 200, "POST", "/auth/register", account("grace"))
	grace.expect(t, 403, "PUT", "/admin/users/"+one.idOf(t, "ada")+"/password", `{"password":"mine from now on"}`)
	phone.expect(t, 200, "PUT", "/admin/users/"+one.idOf(t, "grace")+"/password", `{"password":"for the next time"}`)
	phone.expect(t, 404, "PUT", "/admin/users/nobody/password", `{"password":"for the next time"}`)
	for _, what := range []string{`password {"password":"for the next time"}`, `role {"role":"regular"}`, `groups {"group_ids":[]}`} {
		path, body, _ := strings.Cut(what, " ")
		if text := phone.expect(t, 409, "PUT", "/admin/users/owner/"+path, body); !strings.Contains(text, "owner") {
			t.Errorf("the owner's %s: %s", path, text)
		}
	}
	grace.expect(t, 401, "GET", "/auth/me", "")
	grace.expect(t, 200, "POST", "/auth/login", `{"email":"grace@example.com","password":"for the next time"}`)
	for range 11 {
		if resp, _ := grace.send(t, "PUT", "/auth/password", change("guess", "one more sentence")); resp.StatusCode == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("a password may be guessed without end")
}

// created gives the id of what was made.
func created(t *testing.T, text string) string {
	t.Helper()
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(text), &made); err != nil || made.ID == "" {
		t.Fatalf("made: %s, %v", text, err)
	}
	return made.ID
}

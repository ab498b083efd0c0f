package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// session opens a session of an agent.
func (h house) session(agent string, kind domain.SessionKind, process string) string {
	h.Helper()
	a := domain.AgentSession{ID: domain.NewSessionID(), AgentID: agent, Kind: kind, ProcessID: process, UserID: "ada", UserName: "Ada", Address: "192.0.2.1"}
	if err := h.store.OpenSession(context.Background(), a); err != nil {
		h.Fatal(err)
	}
	return a.ID
}

// A session is claimed once, by its agent, as what it is, and in time: of many at once one has it.
func TestSessionsAreClaimedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	h.exec(`insert into agents (id, project_id, hostname, token_hash) values ('a', '` + project.ID + `', 'web', 'a'), ('b', '` + project.ID + `', 'web', 'b')`)
	claim := func(agent, id string, kind domain.SessionKind, within time.Duration) error {
		_, err := h.store.ClaimSession(ctx, agent, id, kind, within)
		return err
	}
	missing := func(what string, err error) {
		t.Helper()
		if domain.CodeOf(err) != domain.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	id := h.session("a", domain.ConsoleSession, "p1")
	missing("another agent", claim("b", id, domain.ConsoleSession, time.Minute))
	missing("another kind", claim("a", id, domain.TunnelSession, time.Minute))
	missing("another id", claim("a", id+"x", domain.ConsoleSession, time.Minute))
	missing("an id that no text has", claim("a", "\x00\xff", domain.ConsoleSession, time.Minute))
	var won atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			s, err := h.store.ClaimSession(ctx, "a", id, domain.ConsoleSession, time.Minute)
			if err == nil && s.ProcessID == "p1" && s.ProjectID == project.ID && s.UserID == "ada" {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if n := won.Load(); n != 1 {
		t.Errorf("%d of 20 have it", n)
	}
	late := h.session("a", domain.TunnelSession, "p1")
	h.exec(`update agent_sessions set created_at = now() - interval '15 seconds' where id = '` + late + `'`)
	missing("too late", claim("a", late, domain.TunnelSession, 15*time.Second))
	if err := h.store.CloseSession(ctx, id); err != nil {
		t.Fatal(err)
	}
	if stands, err := h.store.SessionStands(ctx, id); err != nil || stands {
		t.Errorf("it stands: %v, %v", stands, err)
	}
	missing("closed", claim("a", id, domain.ConsoleSession, time.Minute))
	missing("of no agent", h.store.OpenSession(ctx, domain.AgentSession{ID: "x", AgentID: "none", Kind: domain.ConsoleSession}))
	gone := h.session("b", domain.ConsoleSession, "p1")
	h.exec(`delete from agents where id = 'b'`)
	if stands, err := h.store.SessionStands(ctx, gone); err != nil || stands {
		t.Errorf("that of a removed agent stands: %v, %v", stands, err)
	}
}

// The process that has an agent is found with what its peers need, as long as both are alive.
func TestAgentHome(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	h.exec(`insert into agents (id, project_id, hostname, token_hash) values ('a', '` + project.ID + `', 'web', 'a')`)
	me := domain.Process{ID: "p1", Kind: "serve", Host: "h", Peer: domain.Peer{Address: "192.0.2.1:7070", Token: "t", Fingerprint: "f"}}
	if err := h.store.RegisterProcess(ctx, me, func([]domain.Process) error { return nil }); err != nil {
		t.Fatal(err)
	}
	away := func(what string) {
		t.Helper()
		if _, err := h.store.AgentHome(ctx, "a"); domain.CodeOf(err) != domain.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	away("not connected")
	h.exec(`insert into agent_connections (agent_id, id, process_id) values ('a', 'k', 'p1')`)
	if p, err := h.store.AgentHome(ctx, "a"); err != nil || p.ID != "p1" || p.Peer != me.Peer {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := h.store.Process(ctx, "p1"); err != nil || p.Peer != me.Peer {
		t.Errorf("%+v, %v", p, err)
	}
	h.exec(`update agent_connections set seen_at = now() - interval '46 seconds'`)
	away("a dead connection")
	h.exec(`update agent_connections set seen_at = now()`)
	h.exec(`update processes set seen_at = now() - interval '31 seconds'`)
	away("a dead process")
	if _, err := h.store.Process(ctx, "p1"); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("a dead process: %v", err)
	}
	if pid, host, err := h.store.AgentPlace(ctx, "a"); err != nil || pid != project.ID || host != "web" {
		t.Errorf("%s %s, %v", pid, host, err)
	}
	if _, _, err := h.store.AgentPlace(ctx, "none"); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("no agent: %v", err)
	}
}

// What processes leave behind that died is found once, with who had opened it.
func TestLostSessions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	h.exec(`insert into agents (id, project_id, hostname, token_hash) values ('a', '` + project.ID + `', 'web', 'a')`)
	h.exec(`insert into processes (id, kind, host, pid, active_key, keys) values ('alive', 'serve', 'h', 1, '', '{}')`)
	h.exec(`insert into processes (id, kind, host, pid, active_key, keys, seen_at) values ('dead', 'serve', 'h', 1, '', '{}', now() - interval '2 minutes')`)
	kept, lost, fresh := h.session("a", domain.ConsoleSession, "alive"), h.session("a", domain.ConsoleSession, "dead"), h.session("a", domain.ConsoleSession, "dead")
	h.exec(`update agent_sessions set created_at = now() - interval '1 hour' where id in ('` + kept + `', '` + lost + `')`)
	found, err := h.store.DropLostSessions(ctx)
	if err != nil || len(found) != 1 || found[0].ID != lost || found[0].UserName != "Ada" || found[0].Address != "192.0.2.1" {
		t.Errorf("lost are %+v, %v", found, err)
	}
	if again, err := h.store.DropLostSessions(ctx); err != nil || len(again) != 0 {
		t.Errorf("lost again: %+v, %v", again, err)
	}
	for _, id := range []string{kept, fresh} {
		if stands, err := h.store.SessionStands(ctx, id); err != nil || !stands {
			t.Errorf("%s: %v, %v", id, stands, err)
		}
	}
}

func TestPortForwards(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, mine, _ := shared(t, h.store)
	_, other, _ := shared(t, h.store)
	h.exec(`insert into agents (id, project_id, hostname, token_hash) values ('a', '` + mine.ID + `', 'web', 'a'), ('a2', '` + mine.ID + `', 'db', 'a2'), ('b', '` + other.ID + `', 'web', 'b')`)
	add := func(project, agent, name string, port int) (domain.PortForward, error) {
		return h.store.CreatePortForward(ctx, domain.PortForward{ProjectID: project, AgentID: agent, Port: port, RouteName: name}, domain.Author{UserID: "ada"})
	}
	web, err := add(mine.ID, "a", "web", 3000)
	if err != nil || web.URL != "/agents/a/web/" || web.Hostname != "web" || web.CreatedAt.IsZero() {
		t.Fatalf("%+v, %v", web, err)
	}
	for _, c := range []struct {
		project, agent, name string
		port                 int
		code                 domain.Code
	}{
		{mine.ID, "a", "web", 1, domain.CodeConflict}, {mine.ID, "a", "Web", 1, domain.CodeInvalid}, {mine.ID, "a", "install.sh", 1, domain.CodeInvalid},
		{mine.ID, "a", "x", 0, domain.CodeInvalid}, {mine.ID, "a", "x", 65536, domain.CodeInvalid},
		{mine.ID, "b", "x", 1, domain.CodeNotFound}, {mine.ID, "none", "x", 1, domain.CodeNotFound}, {other.ID, "a", "x", 1, domain.CodeNotFound},
	} {
		if _, err := add(c.project, c.agent, c.name, c.port); domain.CodeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := add(mine.ID, "a2", "web", 1); err != nil {
		t.Errorf("the same name on another machine: %v", err)
	}
	api, err := add(mine.ID, "a", "api", 65535)
	if err != nil {
		t.Fatal(err)
	}
	list, err := h.store.PortForwards(ctx, mine.ID, "a")
	if err != nil || len(list) != 2 || list[0].ID != api.ID || list[1].ID != web.ID {
		t.Errorf("%+v, %v", list, err)
	}
	if f, err := h.store.Forwarded(ctx, "a", "web"); err != nil || f.ID != web.ID || f.Port != 3000 {
		t.Errorf("%+v, %v", f, err)
	}
	port, name, taken := 3001, "site", "api"
	at := func(project, agent, id string) domain.PortForward {
		return domain.PortForward{ProjectID: project, AgentID: agent, ID: id}
	}
	if f, err := h.store.UpdatePortForward(ctx, at(mine.ID, "a", web.ID), domain.PortForwardChange{Port: &port}); err != nil || f.Port != port || f.RouteName != "web" {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := h.store.UpdatePortForward(ctx, at(mine.ID, "a", web.ID), domain.PortForwardChange{RouteName: &name}); err != nil || f.Port != port || f.URL != "/agents/a/site/" {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := h.store.UpdatePortForward(ctx, at(mine.ID, "a", web.ID), domain.PortForwardChange{RouteName: &taken}); domain.CodeOf(err) != domain.CodeConflict {
		t.Errorf("a name that is taken: %v", err)
	}
	for _, wrong := range []domain.PortForward{at(other.ID, "a", web.ID), at(mine.ID, "b", web.ID), at(mine.ID, "a2", web.ID), at(other.ID, "b", web.ID), at(mine.ID, "a", "none")} {
		_, changing := h.store.UpdatePortForward(ctx, wrong, domain.PortForwardChange{Port: &port})
		_, reading := h.store.PortForward(ctx, wrong.ProjectID, wrong.AgentID, wrong.ID)
		deleting := h.store.DeletePortForward(ctx, wrong.ProjectID, wrong.AgentID, wrong.ID)
		for what, err := range map[string]error{"change": changing, "read": reading, "delete": deleting} {
			var known *domain.Error
			if !errors.As(err, &known) || known.Code != domain.CodeNotFound || known.Hidden == (wrong.ID == "none") {
				t.Errorf("%s %+v: %v", what, wrong, err)
			}
		}
	}
	if err := h.store.DeletePortForward(ctx, mine.ID, "a", web.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.Forwarded(ctx, "a", "site"); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("it is gone: %v", err)
	}
}

// A ticket becomes a visit once, of its own port forward, which ends with the person's session.
func TestForwardVisits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	ada, project, _ := shared(t, h.store)
	h.exec(`insert into agents (id, project_id, hostname, token_hash) values ('a', '` + project.ID + `', 'web', 'a')`)
	h.exec(`insert into port_forwards (id, agent_id, port, route_name, created_by) values ('f1', 'a', 80, 'one', 'ada'), ('f2', 'a', 81, 'two', 'ada')`)
	secret := []byte("hash of the session")
	session, err := h.store.CreateSession(ctx, ada.ID, secret, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if domain.CodeOf(err) != domain.CodeUnauthorized {
			t.Errorf("%s: %v", what, err)
		}
	}
	ticket := func(name string, life time.Duration) []byte {
		t.Helper()
		if err := h.store.NewForwardTicket(ctx, []byte(name), "f1", ada.ID, secret, life); err != nil {
			t.Fatal(err)
		}
		return []byte(name)
	}
	refused("no session", h.store.NewForwardTicket(ctx, []byte("t0"), "f1", ada.ID, []byte("other"), time.Minute))
	refused("another's session", h.store.NewForwardTicket(ctx, []byte("t0"), "f1", "eve", secret, time.Minute))
	refused("an old ticket", h.store.TakeForwardTicket(ctx, "f1", ticket("old", -time.Second), []byte("v0"), time.Hour))
	one := ticket("one", time.Minute)
	_, _, err = h.store.ForwardVisit(ctx, "f1", one)
	refused("a ticket as a visit", err)
	refused("another forward's ticket", h.store.TakeForwardTicket(ctx, "f2", one, []byte("v0"), time.Hour))
	if err := h.store.TakeForwardTicket(ctx, "f1", one, []byte("visit"), time.Hour); err != nil {
		t.Fatal(err)
	}
	refused("a ticket again", h.store.TakeForwardTicket(ctx, "f1", one, []byte("v2"), time.Hour))
	refused("a visit as a ticket", h.store.TakeForwardTicket(ctx, "f1", []byte("visit"), []byte("v2"), time.Hour))
	f, who, err := h.store.ForwardVisit(ctx, "f1", []byte("visit"))
	if err != nil || f.ID != "f1" || f.Port != 80 || f.ProjectID != project.ID || who.UserID != ada.ID || who.Name != ada.Name {
		t.Errorf("%+v of %+v, %v", f, who, err)
	}
	_, _, err = h.store.ForwardVisit(ctx, "f2", []byte("visit"))
	refused("another forward", err)
	_, _, err = h.store.ForwardVisit(ctx, "f1", nil)
	refused("no cookie", err)
	if err := h.store.TakeForwardTicket(ctx, "f1", ticket("short", time.Minute), []byte("over"), -time.Second); err != nil {
		t.Fatal(err)
	}
	_, _, err = h.store.ForwardVisit(ctx, "f1", []byte("over"))
	refused("a visit whose time is up", err)
	if err := h.store.NewForwardTicket(ctx, []byte("owner's"), "f1", domain.OwnerID, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := h.store.TakeForwardTicket(ctx, "f1", []byte("owner's"), []byte("owner"), time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, who, err := h.store.ForwardVisit(ctx, "f1", []byte("owner")); err != nil || who.UserID != domain.OwnerID || !who.Admin() {
		t.Errorf("the owner visits as %+v, %v", who, err)
	}
	refused("a person without a session", h.store.NewForwardTicket(ctx, []byte("t0"), "f1", ada.ID, nil, time.Minute))
	if err := h.store.EndSession(ctx, session, nil); err != nil {
		t.Fatal(err)
	}
	_, _, err = h.store.ForwardVisit(ctx, "f1", []byte("visit"))
	refused("after the logout", err)
}

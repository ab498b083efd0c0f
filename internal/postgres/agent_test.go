package postgres_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// token makes an install token, and gives its hash.
func (h house) token(t domain.InstallToken) []byte {
	h.Helper()
	t.ID = domain.NewID()
	t.Hash = []byte("hash of " + t.ID)
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = time.Now().Add(time.Hour)
	}
	if err := h.store.AddInstallToken(context.Background(), t); err != nil {
		h.Fatal(err)
	}
	return t.Hash
}

func hello(machine string) domain.AgentHello {
	return domain.AgentHello{Hostname: "web", Machine: machine, Version: "1", Capabilities: whole}
}

// A machine that joins again is the same agent with a new token, and is no use of the install
// token; every other machine, and every plain agent, is one.
func TestJoining(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	two := 2
	install := h.token(domain.InstallToken{ProjectID: project.ID, UsesLeft: &two})
	join := func(token, machine string, want domain.Code) domain.Agent {
		t.Helper()
		a, err := h.store.JoinAgent(ctx, install, []byte(token), hello(machine))
		wantCode(t, "join "+machine, err, want)
		return a
	}
	first := join("t1", "m1", "")
	again := join("t2", "m1", "")
	if again.ID != first.ID || first.ProjectID != project.ID || !first.Can("ack") || first.Provider != "" {
		t.Errorf("joined as %+v, then as %+v", first, again)
	}
	_, err := h.store.AgentByToken(ctx, []byte("t1"))
	wantCode(t, "the token of before", err, domain.CodeUnauthorized)
	if got, err := h.store.AgentByToken(ctx, []byte("t2")); err != nil || got.ID != first.ID {
		t.Errorf("by the new token %+v, %v", got, err)
	}
	plain := join("t3", "", "")
	if plain.ID == first.ID {
		t.Error("a plain agent is taken for another")
	}
	join("t4", "m2", domain.CodeUnauthorized)
	join("t5", "", domain.CodeUnauthorized)
	if join("t6", "m1", "").ID != first.ID {
		t.Error("a known machine is refused for a token that is used up")
	}
	if list, err := h.store.Agents(ctx, project.ID); err != nil || len(list) != 2 || list[0].ID != first.ID {
		t.Errorf("agents %+v, %v", list, err)
	}
	_, elsewhere, _ := shared(t, h.store)
	if list, err := h.store.Agents(ctx, elsewhere.ID); err != nil || len(list) != 0 {
		t.Errorf("agents of another project %+v, %v", list, err)
	}
	one := 1
	another := h.token(domain.InstallToken{ProjectID: elsewhere.ID, UsesLeft: &one})
	if _, err := h.store.JoinAgent(ctx, another, []byte("e1"), hello("m9")); err != nil {
		t.Fatal(err)
	}
	_, err = h.store.JoinAgent(ctx, another, []byte("e2"), hello("m1"))
	wantCode(t, "a machine of another project, by a token that is used up", err, domain.CodeUnauthorized)

	for name, refused := range map[string][]byte{
		"unknown": []byte("none"), "expired": h.token(domain.InstallToken{ProjectID: project.ID, ExpiresAt: time.Now().Add(-time.Second)}),
	} {
		_, err := h.store.JoinAgent(ctx, refused, []byte(name), hello("m3"))
		wantCode(t, name, err, domain.CodeUnauthorized)
	}
	if err := h.store.RevokeInstallTokens(ctx, project.ID); err != nil {
		t.Fatal(err)
	}
	join("t7", "m1", domain.CodeUnauthorized)
	if _, err := h.store.JoinAgent(ctx, another, []byte("e3"), hello("m9")); err != nil {
		t.Errorf("by the token of another project: %v", err)
	}
	wantCode(t, "a token of no project", h.store.AddInstallToken(ctx, domain.InstallToken{ID: "x", ProjectID: "none", Hash: []byte("x"), ExpiresAt: time.Now()}), domain.CodeNotFound)
}

func TestJoiningFromAContainer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	install := h.token(domain.InstallToken{ProjectID: project.ID, Instance: "web-1", Description: "the web server"})
	a, err := h.store.JoinAgent(context.Background(), install, []byte("t"), hello("m1"))
	if err != nil || a.Provider != domain.ProviderLXD || a.Instance != "web-1" || a.Description != "the web server" {
		t.Errorf("joined as %+v, %v", a, err)
	}
	// Installed again by hand it stays what it is.
	a, err = h.store.JoinAgent(context.Background(), h.token(domain.InstallToken{ProjectID: project.ID}), []byte("t2"), hello("m1"))
	if err != nil || a.Provider != domain.ProviderLXD || a.Instance != "web-1" || a.Description != "the web server" {
		t.Errorf("joined again as %+v, %v", a, err)
	}
}

// However many join at once with a token, no more agents are made than it may be used for, and
// one of each machine.
func TestManyJoinAtOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	_, project, _ := shared(t, h.store)
	three := 3
	install := h.token(domain.InstallToken{ProjectID: project.ID, UsesLeft: &three})
	var group errgroup.Group
	for i := range 24 {
		group.Go(func() error {
			_, err := h.store.JoinAgent(ctx, install, []byte(domain.NewID()), hello(string(rune('a'+i%6))))
			if domain.CodeOf(err) == domain.CodeUnauthorized {
				err = nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := h.count("agents"); n != 3 {
		t.Errorf("%d agents joined", n)
	}
	if n := h.count("install_tokens where uses_left = 0"); n != 1 {
		t.Error("the uses were not counted")
	}
}

func TestATokenBelongsToItsMachine(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project, m := newMachine(t)
	connect := func(agentID, machine string) error {
		return h.store.ConnectAgent(ctx, domain.AgentConnection{ID: domain.NewID(), AgentID: agentID, ProcessID: "p", AgentHello: hello(machine)})
	}
	err := connect(m.ID, "m2")
	if domain.CodeOf(err) != domain.CodeUnauthorized || !strings.Contains(err.Error(), "each machine must be installed by itself") {
		t.Errorf("another machine: %v", err)
	}
	if err := connect(m.ID, "m1"); err != nil {
		t.Error(err)
	}
	if err := connect(m.ID, ""); err != nil {
		t.Errorf("a plain agent with the token: %v", err)
	}
	wantCode(t, "an agent that is gone", connect("none", ""), domain.CodeUnauthorized)

	// A plain agent that becomes ours is its machine's from then on, unless that has an agent.
	plain := h.join(project, "")
	if err := connect(plain.ID, "m3"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "then another machine", connect(plain.ID, "m4"), domain.CodeUnauthorized)
	twin := h.join(project, "")
	if err := connect(twin.ID, "m1"); err != nil {
		t.Errorf("a machine that has an agent already: %v", err)
	}
	if a, err := h.store.Agent(ctx, project.ID, twin.ID); err != nil || a.Machine != "" {
		t.Errorf("agent %+v, %v", a, err)
	}
}

// A machine that was restored on other hardware takes the place of the one that it was, and
// nothing that was sent to that.
func TestAMachineTakesThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project, m := newMachine(t)
	connect := func(machine string) (string, error) {
		id := domain.NewID()
		return id, h.store.ConnectAgent(ctx, domain.AgentConnection{ID: id, AgentID: m.ID, ProcessID: "p", AgentHello: hello(machine)})
	}
	deliver := func(connection string) []domain.CommandDelivery {
		list, err := h.store.DeliverCommands(ctx, m.ID, connection, time.Minute, 10)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	first, err := connect("m1")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"sent", "waits"} {
		if _, err := h.store.CreateCommand(ctx, domain.CommandOrder{ID: id, ProjectID: project.ID, AgentID: m.ID, Command: "x", Timeout: time.Minute, Wait: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if id == "sent" && len(deliver(first)) != 1 {
			t.Fatal("nothing was sent")
		}
	}
	h.exec(`update agents set last_seen = now() - interval '11 minutes'`)
	_, err = connect("m2")
	wantCode(t, "while its stream is open", err, domain.CodeUnauthorized)
	h.exec(`update agent_connections set seen_at = now() - interval '11 minutes', pinged_at = now() - interval '9 minutes'`)
	_, err = connect("m2")
	wantCode(t, "a while after it was heard", err, domain.CodeUnauthorized)
	h.exec(`update agent_connections set pinged_at = now() - interval '11 minutes'`)
	second, err := connect("m2")
	if err != nil {
		t.Fatal(err)
	}
	if list := deliver(second); len(list) != 1 || list[0].ID != "waits" || list[0].Again {
		t.Errorf("sent are %+v", list)
	}
	if a, err := h.store.Agent(ctx, project.ID, m.ID); err != nil || a.Machine != "m2" {
		t.Errorf("agent %+v, %v", a, err)
	}
	_, err = connect("m1")
	wantCode(t, "the first, when it comes back", err, domain.CodeUnauthorized)
}

func TestOnline(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, project, m := newMachine(t)
	online := func(want bool, when string) domain.Agent {
		t.Helper()
		a, err := h.store.Agent(ctx, project.ID, m.ID)
		if err != nil || a.Online != want {
			t.Errorf("%s: %+v, %v", when, a, err)
		}
		return a
	}
	online(false, "with a connection of a process that nobody knows")
	if err := h.store.SeeProcess(ctx, domain.Process{ID: "p", Kind: "serve"}); err != nil {
		t.Fatal(err)
	}
	online(true, "with a connection")
	h.exec(`update processes set seen_at = now() - interval '31 seconds'`)
	online(false, "with a connection of a process that has died")
	if err := h.store.SeeProcess(ctx, domain.Process{ID: "p", Kind: "serve"}); err != nil {
		t.Fatal(err)
	}
	online(true, "of one that lives again")
	h.exec(`update agent_connections set seen_at = now() - interval '46 seconds', pinged_at = now() - interval '50 seconds'`)
	online(false, "with a connection that nobody keeps")
	if pulses, err := h.store.AgentPulses(ctx, "other"); err != nil || len(pulses) != 0 {
		t.Errorf("pulses of another process %+v, %v", pulses, err)
	}
	pulses, err := h.store.AgentPulses(ctx, "p")
	if err != nil || len(pulses) != 1 || pulses[0].ConnectionID != m.connection || pulses[0].Quiet < 50*time.Second || pulses[0].Due {
		t.Errorf("pulses %+v, %v", pulses, err)
	}
	online(true, "kept again")
	if err := h.store.SeeAgent(ctx, m.ID); err != nil {
		t.Fatal(err)
	}
	m.order()
	if pulses, err := h.store.AgentPulses(ctx, "p"); err != nil || pulses[0].Quiet > 40*time.Second || !pulses[0].Due {
		t.Errorf("after a ping and an order %+v, %v", pulses, err)
	}
	m.deliver()
	if pulses, err := h.store.AgentPulses(ctx, "p"); err != nil || pulses[0].Due {
		t.Errorf("after the delivery %+v, %v", pulses, err)
	}
	older := m.connection
	m.connect("")
	if err := h.store.DisconnectAgent(ctx, m.ID, older); err != nil {
		t.Fatal(err)
	}
	online(true, "after the end of a connection that was taken over")
	if pulses, err := h.store.AgentPulses(ctx, "p"); err != nil || pulses[0].ConnectionID == older {
		t.Errorf("after a takeover %+v, %v", pulses, err)
	}
	if err := h.store.DisconnectAgent(ctx, m.ID, m.connection); err != nil {
		t.Fatal(err)
	}
	seen := online(false, "disconnected").LastSeen
	h.exec(`update agents set last_seen = last_seen - interval '1 hour'`)
	if err := h.store.SeeAgent(ctx, m.ID); err != nil {
		t.Fatal(err)
	}
	if now := online(false, "heard without a connection").LastSeen; now.Before(*seen) {
		t.Errorf("last seen %s, then %s", seen, now)
	}
	_, err = h.store.Agent(ctx, "elsewhere", m.ID)
	wantCode(t, "another project's agent", err, domain.CodeNotFound)
}

// An agent comes back while the server still learns that it has gone.
func TestComeBackWhileLeaving(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h, _, m := newMachine(t)
	for range 200 {
		leaving := m.connect("")
		var group errgroup.Group
		group.Go(func() error { return h.store.DisconnectAgent(ctx, m.ID, leaving) })
		group.Go(func() error { return h.store.SeeAgent(ctx, m.ID) })
		group.Go(func() error {
			return h.store.ConnectAgent(ctx, domain.AgentConnection{ID: domain.NewID(), AgentID: m.ID, ProcessID: "p", AgentHello: m.hello})
		})
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

// A hint reaches who serves agents, here and in other processes.
func TestHints(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	pool := testkit.Postgres(t)
	here, there := postgres.NewStore(pool), postgres.NewStore(pool)
	h := house{t, pool, here}
	_, project, _ := shared(t, here)
	m := h.join(project, "m1", whole...)
	hints := map[*postgres.Store]chan string{}
	for _, s := range []*postgres.Store{here, there} {
		heard := make(chan string, 100)
		hints[s] = heard
		s.OnAgent(func(id string) { heard <- id })
		go func() { _ = s.Serve(ctx) }()
	}
	heard := func(s *postgres.Store) {
		t.Helper()
		select {
		case id := <-hints[s]:
			if id != m.ID {
				t.Errorf("hint at %q", id)
			}
		case <-ctx.Done():
			t.Fatal("no hint came")
		}
	}
	// Until the other listens, hints are lost.
	for listening := false; !listening; {
		m.order()
		heard(here)
		select {
		case <-hints[there]:
			listening = true
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("no hint came")
		}
	}
	for len(hints[there]) > 0 {
		<-hints[there]
	}
	m.deliver()
	c := m.sent()
	heard(here)
	heard(there)
	if _, err := here.CancelCommand(ctx, project.ID, c.ID, "Ada"); err != nil {
		t.Fatal(err)
	}
	heard(here)
	heard(there)
	m.connect("")
	heard(here)
	heard(there)
	if _, err := here.CreateCommand(ctx, domain.CommandOrder{ID: "p", ProjectID: project.ID, AgentID: m.ID, Command: "x", Timeout: time.Minute, Wait: time.Minute, Pending: true}); err != nil {
		t.Fatal(err)
	}
	if len(hints[here]) != 0 {
		t.Error("a command that waits for approval is hinted at")
	}
	if _, err := here.ReleaseCommand(ctx, "p"); err != nil {
		t.Fatal(err)
	}
	heard(here)
	heard(there)
}

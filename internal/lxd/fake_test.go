package lxd_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/internal/lxd/lxdtest"
)

// joined gives a fake that trusts the client that comes with it.
func joined(t *testing.T) (*lxdtest.Server, *lxd.Client) {
	t.Helper()
	fake := lxdtest.New(t)
	identity, err := lxd.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	client, err := lxd.NewClient(lxd.ClientConfig{
		Endpoint: fake.Endpoint, Certificate: identity.Certificate, Key: identity.Key, Trust: lxd.Trust{Insecure: true}, Limit: 500 * time.Millisecond,
	})
	if err == nil {
		err = client.CreateCertificate(t.Context(), "harvest", fake.Token())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return fake, client
}

// openedTo runs a door to a fake until the test ends, and gives it once it is open.
func openedTo(t *testing.T, fake *lxdtest.Server) *lxd.Door {
	t.Helper()
	door := opened(t, lxd.Config{Endpoint: fake.Endpoint, TrustToken: fake.Token()})
	eventually(t, "joined", door.Open)
	return door
}

func TestErrorsCarryWhatLXDSays(t *testing.T) {
	t.Parallel()
	fake, client := joined(t)
	for _, c := range []struct {
		fault lxdtest.Fault
		code  domain.Code
		text  string
	}{
		{lxdtest.Fault{Status: 500, Text: "disk on fire"}, domain.CodeUpstream, "LXD could not find the container web: disk on fire (500)"},
		{lxdtest.Fault{Status: 403, Text: "not authorized"}, domain.CodeUpstream, "not authorized (403)"},
		{lxdtest.Fault{Status: 503, Text: "it starts"}, domain.CodeUnavailable, "it starts (503)"},
		{lxdtest.Fault{}, domain.CodeNotFound, "Instance not found (404)"},
		{lxdtest.Fault{Drops: true}, domain.CodeUnavailable, "LXD could not find the container web: "},
		{lxdtest.Fault{Blocks: true}, domain.CodeUnavailable, "it did not answer in time"},
	} {
		fake.Set(lxdtest.Look, c.fault)
		_, err := client.GetInstance(t.Context(), "web")
		if domain.CodeOf(err) != c.code || !strings.Contains(domain.PublicMessage(err), c.text) {
			t.Errorf("%+v gives %s %v", c.fault, domain.CodeOf(err), err)
		}
	}
	fake.Clear(lxdtest.Look)
	ended, stop := context.WithCancelCause(t.Context())
	stop(errors.New("nobody waits"))
	if _, err := client.GetInstance(ended, "web"); err == nil || !strings.Contains(err.Error(), "nobody waits") {
		t.Errorf("a call that nobody waits for: %v", err)
	}
}

// An operation that nobody waits for any more is stopped; one that fails tells why.
func TestOperationsEnd(t *testing.T) {
	t.Parallel()
	fake, client := joined(t)
	fake.Set(lxdtest.Create, lxdtest.Fault{Hangs: true})
	op, err := client.CreateInstance(t.Context(), lxd.NewInstance{Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	short, stop := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, domain.Errorf(domain.CodeUpstream, "it took too long"))
	defer stop()
	if _, err := op.Wait(short); domain.PublicMessage(err) != "it took too long" {
		t.Errorf("an operation that hangs: %v", err)
	}
	if left := fake.Containers(); len(left) != 0 {
		t.Errorf("it was not canceled: %+v", left)
	}
	if err := op.Cancel(t.Context()); err == nil {
		t.Error("an operation that has ended was canceled")
	}
	fake.Set(lxdtest.Create, lxdtest.Fault{Fails: true, Text: "no such image"})
	op, err = client.CreateInstance(t.Context(), lxd.NewInstance{Name: "web"})
	if err == nil {
		_, err = op.Wait(t.Context())
	}
	if domain.CodeOf(err) != domain.CodeUpstream || domain.PublicMessage(err) != "LXD could not create the container web: no such image (400)" {
		t.Errorf("an operation that fails: %v", err)
	}
	if _, err := client.GetOperation("lost").Wait(t.Context()); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("an operation that the server lost: %v", err)
	}
}

// Whoever needs the server has it looked for at once, however long the next attempt would be away,
// and hears what that comes to.
func TestDoorIsAskedFor(t *testing.T) {
	t.Parallel()
	fake := lxdtest.New(t)
	fake.Set(lxdtest.Join, lxdtest.Fault{Status: 500, Text: "the database is locked"})
	door := opened(t, lxd.Config{Endpoint: fake.Endpoint, TrustToken: fake.Token(), Pause: time.Hour})
	stays(t, door, "the database is locked")
	fake.Set(lxdtest.Join, lxdtest.Fault{Status: 500, Text: "the disk is full"})
	eventually(t, "another reason", func() bool {
		return strings.Contains(domain.PublicMessage(door.Reach(t.Context())), "the disk is full")
	})
	fake.Clear(lxdtest.Join)
	eventually(t, "joined after all", func() bool { return door.Reach(t.Context()) == nil })
	gone, stop := context.WithCancel(t.Context())
	stop()
	if err := door.Reach(gone); err != nil {
		t.Errorf("an open door waits for nobody: %v", err)
	}
}

// A container that somebody else changes at the same moment is removed all the same.
func TestABusyContainerIsRemoved(t *testing.T) {
	t.Parallel()
	fake := lxdtest.New(t)
	door := openedTo(t, fake)
	fake.Put(lxdtest.Container{Name: "web", Status: "Stopped", Config: map[string]string{"user.harvest.installation": door.Installation()}})
	fake.Set(lxdtest.Delete, lxdtest.Fault{Status: 400, Text: `Failed to create instance delete operation: Instance is busy running a "stop" operation`})
	removed := make(chan error, 1)
	go func() {
		removed <- lxd.NewContainers(door, lxd.Image{Alias: "tiny"}).Remove(context.Background(), "web")
	}()
	fake.Await(t, lxdtest.Delete, 2)
	fake.Clear(lxdtest.Delete)
	if err := <-removed; err != nil || len(fake.Containers()) != 0 {
		t.Errorf("removed: %v; left are %+v", err, fake.Containers())
	}
	fake.Put(lxdtest.Container{Name: "kept", Status: "Stopped", Config: map[string]string{"user.harvest.installation": door.Installation()}})
	fake.Set(lxdtest.Delete, lxdtest.Fault{Status: 400, Text: "Container is protected"})
	before := fake.Asked(lxdtest.Delete)
	if err := lxd.NewContainers(door, lxd.Image{Alias: "tiny"}).Remove(t.Context(), "kept"); domain.CodeOf(err) != domain.CodeUpstream || fake.Asked(lxdtest.Delete) != before+1 {
		t.Errorf("one that LXD does not let go: %v", err)
	}
}

// A container that runs is waited for until it has an address, and not for ever.
func TestAnAddressIsWaitedFor(t *testing.T) {
	t.Parallel()
	fake := lxdtest.New(t)
	door := openedTo(t, fake)
	c := lxd.NewContainers(door, lxd.Image{Alias: "tiny"})
	fake.Put(lxdtest.Container{Name: "web", Status: "Running", Config: map[string]string{"user.harvest.installation": door.Installation()}})
	fake.Set(lxdtest.State, lxdtest.Fault{Mute: true})
	over := make(chan error, 1)
	go func() { over <- c.AwaitRunning(context.Background(), "web") }()
	fake.Await(t, lxdtest.State, 3)
	select {
	case err := <-over:
		t.Errorf("without an address it is over: %v", err)
	default:
	}
	fake.Clear(lxdtest.State)
	if err := <-over; err != nil {
		t.Errorf("with an address: %v", err)
	}
	fake.Set(lxdtest.State, lxdtest.Fault{Mute: true})
	c.SetPatience(time.Second)
	if err := c.AwaitRunning(t.Context(), "web"); err != nil {
		t.Errorf("one that gets no address: %v", err)
	}
}

// An attempt to make a container that comes to itself when another one has long gone on leaves
// what that has made, and what goes on there, alone.
func TestALateAttemptLeavesWhatRuns(t *testing.T) {
	t.Parallel()
	fake := lxdtest.New(t)
	door := openedTo(t, fake)
	c := lxd.NewContainers(door, lxd.Image{Alias: "tiny", Profile: "default"})
	order := domain.ContainerOrder{Container: domain.Container{Name: "web", ProjectID: "p", Provision: "v"}, Flavor: domain.Flavors()[0]}
	if err := c.Create(t.Context(), order, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), order, nil); err != nil {
		t.Errorf("one that was not started is made anew: %v", err)
	}
	if err := c.Start(t.Context(), "web"); err != nil {
		t.Fatal(err)
	}
	asked := fake.Asked(lxdtest.Delete)
	if err := c.Create(t.Context(), order, nil); domain.CodeOf(err) != domain.CodeSuperseded {
		t.Errorf("one that runs: %v", err)
	}
	if left := fake.Containers(); len(left) != 1 || left[0].Status != "Running" || fake.Asked(lxdtest.Stop) != 0 || fake.Asked(lxdtest.Delete) != asked {
		t.Errorf("left are %+v", left)
	}
}

// A container that is protected from being deleted is not even stopped.
func TestAProtectedContainerGoesOn(t *testing.T) {
	t.Parallel()
	fake := lxdtest.New(t)
	door := openedTo(t, fake)
	fake.Put(lxdtest.Container{Name: "web", Status: "Running", Config: map[string]string{
		"user.harvest.installation": door.Installation(), "security.protection.delete": "true",
	}})
	err := lxd.NewContainers(door, lxd.Image{Alias: "tiny"}).Remove(t.Context(), "web")
	if domain.CodeOf(err) != domain.CodeUpstream || !strings.Contains(err.Error(), "security.protection.delete false") {
		t.Errorf("it is refused with %v", err)
	}
	if left := fake.Containers(); len(left) != 1 || left[0].Status != "Running" {
		t.Errorf("left are %+v", left)
	}
}

// A server that refuses for a while, or is not there, is joined when it can be.
func TestDoorTriesAgain(t *testing.T) {
	t.Parallel()
	fake := lxdtest.New(t)
	fake.Set(lxdtest.Join, lxdtest.Fault{Status: 500, Text: "the database is locked"})
	door := opened(t, lxd.Config{Endpoint: fake.Endpoint, TrustToken: fake.Token()})
	stays(t, door, "the database is locked")
	if _, err := door.Server(); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("no server: %v", err)
	}
	fake.Clear(lxdtest.Join)
	eventually(t, "joined after all", door.Open)
	late := opened(t, lxd.Config{Endpoint: fake.Endpoint, Insecure: true})
	stays(t, late, "POST /admin/lxd/token")
	if err := late.Join(t.Context(), "abc"); domain.CodeOf(err) != domain.CodeInvalid {
		t.Errorf("no token: %v", err)
	}
	if err := late.Join(t.Context(), fake.Token()); err != nil || !late.Open() {
		t.Errorf("joined while it runs: %v", err)
	}
	nowhere := opened(t, lxd.Config{Endpoint: "https://127.0.0.1:1", TrustToken: fake.Token()})
	stays(t, nowhere, "LXD can't be used: there is no answer at https://127.0.0.1:1: dial tcp 127.0.0.1:1")
	stays(t, opened(t, lxd.Config{Endpoint: fake.Endpoint, ClientCert: "x", ClientKey: "y"}), "[lxd] client_cert and client_key are not a certificate")
}

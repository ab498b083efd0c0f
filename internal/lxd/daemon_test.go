package lxd_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// memory is a Store of one process.
type memory struct {
	mu       sync.Mutex
	identity domain.LXDIdentity
	pins     map[string]string
	made     int
}

func (m *memory) LXDIdentity(_ context.Context, make func() (domain.LXDIdentity, error)) (domain.LXDIdentity, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.identity.Key != "" {
		return m.identity, nil
	}
	m.made++
	var err error
	m.identity, err = make()
	return m.identity, err
}

func (m *memory) LXDPin(_ context.Context, endpoint string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pins[endpoint], nil
}

func (m *memory) PinLXD(_ context.Context, endpoint, fingerprint string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pins == nil {
		m.pins = map[string]string{}
	}
	m.pins[endpoint] = fingerprint
	return nil
}

// opened runs a door until the test ends.
func opened(t *testing.T, c lxd.Config) *lxd.Door {
	t.Helper()
	if c.Store == nil {
		c.Store = &memory{}
	}
	c.Log = zerolog.New(io.Discard)
	if c.Pause == 0 {
		c.Pause = 20 * time.Millisecond
	}
	d := lxd.NewDoor(c)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return d
}

// eventually waits for what a door comes to.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	limit := time.After(60 * time.Second)
	for !is() {
		select {
		case <-limit:
			t.Fatalf("it did not come to this: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stays waits for an error of the door that has the text.
func stays(t *testing.T, d *lxd.Door, text string) {
	t.Helper()
	eventually(t, text, func() bool {
		err := d.Check(context.Background())
		return err != nil && strings.Contains(domain.PublicMessage(err), text)
	})
}

func TestDaemonIsJoined(t *testing.T) {
	t.Parallel()
	server := testkit.LXD(t)
	kept := &memory{}
	untrusted := opened(t, lxd.Config{Endpoint: server.Endpoint, Store: kept, Insecure: true})
	stays(t, untrusted, "lxc config trust add --name harvest")

	token := server.TrustToken(t)
	door := opened(t, lxd.Config{Endpoint: server.Endpoint, TrustToken: token, Store: kept, Project: "harvest"})
	eventually(t, "joined by a token", door.Open)
	if names := server.Names(t, "projects", ""); !slices.Equal(names, []string{"default", "harvest"}) {
		t.Errorf("projects %v", names)
	}
	eventually(t, "the same identity is trusted where it was not", untrusted.Open)
	without := opened(t, lxd.Config{Endpoint: server.Endpoint, Store: kept})
	eventually(t, "open by the pin, without the token", without.Open)
	if kept.made != 1 {
		t.Errorf("%d identities were made", kept.made)
	}

	used := opened(t, lxd.Config{Endpoint: server.Endpoint, TrustToken: token})
	stays(t, used, "the server refuses the trust token")
	stays(t, opened(t, lxd.Config{Endpoint: server.Endpoint, TrustToken: "abc"}), "is not a trust token")
	stays(t, opened(t, lxd.Config{Endpoint: server.Endpoint, Store: &memory{}}), "a certificate that is not the right one")
	withCA := opened(t, lxd.Config{Endpoint: server.Endpoint, CACert: server.Certificate(t), Store: kept})
	eventually(t, "open by its certificate", withCA.Open)
	stays(t, opened(t, lxd.Config{Endpoint: server.Endpoint, CACert: "..."}), "[lxd] ca_cert is not a certificate")

	hand, err := lxd.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	manual := opened(t, lxd.Config{Endpoint: server.Endpoint, Insecure: true, ClientCert: hand.Certificate, ClientKey: hand.Key})
	stays(t, manual, "does not trust [lxd] client_cert")
	server.Trust(t, hand.Certificate)
	eventually(t, "trusted by hand", manual.Open)

	server.RenewCertificate(t)
	stays(t, without, "give a new trust token")
	again := opened(t, lxd.Config{Endpoint: server.Endpoint, TrustToken: server.TrustToken(t), Store: kept})
	eventually(t, "joined again by a new token", again.Open)
	eventually(t, "the others follow the new pin", without.Open)
}

// A server that went away is missed with the first call that it does not answer, and is there again
// for the first who needs it.
func TestDaemonGoesAndComes(t *testing.T) {
	t.Parallel()
	server := testkit.LXD(t)
	door := opened(t, lxd.Config{Endpoint: server.Endpoint, TrustToken: server.TrustToken(t), Pause: time.Hour})
	eventually(t, "joined", door.Open)
	c := lxd.NewContainers(door, lxd.Image{Alias: server.Image, Profile: "default"})
	server.Kill()
	if _, err := c.List(t.Context()); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("nobody answers: %v", err)
	}
	stays(t, door, "there is no answer at "+server.Endpoint)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "there again", func() bool { return c.Reach(t.Context()) == nil })
}

func TestDaemonMakesContainers(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	server := testkit.LXD(t)
	door := opened(t, lxd.Config{Endpoint: server.Endpoint, TrustToken: server.TrustToken(t), Project: "harvest"})
	eventually(t, "joined", door.Open)
	c := lxd.NewContainers(door, lxd.Image{Alias: server.Image, Profile: "default", Network: server.Network})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // everything may be repeated
		must(c.EnsureNetwork(ctx, "p1"))
	}
	flavor, _ := domain.FindFlavor("tiny")
	order := domain.ContainerOrder{Container: domain.Container{Name: "web-1", ProjectID: "p1", Provision: "one"}, Flavor: flavor}
	for range 2 {
		must(c.Create(ctx, order, func(string) {}))
	}
	for range 2 {
		must(c.Start(ctx, "web-1"))
		must(c.AwaitRunning(ctx, "web-1"))
	}
	if got := server.Client(t, "config", "show", "web-1", "--project", "harvest"); !strings.Contains(got, "limits.memory: 512MiB") || !strings.Contains(got, `limits.cpu: "1"`) {
		t.Errorf("the container's configuration:\n%s", got)
	}

	must(c.RunScript(ctx, "web-1", "test \"$TOKEN\" = \"it's me\" && cat > /root/got\ntrailing", map[string]string{"TOKEN": "it's me"}))
	if got := server.Client(t, "exec", "--project", "harvest", "web-1", "--", "cat", "/root/got"); got != "trailing" {
		t.Errorf("the script's own input is %q", got)
	}
	err := c.RunScript(ctx, "web-1", "echo out; echo err >&2; exit 7", nil)
	if text := domain.PublicMessage(err); domain.CodeOf(err) != domain.CodeUpstream || !strings.Contains(text, "exit code 7") || !strings.Contains(text, "out") || !strings.Contains(text, "err") {
		t.Errorf("a script that fails: %v", err)
	}
	err = c.RunScript(ctx, "web-1", "i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done; exit 1", nil)
	if text := domain.PublicMessage(err); !strings.Contains(text, "0\n1\n2\n") || !strings.Contains(text, "\n…\n") || !strings.HasSuffix(text, "2999") || len(text) > 4<<10 {
		t.Errorf("a script that says much: %d bytes, %s", len(text), text)
	}
	short, cut := context.WithTimeout(ctx, 2*time.Second)
	defer cut()
	if err := c.RunScript(short, "web-1", "echo $$ >/root/pid; sleep 600; sleep 600", nil); err == nil {
		t.Error("a script that hangs has ended")
	}
	eventually(t, "the script that nobody waits for is gone", func() bool {
		return server.Client(t, "exec", "--project", "harvest", "web-1", "--", "sh", "-c", "test -d /proc/$(cat /root/pid) || echo gone") == "gone"
	})

	must(c.Change(ctx, "web-1", domain.ContainerRestart))
	must(c.Change(ctx, "web-1", domain.ContainerStop))
	must(c.Change(ctx, "web-1", domain.ContainerStop))
	must(c.Change(ctx, "web-1", domain.ContainerStart))
	if err := c.Change(ctx, "gone", domain.ContainerStart); domain.CodeOf(err) != domain.CodeNotFound {
		t.Errorf("a container that is not there: %v", err)
	}

	server.Client(t, "init", server.Image, "theirs", "--project", "harvest")
	if err := c.Remove(ctx, "theirs"); domain.CodeOf(err) != domain.CodeUpstream || !strings.Contains(err.Error(), "did not make") {
		t.Errorf("a container of others: %v", err)
	}
	if list, err := c.List(ctx); err != nil || len(list) != 1 || list[0].Name != "web-1" || list[0].ProjectID != "p1" || list[0].Provision != "one" || list[0].CreatedAt.IsZero() {
		t.Errorf("ours are %+v, %v", list, err)
	}
	networks, err := c.Networks(ctx)
	if err != nil || len(networks) != 1 || networks[0] != (domain.ContainerNetwork{Name: lxd.NetworkName("p1"), ProjectID: "p1", InUse: true}) {
		t.Errorf("our networks are %+v, %v", networks, err)
	}
	if err := c.RemoveNetwork(ctx, networks[0].Name); err == nil {
		t.Error("a network that is used was removed")
	}
	for range 2 {
		must(c.Remove(ctx, "web-1"))
		must(c.RemoveNetwork(ctx, networks[0].Name))
	}
	if names := server.Names(t, "instances", "harvest"); !slices.Equal(names, []string{"theirs"}) {
		t.Errorf("left are %v", names)
	}

	none := lxd.NewContainers(door, lxd.Image{Alias: "none", Profile: "default"})
	if err := none.Create(ctx, order, nil); !strings.Contains(domain.PublicMessage(err), `no local image with the alias "none"`) {
		t.Errorf("no image: %v", err)
	}
	none = lxd.NewContainers(door, lxd.Image{Alias: server.Image, Profile: "none"})
	if err := none.Create(ctx, order, nil); !strings.Contains(domain.PublicMessage(err), `no profile "none"`) {
		t.Errorf("no profile: %v", err)
	}
}

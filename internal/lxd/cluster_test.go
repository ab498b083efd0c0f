package lxd_test

import (
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/internal/lxd/lxdtest"
)

// clustered gives a fake that is a cluster of two, a server to do with as one likes, and what works
// on it.
func clustered(t *testing.T) (*lxdtest.Server, lxd.InstanceServer, *lxd.Containers, *lxd.Door) {
	t.Helper()
	fake := lxdtest.New(t)
	fake.Members = []string{"one", "two"}
	door := openedTo(t, fake)
	server, err := door.Server()
	if err != nil {
		t.Fatal(err)
	}
	return fake, server, lxd.NewContainers(door, lxd.Image{Alias: "tiny", Profile: "default", Network: map[string]string{"ipv4.address": "10.8.0.1/24"}}), door
}

// In a cluster a network is announced on each member, also where an attempt before was cut off, and
// what operations are called by is understood.
func TestCluster(t *testing.T) {
	t.Parallel()
	fake, server, c, _ := clustered(t)
	if err := server.UseTarget("one").CreateNetwork(t.Context(), lxd.Network{Name: lxd.NetworkName("p"), Type: "bridge"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.EnsureNetwork(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
	}
	if got := fake.NetworkOf(lxd.NetworkName("p")); got["ipv4.address"] != "10.8.0.1/24" || got["user.harvest.project"] != "p" {
		t.Errorf("the network is %v", got)
	}
	order := domain.ContainerOrder{Container: domain.Container{Name: "web", ProjectID: "p", Provision: "v"}, Flavor: domain.Flavors()[0]}
	if err := c.Create(t.Context(), order, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), "web"); err != nil {
		t.Fatal(err)
	}
	if err := c.Remove(t.Context(), "web"); err != nil || len(fake.Containers()) != 0 {
		t.Errorf("removed: %v; left are %+v", err, fake.Containers())
	}
}

// A cluster makes no network while a member is away: that is said, and waited for.
func TestAMemberIsOffline(t *testing.T) {
	t.Parallel()
	fake, _, c, _ := clustered(t)
	fake.Leave("two", true)
	err := c.EnsureNetwork(t.Context(), "p")
	if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(domain.PublicMessage(err), "the member two of the LXD cluster is offline") {
		t.Errorf("while one is away: %v", err)
	}
	if made := fake.Networks(); len(made) != 0 {
		t.Errorf("begun is %v", made)
	}
	fake.Leave("", false)
	if err := c.EnsureNetwork(t.Context(), "p"); err != nil {
		t.Errorf("once it is back: %v", err)
	}
}

// A member that went a moment ago leaves a network half made, with its options: a cluster takes
// none a second time, nor is it announced again. It is made all the same once the member is back,
// by its owner alone.
func TestANetworkThatIsHalfMade(t *testing.T) {
	t.Parallel()
	fake, server, c, door := clustered(t)
	theirs := lxd.NewContainers(door, lxd.Image{Network: map[string]string{"ipv4.address": "10.9.0.1/24"}})
	fake.Leave("two", false)
	for _, project := range []string{"p", "q"} {
		if err := theirs.EnsureNetwork(t.Context(), project); domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(err.Error(), "Unable to connect to: 10.0.0.2:8443") {
			t.Fatalf("made without a member: %v", err)
		}
	}
	fake.Leave("two", true)
	if err := c.EnsureNetwork(t.Context(), "p"); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("while it is away: %v", err)
	}
	fake.Leave("", false)
	for range 2 {
		if err := c.EnsureNetwork(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
	}
	if got := fake.NetworkOf(lxd.NetworkName("p")); got["ipv4.address"] != "10.9.0.1/24" || got["user.harvest.project"] != "p" {
		t.Errorf("the network is %v", got)
	}
	fake.NetworkOf(lxd.NetworkName("q"))["user.harvest.installation"] = "another"
	if err := c.EnsureNetwork(t.Context(), "q"); domain.CodeOf(err) != domain.CodeUpstream || !strings.Contains(err.Error(), "did not make") {
		t.Errorf("one that others have half made: %v", err)
	}
	if n, err := server.GetNetwork(t.Context(), lxd.NetworkName("q")); err != nil || n.Status == "Created" {
		t.Errorf("it is %+v, %v", n, err)
	}
}

package lxd_test

import (
	"fmt"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/internal/lxd/lxdtest"
)

// In a cluster a network is announced on each member, also where an attempt before was cut off, and
// what operations are called by is understood.
func TestCluster(t *testing.T) {
	t.Parallel()
	fake := lxdtest.New(t)
	fake.Members = []string{"one", "two"}
	door := opened(t, lxd.Config{Endpoint: fake.Endpoint, TrustToken: fake.Token()})
	eventually(t, "joined", door.Open)
	server, err := door.Server()
	if err != nil {
		t.Fatal(err)
	}
	c := lxd.NewContainers(door, lxd.Image{Alias: "tiny", Profile: "default", Network: map[string]string{"ipv4.address": "10.8.0.1/24"}})
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

// Each project gets a subnet of its own, from the one of the configuration on, past those that
// others have.
func TestNetworksDoNotOverlap(t *testing.T) {
	t.Parallel()
	for wanted, want := range map[string][]string{
		"10.8.0.1/24":      {"10.8.0.1/24", "10.8.2.1/24", "10.8.3.1/24"},
		"10.8.1.129/25":    {"10.8.2.1/25", "10.8.2.129/25", "10.8.3.1/25"},
		"255.255.255.1/24": {"255.255.255.1/24", "255.255.255.1/24", "255.255.255.1/24"}, // there is no next one
		"auto":             {"auto", "auto", "auto"},
		"none":             {"none", "none", "none"},
	} {
		t.Run(wanted, func(t *testing.T) {
			t.Parallel()
			fake := lxdtest.New(t)
			door := opened(t, lxd.Config{Endpoint: fake.Endpoint, TrustToken: fake.Token()})
			eventually(t, "joined", door.Open)
			fake.PutNetwork("theirs", map[string]string{"ipv4.address": "10.8.1.7/24"})
			fake.PutNetwork("plain", nil)
			c := lxd.NewContainers(door, lxd.Image{Alias: "tiny", Network: map[string]string{"ipv4.address": wanted}})
			for i, address := range want {
				project := fmt.Sprint("p", i)
				for range 2 {
					if err := c.EnsureNetwork(t.Context(), project); err != nil {
						t.Fatal(err)
					}
				}
				if got := fake.NetworkOf(lxd.NetworkName(project))["ipv4.address"]; got != address {
					t.Errorf("project %d has %q, not %q", i, got, address)
				}
			}
		})
	}
}

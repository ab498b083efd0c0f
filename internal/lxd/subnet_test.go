package lxd_test

import (
	"fmt"
	"testing"

	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/internal/lxd/lxdtest"
)

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
			door := openedTo(t, fake)
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

package main

import (
	"testing"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func TestContainersHaveTheNameTheyWereMadeBy(t *testing.T) {
	var list []client.Agent
	for _, a := range []domain.AgentInfo{
		{ID: "1", Hostname: "builder-e73a2217", Provider: "lxd"},
		{ID: "2", Hostname: "web-00000001", Provider: "lxd"},
		{ID: "3", Hostname: "web-00000002", Provider: "lxd"},
		{ID: "4", Hostname: "db-00000003", Provider: "manual"},
		{ID: "5", Hostname: "web-old-00000004", Provider: "lxd"},
		{ID: "6", Hostname: "edge-00000005", Provider: "lxd"},
		{ID: "7", Hostname: "edge", Provider: "manual"},
	} {
		list = append(list, client.Agent{AgentInfo: a})
	}
	for name, want := range map[string]string{
		"builder": "1", "builder-e73a2217": "1", "web": "", "web-00000002": "3", "db": "", "web-old": "5", "edge": "7", "": "", "build": "",
	} {
		if id, err := pickAgent(list, name); id != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q (%v), not %q", name, id, err, want)
		}
	}
}

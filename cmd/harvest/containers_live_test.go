package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// A machine in a container by commands, on a real LXD server.
func TestAContainerByCommands(t *testing.T) {
	t.Parallel()
	server := testkit.LXD(t)
	r := withLXD(t, server, "")
	chief := crewOf(t, r, r.token)
	chief.run(exitOK, "", "projects", "create", "engine")
	chief.says(exitOK, "", []string{"tiny", "0.5 GiB"}, in("agents", "flavors")...)
	chief.says(exitFailed, "", []string{"flavor"}, in("agents", "create", "builder", "--flavor", "huge")...)
	chief.says(exitOK, "", []string{"preparing the network", "creating the container", "installing the agent", "builder is made"},
		in("agents", "create", "builder", "--flavor", "tiny", "--description", "builds")...)
	projects, err := r.api.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	host := r.onlineAgent(t, projects[0].ID).Hostname
	var list []client.Agent
	if out, _ := chief.run(exitOK, "", "agents", "list", "--json"); json.Unmarshal([]byte(out), &list) != nil || len(list) != 1 || list[0].Provider != "lxd" || list[0].Description != "builds" {
		t.Errorf("listed: %s", out)
	}
	if out, _ := chief.run(exitOK, "", "run", host, "--", "hostname"); strings.TrimSpace(out) != host {
		t.Errorf("it says that it is %q, not %q", out, host)
	}
	chief.says(exitOK, "", []string{"is stopped"}, "agents", "stop", host)
	chief.says(exitOK, "", []string{"with its container"}, "agents", "delete", host)
	if names := server.Names(t, "instances", "harvest"); len(names) != 0 {
		t.Errorf("left are %v", names)
	}
}

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/config"
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

// The doctor says whether machines can be made, and what is in the way, and changes nothing.
func TestDoctorLooksAtLXD(t *testing.T) {
	t.Parallel()
	server := testkit.LXD(t)
	r := withLXD(t, server, "")
	says := func(change func(*config.Config), want ...string) {
		t.Helper()
		cfg := *r.cfg
		machines, agents := *r.cfg.LXD, *r.cfg.Agents
		cfg.LXD, cfg.Agents, cfg.Database.URL = &machines, &agents, config.NewSecret(r.on.DSN)
		change(&cfg)
		var lines []string
		for _, f := range examineMachines(t.Context(), &cfg) {
			lines = append(lines, f.name, f.detail, f.remedy)
			if f.fault {
				t.Errorf("Harvest works without: %+v", f)
			}
		}
		wantParts(t, strings.Join(lines, "\n"), want...)
	}
	says(func(*config.Config) {}, "machines find this server at http://", "LXD 5.", "containers of the image "+server.Image)
	says(func(c *config.Config) { c.Agents.BinaryPath = "/nowhere" }, "set binary_path under [agents]", "containers of the image")
	says(func(c *config.Config) { c.LXD.ImageAlias = "none" }, `no local image with the alias "none"`)
	says(func(c *config.Config) { c.LXD.Profile = "none" }, `no profile "none"`)
	says(func(c *config.Config) { c.LXD.Endpoint = "https://127.0.0.1:1" }, "there is no answer at https://127.0.0.1:1")
	says(func(c *config.Config) { c.Database.URL = config.NewSecret("postgres://nobody@127.0.0.1:1/none") }, "see the line on postgres")
	empty := t.TempDir()
	says(func(c *config.Config) { c.Data.Dir = empty }, "once Harvest has started")
	if made, err := os.ReadDir(empty); err != nil || len(made) > 0 {
		t.Errorf("made are %v, %v", made, err)
	}
	says(func(c *config.Config) { c.Agents, c.LXD.Project = nil, "untouched" }, "set public_url under [agents]", "in its project untouched")
	if names := server.Names(t, "projects", ""); len(names) != 2 {
		t.Errorf("projects %v", names)
	}
}

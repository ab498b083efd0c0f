package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
)

func TestMachinesAreListed(t *testing.T) {
	t.Parallel()
	_, ada := newMachines(t)
	out := ada.says(exitOK, "", []string{"web1", "online", "box", "away since", "engine", "lxd", `the \u{1b}[31mfirst`}, "agents", "list")
	if strings.Contains(out, "\x1b") {
		t.Errorf("what a machine says of itself reaches the terminal: %q", out)
	}
	var list []client.Agent
	if out := ada.says(exitOK, "", nil, in("agents", "list", "--json")...); json.Unmarshal([]byte(out), &list) != nil || len(list) != 2 || list[0].ProjectName != "engine" {
		t.Errorf("as JSON: %s", out)
	}
	ada.says(exitOK, "", []string{"web1", "engine", "online", "hand", "0.3.0", "keep results until they are taken, cancel commands\n"}, "agents", "show", "web1")
	ada.says(exitOK, "", []string{"box", "LXD container", "it does not say", "with fewer promises"}, "agents", "show", "a2")
	ada.says(exitFailed, "", []string{`there is no machine "web9"`, "harvest agents list"}, "agents", "show", "web9")
	ada.says(exitFailed, "", []string{"there is no project"}, "agents", "list", "--project", "none")
	ada.says(exitUsage, "", []string{"name one machine"}, "agents", "show")
}

func TestInstallCommands(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	const made = `{"ok":true,"command":"curl -fsS URL | TOKEN=hvi_x bash","wget":"wget -qO- URL","uninstall":"bash uninstall","expires_at":"2026-12-01T10:00:00Z","uses":1}`
	m.answer("GET /projects/p1/agents/install-command", made)
	m.answer("POST /projects/p1/agents/rotate-install-token", strings.Replace(made, `"uses":1`, `"uses":null`, 1))
	ada.says(exitUsage, "", []string{"--project"}, "agents", "install")
	out, errs := ada.run(exitOK, "", in("agents", "install", "--expires", "1h", "--uses", "1")...)
	if out != "curl -fsS URL | TOKEN=hvi_x bash\n" {
		t.Errorf("it prints %q", out)
	}
	for _, part := range []string{"run this on the machine", "for one machine", "not shown again", "  bash uninstall"} {
		if !strings.Contains(errs, part) {
			t.Errorf("it does not say %q:\n%s", part, errs)
		}
	}
	m.wants(t, "GET /projects/p1/agents/install-command?expires_in_secs=3600&uses=1")
	ada.says(exitOK, "", []string{"wget -qO- URL"}, in("agents", "install", "--wget")...)
	ada.says(exitOK, "", []string{"any number of machines", "earlier install commands have ended"}, in("agents", "rotate-token")...)
	m.wants(t, "POST /projects/p1/agents/rotate-install-token {}")
	ada.says(exitOK, "", []string{`"expires_at"`}, in("agents", "install", "--json")...)
	ada.says(exitUsage, "", []string{"--uses"}, in("agents", "install", "--uses", "-1")...)
	// What is given is never taken for what is left out, which is good for more.
	ada.says(exitUsage, "", []string{"--uses must be 1 or more"}, in("agents", "rotate-token", "--uses", "0")...)
	ada.says(exitUsage, "", []string{"--expires 0s", "720h"}, in("agents", "install", "--expires", "0s")...)
	ada.says(exitUsage, "", []string{"--expires 721h", "720h"}, in("agents", "install", "--expires", "721h")...)
}

func TestMachinesAreRemoved(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("DELETE "+ofWeb1, `{"ok":true}`)
	m.answer("DELETE /projects/p1/agents/a2", `502 upstream: the container can't be deleted: it is busy`)
	ada.says(exitOK, "", []string{"removed the machine web1"}, "agents", "delete", "web1")
	ada.says(exitFailed, "", []string{"can't be deleted: it is busy"}, "agents", "delete", "box")
	m.wants(t, "DELETE "+ofWeb1)
}

func TestContainers(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("GET /projects/p1/agents/flavors", `[{"id":"tiny","label":"Tiny","cpu":1,"memory_mib":512}]`)
	m.makes(`{"type":"phase_start","phase":"ensure_network"}`, `{"type":"phase_start","phase":"install_agent"}`,
		`{"type":"phase_note","phase":"install_agent","message":"LXD is away\u001b[2J","waiting":true}`,
		`{"type":"install_retry","attempt":2,"attempts":4,"message":"exit code 1:\nwget: bad address"}`, `{"type":"done","instance":"builder-1a2b"}`)
	m.answer("POST /projects/p1/agents/a2/stop", `{"ok":true}`)
	m.answer("POST "+ofWeb1+"/start", `400 invalid_request: web1 is no container that Harvest made`)
	ada.says(exitOK, "", []string{"tiny", "0.5 GiB"}, in("agents", "flavors")...)
	ada.says(exitUsage, "", []string{"--flavor", "harvest agents flavors"}, in("agents", "create", "builder")...)
	ada.says(exitOK, "", []string{"preparing the network", "~ LXD is away[2J; it is tried again", "trying again to install the agent, 2 of 4: exit code 1: wget: bad address", "installing the agent", "builder is made as builder-1a2b"}, in("agents", "create", "builder", "--flavor", "tiny")...)
	m.wants(t, `POST /projects/p1/agents/lxd {"name":"builder","flavor":"tiny"}`)
	ada.says(exitOK, "", []string{`"type":"install_retry"`, `"event_id":"1"`}, in("agents", "create", "builder", "--flavor", "tiny", "--json")...)
	ada.says(exitOK, "", []string{"the container of box is stopped"}, "agents", "stop", "box")
	ada.says(exitFailed, "", []string{"no container"}, "agents", "start", "web1")
}

// Without a terminal it is told sparsely how far an image has come.
func TestTheImageOfAContainerIsFetched(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	events := []string{`{"type":"phase_start","phase":"create_container"}`, `{"type":"phase_note","phase":"create_container","message":"fetching the image: metadata: 100% (1.2MB/s)"}`}
	for percent := range 101 {
		events = append(events, fmt.Sprintf(`{"type":"phase_note","phase":"create_container","message":"fetching the image: rootfs: %d%% (3.45MB/s)"}`, percent))
	}
	m.makes(append(events, `{"type":"phase_note","phase":"create_container","message":"fetching the image: rootfs: 40% (again)"}`, `{"type":"done","instance":"builder-1a2b"}`)...)
	_, said := ada.run(exitOK, "", in("agents", "create", "builder", "--flavor", "tiny")...)
	if strings.Count(said, "metadata: 100%") != 1 || strings.Count(said, "rootfs:") != 11 {
		t.Errorf("it is told:\n%s", said)
	}
	for tenth := range 11 {
		if line := fmt.Sprintf("\n  fetching the image: rootfs: %d%% (3.45MB/s)\n", 10*tenth); !strings.Contains(said, line) {
			t.Errorf("it is not told that%s in:\n%s", line, said)
		}
	}
}

func TestAContainerThatCanNotBeMade(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.makes(`{"type":"phase_start","phase":"create_container"}`, `{"type":"phase_note","phase":"removing","message":"what was made of it is being removed"}`, `{"type":"error","phase":"create_container","message":"no space left\u001b[2J"}`)
	_, said := ada.run(exitFailed, "", in("agents", "create", "builder", "--flavor", "tiny")...)
	for _, part := range []string{"~ what was made of it is being removed", "builder was not made", "while creating the container", "no space left"} {
		if !strings.Contains(said, part) || strings.Contains(said, "\x1b") {
			t.Errorf("want %q, and nothing that moves the cursor: %q", part, said)
		}
	}
}

// makes has an order for a container tell these events.
func (m *machines) makes(events ...string) {
	const at = "/projects/p1/agents/lxd/m1"
	m.HandleFunc("POST /projects/p1/agents/lxd", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", at)
		writeEvents(w, events[0])
	})
	m.stream("GET "+at+"/events", events...)
}

func TestTheMakingOfAContainerIsCanceled(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	const at = "/projects/p1/agents/lxd/m1"
	asked, begun := make(chan struct{}), make(chan struct{})
	m.HandleFunc("POST /projects/p1/agents/lxd", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", at) })
	m.HandleFunc("POST "+at+"/cancel", func(http.ResponseWriter, *http.Request) { close(asked) })
	m.HandleFunc("GET "+at+"/events", func(w http.ResponseWriter, _ *http.Request) {
		writeEvents(w, `{"type":"phase_start","phase":"create_container"}`)
		close(begun)
		<-asked
		fmt.Fprint(w, "id: 2\ndata: {\"type\":\"canceled\"}\n\n")
	})
	ctx, interrupt := context.WithCancel(t.Context())
	over := ada.beside(ctx, nil, in("agents", "create", "b", "--flavor", "tiny")...)
	<-begun
	interrupt()
	if code, text := over(); code != exitStopped || !strings.Contains(text, "asking for the end of it") || !strings.Contains(text, "all that was made of it is removed") {
		t.Errorf("%d:\n%s", code, text)
	}
}

func TestServersWithoutContainers(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	const none = `503 unavailable: this server makes no containers: it has no [lxd] section in its configuration`
	m.answer("GET /projects/p1/agents/flavors", none)
	m.answer("POST /projects/p1/agents/lxd", none)
	ada.says(exitFailed, "", []string{"no [lxd] section"}, in("agents", "flavors")...)
	ada.says(exitFailed, "", []string{"no [lxd] section"}, in("agents", "create", "b", "--flavor", "tiny")...)
	m.wants(t, "GET /projects/p1/agents/flavors") // once
}

func TestForwards(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	const grafana = `{"id":"f1","agent_id":"a1","port":3000,"route_name":"grafana","url":"https://h/agents/a1/grafana/"}`
	m.answer("GET "+ofWeb1+"/port-forwards", "["+grafana+"]")
	m.answer("GET /projects/p1/agents/a2/port-forwards", "[]")
	m.answer("POST "+ofWeb1+"/port-forwards", grafana)
	m.answer("PUT "+ofWeb1+"/port-forwards/f1", `{"ok":true}`)
	m.answer("DELETE "+ofWeb1+"/port-forwards/f1", `{"ok":true}`)
	ada.says(exitOK, "", []string{"grafana", "3000", "https://h/agents/a1/grafana/"}, "agents", "forwards", "list", "web1")
	ada.says(exitOK, "", []string{"no port forwards"}, "agents", "forwards", "list", "box")
	ada.says(exitOK, "", []string{`"route_name": "grafana"`}, "agents", "forwards", "list", "web1", "--json")
	ada.says(exitUsage, "", []string{"name"}, "agents", "forwards", "add", "web1", "3000")
	ada.says(exitUsage, "", []string{"is no port"}, "agents", "forwards", "add", "web1", "http", "--name", "grafana")
	ada.says(exitOK, "", []string{"https://h/agents/a1/grafana/"}, "agents", "forwards", "add", "web1", "3000", "--name", "grafana")
	m.wants(t, "POST "+ofWeb1+`/port-forwards {"port":3000,"route_name":"grafana"}`)
	ada.says(exitUsage, "", []string{"what is to change"}, "agents", "forwards", "edit", "web1", "grafana")
	ada.says(exitOK, "", []string{"changed"}, "agents", "forwards", "edit", "web1", "grafana", "--port", "3001")
	m.wants(t, "PUT "+ofWeb1+`/port-forwards/f1 {"port":3001}`)
	ada.says(exitFailed, "", []string{`no port forward "x"`, "forwards list web1"}, "agents", "forwards", "delete", "web1", "x")
	ada.says(exitOK, "", []string{"removed the port forward grafana"}, "agents", "forwards", "delete", "web1", "grafana")
	m.wants(t, "DELETE "+ofWeb1+"/port-forwards/f1")
}

func TestProjectSettings(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("GET /projects/p1/settings", `{"approvers":"others","confirm_expiry_seconds":3600,"asking_tools":["drop"],"command_policy":"changes","allowed_commands":[]}`)
	m.answer("PUT /projects/p1/settings", `{"ok":true}`)
	ada.says(exitOK, "", []string{"members, but not who asked", "waits for    1h\n", "drop", "ask unless they only read"}, "projects", "settings", "engine")
	ada.says(exitOK, "", []string{"changed the settings of the project engine"}, "projects", "settings", "engine", "--command-policy", "allow_list", "--allow-command", "uptime", "--asking-tool", "")
	m.wants(t, `PUT /projects/p1/settings {"approvers":"others","confirm_expiry_seconds":3600,"asking_tools":[],"command_policy":"allow_list","allowed_commands":["uptime"]}`)
	ada.says(exitOK, "", []string{`"command_policy": "changes"`}, "projects", "settings", "engine", "--json")
	ada.says(exitUsage, "", []string{"--json shows"}, "projects", "settings", "engine", "--json", "--approvers", "admins")
}

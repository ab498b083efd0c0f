package main

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// booted is a Debian that systemd rules, in a container that Harvest has made.
type booted struct {
	t      *testing.T
	r      *rig
	server *testkit.LXDServer
	chief  *teamProgram
	agent  domain.Agent
}

// sh runs a line on the machine, as who administers it does.
func (b *booted) sh(line string) string {
	b.t.Helper()
	return b.server.Client(b.t, "exec", "--project", "harvest", b.agent.Instance, "--", "bash", "-c", line)
}

// comes waits for a line to succeed on the machine.
func (b *booted) comes(line string) {
	b.t.Helper()
	within(b.t, line, func() bool { return b.sh("if "+line+"; then echo yes; fi") == "yes" })
}

// survives does something while a command runs, which must not notice.
func (b *booted) survives(what string, act func()) {
	b.t.Helper()
	over := b.chief.beside(b.t.Context(), nil, "run", b.agent.Hostname, "--timeout", "5m", "--", "echo begun | tee -a /root/ran; until [ -e /root/go ]; do sleep 0.1; done; echo over; exit 7")
	b.comes("[ -s /root/ran ]")
	act()
	b.sh("touch /root/go")
	if code, text := over(); code != 7 || text != "begun\nover\n" {
		b.t.Errorf("the command amid %s ends with %d:\n%s", what, code, text)
	}
	if ran := b.sh("cat /root/ran; rm /root/ran /root/go"); ran != "begun" {
		b.t.Errorf("amid %s it ran so: %q", what, ran)
	}
}

// installs runs a new install command on the machine, as it is shown; it is root already.
func (b *booted) installs() string {
	b.t.Helper()
	var order domain.InstallCommand
	out, _ := b.chief.run(exitOK, "", in("agents", "install", "--json")...)
	if err := json.Unmarshal([]byte(out), &order); err != nil {
		b.t.Fatal(err)
	}
	return b.sh("{ " + strings.Replace(order.Command, "sudo ", "", 1) + "; } 2>&1 || true")
}

// machines gives the ids of the project's agents.
func (b *booted) machines() (ids []string) {
	b.t.Helper()
	list, err := b.r.store.Agents(b.t.Context(), b.agent.ProjectID)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, a := range list {
		ids = append(ids, a.ID)
	}
	return ids
}

// The script and the agent on a machine as people have them, in a container that Harvest makes:
// whatever systemd and who administers it do to the agent, no command is lost or run twice.
func TestMachineWithSystemd(t *testing.T) {
	t.Parallel()
	server := testkit.LXD(t)
	server.Debian(t)
	r := withLXD(t, server, "")
	b := &booted{t: t, r: r, server: server, chief: crewOf(t, r, r.token)}
	b.chief.run(exitOK, "", "projects", "create", "engine")
	b.chief.says(exitOK, "", []string{"builder is made"}, in("agents", "create", "builder", "--flavor", "tiny")...)
	projects, err := r.api.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.agent = r.onlineAgent(t, projects[0].ID)
	if got := b.sh("systemctl is-enabled harvest-agent; systemctl is-active harvest-agent; stat -c %a /etc/harvest-agent/config.toml /var/lib/harvest-agent"); got != "enabled\nactive\n600\n700" {
		t.Errorf("installed is %q", got)
	}
	b.isAService()
	b.staysOne()
	b.goes()
}

// isAService does to the agent what systemd does to services.
func (b *booted) isAService() {
	b.t.Helper()
	b.survives("a restart", func() { b.sh("systemctl restart harvest-agent") })
	b.survives("kill -9", func() {
		before := b.sh("systemctl show -P MainPID harvest-agent")
		b.sh("kill -9 " + before)
		b.comes(`systemctl is-active -q harvest-agent && [ "$(systemctl show -P MainPID harvest-agent)" != ` + before + " ]")
	})
	b.survives("an update", func() {
		path := b.r.cfg.Agents.BinaryPath
		program, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path+".new", append(program, '\n'), 0o755)
		}
		if err == nil {
			err = os.Rename(path+".new", path)
		}
		if err != nil {
			b.t.Fatal(err)
		}
		before := b.sh("sha256sum /usr/local/bin/harvest-agent")
		if said := b.installs(); !strings.Contains(said, "systemd runs it") || !strings.Contains(said, "is in the project as "+b.agent.Hostname) {
			b.t.Errorf("the update says:\n%s", said)
		}
		if before == b.sh("sha256sum /usr/local/bin/harvest-agent") {
			b.t.Error("the program is the old one")
		}
	})
	b.survives("a stop", func() {
		b.sh("systemctl stop harvest-agent")
		if out := b.sh("systemctl is-active harvest-agent || true"); out != "inactive" {
			b.t.Errorf("it is %s", out)
		}
		if out := b.sh("systemctl status harvest-agent --no-pager || true"); !strings.Contains(out, "harvest-agent shim ") || !strings.Contains(out, "(harvest-shim)") {
			b.t.Errorf("what goes on is shown so:\n%s", out)
		}
		b.sh("systemctl start harvest-agent")
	})
	if said := b.sh("journalctl -u harvest-agent -o cat"); !strings.Contains(said, "msg=connected agent="+b.agent.ID) {
		b.t.Errorf("its journal:\n%s", said)
	}
}

// staysOne stops the machine and starts it again: the same agent is there, and does what was
// asked for meanwhile.
func (b *booted) staysOne() {
	b.t.Helper()
	over := b.chief.beside(b.t.Context(), nil, "run", b.agent.Hostname, "--timeout", "5m", "--", "echo begun >>/root/ran; sleep 200")
	b.comes("[ -s /root/ran ]")
	b.chief.says(exitOK, "", []string{"is stopped"}, "agents", "stop", b.agent.Hostname)
	id := b.chief.says(exitOK, "", nil, "run", b.agent.Hostname, "--wait", "30m", "--detach", "--", "echo queued; cat /root/ran")
	b.chief.says(exitOK, "", nil, "agents", "start", b.agent.Hostname)
	b.chief.says(exitOK, "", []string{"queued\nbegun\n"}, "agents", "logs", id)
	// Its shell may have been ended before its shim was; what is told is then that end.
	if code, text := over(); code != exitUnknown && code != 143 && code != 137 {
		b.t.Errorf("a command that its machine was stopped amid ends with %d:\n%s", code, text)
	}
	if ids := b.machines(); !slices.Equal(ids, []string{b.agent.ID}) {
		b.t.Errorf("the machines are %v", ids)
	}
}

// goes removes the agent, by hand and from the server.
func (b *booted) goes() {
	b.t.Helper()
	const left = `find / -xdev -name '*harvest*' -not -path '/proc/*'; systemctl list-unit-files 'harvest*' --no-legend; grep -sE '^(harvest|exe)' /proc/[0-9]*/comm || true`
	if said := b.sh("curl -fsSL " + b.r.cfg.Agents.PublicURL + "/agents/" + b.agent.ProjectID + "/install.sh | bash -s -- --uninstall"); !strings.Contains(said, "removed") {
		b.t.Errorf("uninstalling says:\n%s", said)
	}
	if got := b.sh(left); got != "" {
		b.t.Errorf("it leaves:\n%s", got)
	}
	said := b.sh("curl -fsSL " + b.r.cfg.Agents.PublicURL + "/agents/" + b.agent.ProjectID + "/install.sh | HARVEST_INSTALL_TOKEN=hvi_nobodys bash 2>&1; echo ends with ${PIPESTATUS[1]}; journalctl -u harvest-agent -o cat -n 5")
	if strings.Count(said, "the install token is unknown") < 2 || !strings.Contains(said, "has not joined") || !strings.Contains(said, "ends with 1") {
		b.t.Errorf("with a token that is none:\n%s", said)
	}
	b.installs()
	var joined domain.Agent
	within(b.t, "it joins by a new command", func() bool {
		list, err := b.r.store.Agents(b.t.Context(), b.agent.ProjectID)
		at := slices.IndexFunc(list, func(a domain.Agent) bool { return a.Online && a.ID != b.agent.ID })
		if err == nil && at >= 0 {
			joined = list[at]
		}
		return joined.ID != ""
	})
	if status, text := b.r.bearer(b.t, b.r.token, http.MethodDelete, "/projects/"+joined.ProjectID+"/agents/"+joined.ID, ""); status != http.StatusOK {
		b.t.Fatalf("remove it: %d %s", status, text)
	}
	b.comes("[ ! -e /etc/harvest-agent ] && [ ! -e /var/lib/harvest-agent ] && ! grep -sqE '^(harvest|exe)' /proc/[0-9]*/comm")
	if got := b.sh(left); got != "" {
		b.t.Errorf("removed from the project it leaves:\n%s", got)
	}
}

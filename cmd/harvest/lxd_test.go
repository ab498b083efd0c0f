package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// relay lets machines beyond this one reach a server that listens on the loopback interface
// alone.
type relay struct {
	port   int
	target atomic.Pointer[string]
}

func newRelay(t *testing.T) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{port: listener.Addr().(*net.TCPAddr).Port}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go r.carry(conn)
		}
	}()
	return r
}

func (r *relay) carry(from net.Conn) {
	defer from.Close()
	target := r.target.Load()
	if target == nil {
		return
	}
	to, err := net.Dial("tcp", *target)
	if err != nil {
		return
	}
	defer to.Close()
	go func() {
		_, _ = io.Copy(to, from)
		to.Close()
	}()
	_, _ = io.Copy(from, to)
}

// buildAgent builds the agent for an architecture, as it is given to machines.
func buildAgent(t *testing.T, arch string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "harvest-agent")
	// By the settings of a release, so that other tests have built most of it.
	build := exec.Command("go", "build", "-trimpath", "-o", file, "../harvest-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the agent: %v\n%s", err, out)
	}
	return file
}

// withLXD runs Harvest beside a real LXD daemon, from whose containers it is reached.
func withLXD(t *testing.T, server *testkit.LXDServer, more string) *rig {
	t.Helper()
	outside := newRelay(t)
	var network []string
	for name, value := range server.Network {
		network = append(network, fmt.Sprintf("%q = %q", name, value))
	}
	toml := scriptedModel + fmt.Sprintf(`
[agents]
binary_path = %q
public_url = "http://%s:%d"

[lxd]
endpoint = %q
trust_token = %q
project = "harvest"
image_alias = %q
image_server = ""
profile = %q
network = { %s }
`, buildAgent(t, runtime.GOARCH), server.Gateway, outside.port, server.Endpoint, server.TrustToken(t), server.Image, server.Profile, strings.Join(network, ", ")) + more
	r := newRig(t, upgradeScript, toml)
	target := strings.TrimPrefix(r.base, "http://")
	outside.target.Store(&target)
	within(t, "LXD is joined", func() bool { return r.lxd.Open() })
	return r
}

// within waits for what must come.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	limit := time.After(patience)
	for !is() {
		select {
		case <-limit:
			t.Fatalf("it did not come to this: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// provisionEvents makes a machine and gives the types of its events with their phases; what goes on
// within one, and that the installation is tried again, is left out.
func (r *rig) provisionEvents(t *testing.T, project, body string) (list []string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.base+"/projects/"+project+"/agents/lxd", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var event struct{ Type, Phase, Message string }
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			t.Fatal(err)
		}
		if event.Type != string(domain.EventInstallRetry) && event.Type != string(domain.EventPhaseNote) { // a container that runs may not have its address yet
			list = append(list, strings.TrimSpace(event.Type+" "+event.Phase+" "+event.Message))
		}
	}
	return list
}

// wholeProvision are the events of one that goes well.
var wholeProvision = []string{
	"phase_start ensure_network", "phase_start install_token", "phase_start create_container", "phase_start start_container",
	"phase_start wait_running", "phase_start install_agent", "done",
}

// onlineAgent waits for the one agent of a project to connect.
func (r *rig) onlineAgent(t *testing.T, project string) (agent domain.Agent) {
	t.Helper()
	within(t, "the agent connects", func() bool {
		list, err := r.store.Agents(t.Context(), project)
		if err == nil && len(list) == 1 && list[0].Online {
			agent = list[0]
		}
		return agent.ID != ""
	})
	return agent
}

// A machine is made on a real LXD server, from nothing to a command's output, and goes again.
func TestMachineInContainer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := testkit.LXD(t)
	r := withLXD(t, server, "")
	project := r.makes(t, r.token, "/projects", `{"name":"fleet","group_id":"everyone"}`)
	if diff := cmp.Diff(wholeProvision, r.provisionEvents(t, project, `{"name":"Web Server!","description":"serves","flavor":"tiny"}`)); diff != "" {
		t.Fatalf("events (-want +got):\n%s", diff)
	}
	agent := r.onlineAgent(t, project)
	if agent.Provider != domain.ProviderLXD || agent.Description != "serves" || agent.Instance != agent.Hostname || !strings.HasPrefix(agent.Hostname, "web-server-") {
		t.Errorf("the agent is %+v", agent)
	}
	command, err := r.engine.StartCommand(ctx, domain.CommandOrder{
		ID: domain.NewID(), ProjectID: project, AgentID: agent.ID, Command: "hostname; id -u; env | grep -c HARVEST_INSTALL || true",
		UserID: domain.OwnerID, Timeout: time.Minute, Wait: time.Minute,
	})
	if err == nil {
		command, err = r.engine.AwaitCommand(ctx, command.ID)
	}
	if err != nil || command.Status != domain.CommandDone || string(command.Stdout.Head) != agent.Hostname+"\n0\n0\n" {
		t.Errorf("the command: %+v, %v; it said %q %q", command.Status, err, command.Stdout.Head, command.Stderr.Head)
	}

	under := "/projects/" + project + "/agents/" + agent.ID
	state := func() string {
		return server.Client(t, "list", "--project", "harvest", "--format", "csv", "-c", "s", agent.Instance)
	}
	for _, c := range []struct{ action, want string }{{"stop", "STOPPED"}, {"start", "RUNNING"}, {"restart", "RUNNING"}} {
		if status, text := r.bearer(t, r.token, http.MethodPost, under+"/"+c.action, ""); status != http.StatusOK || state() != c.want {
			t.Errorf("%s: %d %s, and the container is %s", c.action, status, text, state())
		}
	}
	if status, text := r.bearer(t, r.token, http.MethodDelete, under, ""); status != http.StatusOK {
		t.Errorf("delete: %d %s", status, text)
	}
	if names := server.Names(t, "instances", "harvest"); len(names) != 0 {
		t.Errorf("left are %v", names)
	}

	// What goes with its project is found on the server.
	if diff := cmp.Diff(wholeProvision, r.provisionEvents(t, project, `{"name":"second","flavor":"small"}`)); diff != "" {
		t.Fatalf("events of another (-want +got):\n%s", diff)
	}
	r.onlineAgent(t, project)
	if err := r.engine.Reap(ctx); err != nil || len(server.Names(t, "instances", "harvest")) != 1 {
		t.Errorf("reaped what has an agent: %v", err)
	}
	if status, text := r.bearer(t, r.token, http.MethodDelete, "/projects/"+project, ""); status != http.StatusOK {
		t.Fatalf("delete the project: %d %s", status, text)
	}
	within(t, "all of the project is gone", func() bool {
		return r.engine.Reap(context.WithoutCancel(ctx)) == nil && len(server.Names(t, "instances", "harvest")) == 0 &&
			!slices.Contains(server.Names(t, "networks", "default"), lxd.NetworkName(project))
	})
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/internal/testkit/built"
)

// realAgent gives the agent's program.
func realAgent(t *testing.T) string {
	t.Helper()
	path, err := built.Static("cmd/harvest-agent")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// front is the address under which machines reach Harvest: a proxy before the API of now.
type front struct {
	*httptest.Server
	behind   atomic.Pointer[url.URL]
	sessions atomic.Pointer[url.URL] // where consoles and tunnels are opened; nil: behind
}

func newFront(t *testing.T) *front {
	t.Helper()
	f := &front{}
	f.Server = httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			to, path := f.behind.Load(), r.In.URL.Path
			if other := f.sessions.Load(); other != nil && (strings.HasPrefix(path, "/agent/console/") || strings.HasPrefix(path, "/agent/tunnel/")) {
				to = other
			}
			if to != nil {
				r.SetURL(to)
			}
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func (f *front) lead(t *testing.T, to string) {
	t.Helper()
	f.behind.Store(address(t, to))
}

func address(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// machinesTOML is the configuration of servers that give agents away, and share their keys.
func machinesTOML(t *testing.T, public string) string {
	t.Helper()
	dir := filepath.Dir(realAgent(t))
	return scriptedModel + fmt.Sprintf("\n[temporal.codec.keys]\nshared = %q\n[agents]\npublic_url = %q\nbinary_path = %q\n", firstKey, public, dir)
}

// site is a project, and a folder that stands for the root of a machine.
type site struct {
	front   *front
	project string
	root    string
}

// newMachineSite makes a project in the database of r.
func newMachineSite(t *testing.T, r *rig, f *front) *site {
	t.Helper()
	group, err := r.store.CreateGroup(t.Context(), "crew", "")
	if err != nil {
		t.Fatal(err)
	}
	project, err := r.store.CreateProject(t.Context(), domain.Project{Name: "yard", GroupID: group.ID, CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	f.lead(t, r.base)
	return &site{front: f, project: project.ID, root: t.TempDir()}
}

// bash runs what a person is shown, without the sudo.
func (s *site) bash(t *testing.T, command string) string {
	t.Helper()
	cmd := exec.Command("bash", "-o", "pipefail", "-c", strings.Replace(command, "sudo ", "env ", 1))
	cmd.Env = append(os.Environ(), "HARVEST_PREFIX="+s.root)
	out, err := os.Create(filepath.Join(t.TempDir(), "out")) // a pipe would be held by what is started
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	text, _ := os.ReadFile(out.Name())
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, text)
	}
	return string(text)
}

// install installs the agent as a person does, and waits until it is online.
func (s *site) install(t *testing.T, r *rig) domain.Agent {
	t.Helper()
	status, text := r.bearer(t, r.token, http.MethodGet, "/projects/"+s.project+"/agents/install-command?uses=1", "")
	var command domain.InstallCommand
	if err := json.Unmarshal([]byte(text), &command); err != nil || status != http.StatusOK {
		t.Fatalf("install-command: %d %s", status, text)
	}
	s.bash(t, command.Command)
	t.Cleanup(func() {
		s.front.lead(t, r.base)
		s.bash(t, command.Uninstall)
		if left := processesOf(s.root); len(left) > 0 {
			t.Errorf("still run: %v", left)
		}
	})
	return s.online(t, r)
}

// online waits until the one agent of the project is.
func (s *site) online(t *testing.T, r *rig) domain.Agent {
	t.Helper()
	deadline := time.Now().Add(patience)
	for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
		list, err := r.store.Agents(t.Context(), s.project)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 1 && list[0].Online {
			return list[0]
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(s.root, "var/log/harvest-agent.log"))
			t.Fatalf("no agent is online: %+v\n%s", list, log)
		}
	}
}

// processesOf lists the processes whose program lies under a folder.
func processesOf(root string) (list []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, root+"/") {
			list = append(list, link)
		}
	}
	return list
}

// run orders a command.
func (s *site) run(t *testing.T, r *rig, agent domain.Agent, line string, env map[string]string) domain.Command {
	t.Helper()
	c, err := r.engine.StartCommand(t.Context(), domain.CommandOrder{
		ID: domain.NewID(), ProjectID: s.project, AgentID: agent.ID, Command: line, Env: env, Timeout: time.Minute, Wait: time.Minute, UserID: domain.OwnerID,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func awaitCommand(t *testing.T, r *rig, id string) domain.Command {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := r.engine.AwaitCommand(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// commandLog gives what the log of a command has of a stream, and its last event.
func (r *rig) commandLog(t *testing.T, id, stream string) (text []byte, last domain.Event) {
	t.Helper()
	for e, err := range r.engine.FollowCommand(t.Context(), id, domain.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		last = e
		var piece struct {
			Stream string
			Text   string
			Data   []byte
		}
		if err := json.Unmarshal(e.Payload, &piece); err != nil {
			t.Fatal(err)
		}
		if e.Type == domain.EventCommandOutput && piece.Stream == stream {
			text = append(append(text, piece.Text...), piece.Data...)
		}
	}
	return text, last
}

// A machine is installed by the command that a person is shown, and runs commands: their
// output comes whole, byte by byte, and secrets reach them and nothing else. It can be removed.
func TestMachine(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	r := newRig(t, upgradeScript, machinesTOML(t, f.URL))
	s := newMachineSite(t, r, f)
	agent := s.install(t, r)
	if agent.Version == "" || !agent.Can("ack") || agent.Machine == "" {
		t.Errorf("it is known as %+v", agent)
	}

	c := awaitCommand(t, r, s.run(t, r, agent, `printf 'a\0b\377c\n'; echo oops >&2; exit 7`, nil).ID)
	if c.Status != domain.CommandDone || c.ExitCode == nil || *c.ExitCode != 7 || string(c.Stdout.Head) != "a\x00b\xffc\n" || string(c.Stderr.Head) != "oops\n" {
		t.Errorf("it ended as %+v, %q, %q", c, c.Stdout.Head, c.Stderr.Head)
	}
	if text, last := r.commandLog(t, c.ID, "stdout"); string(text) != "a\x00b\xffc\n" || last.Type != domain.EventCommandDone {
		t.Errorf("the log has %q, and ends with %s", text, last.Type)
	}

	long := awaitCommand(t, r, s.run(t, r, agent, `seq 1 2000000`, nil).ID)
	if long.Stdout.Bytes != 14888896 || len(long.Stdout.Head) != 1<<20 || !bytes.HasSuffix(long.Stdout.Tail, []byte("\n2000000\n")) {
		t.Errorf("of %d bytes are kept %d and …%q", long.Stdout.Bytes, len(long.Stdout.Head), long.Stdout.Tail[max(0, len(long.Stdout.Tail)-20):])
	}
	if text, _ := r.commandLog(t, long.ID, "stdout"); !bytes.Equal(text, long.Stdout.Head) {
		t.Errorf("the log has %d bytes, not those of the head", len(text))
	}
	s.secretsStayIn(t, r, agent)
	s.isRemoved(t, r, agent)
}

// secretsStayIn runs a command with a secret that it shows in two pieces.
func (s *site) secretsStayIn(t *testing.T, r *rig, agent domain.Agent) {
	t.Helper()
	const value = "correct-horse-battery"
	if _, err := r.secrets.Save(t.Context(), s.project, "LOCK", domain.NewSecretValue(value), domain.Author{UserID: domain.OwnerID}); err != nil {
		t.Fatal(err)
	}
	c := awaitCommand(t, r, s.run(t, r, agent, `test -n "$KEY" && printf "${KEY:0:9}"; sleep 0.5; printf "${KEY:9} done"`, map[string]string{"KEY": "secret://LOCK"}).ID)
	if got := string(c.Stdout.Head); got != "[secret LOCK] done" {
		t.Errorf("kept is %q", got)
	}
	if text, _ := r.commandLog(t, c.ID, "stdout"); string(text) != "[secret LOCK] done" {
		t.Errorf("the log has %q", text)
	}
	var rows int
	err := r.pool.QueryRow(t.Context(), "select count(*) from commands c where c::text like $1", "%"+value+"%").Scan(&rows)
	if err != nil || rows > 0 {
		t.Errorf("%d rows hold the value, %v", rows, err)
	}
}

// isRemoved removes the machine by the API: its agent takes itself away.
func (s *site) isRemoved(t *testing.T, r *rig, agent domain.Agent) {
	t.Helper()
	config := filepath.Join(s.root, "etc/harvest-agent/config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	token := regexp.MustCompile(`hva_[a-z2-7]+`).FindString(string(text))
	path := "/projects/" + s.project + "/agents/" + agent.ID
	if status, text := r.bearer(t, r.token, http.MethodDelete, path, ""); status != http.StatusOK {
		t.Errorf("remove: %d %s", status, text)
	}
	if status, text := r.bearer(t, r.token, http.MethodGet, path, ""); status != http.StatusNotFound {
		t.Errorf("then: %d %s", status, text)
	}
	if status, text := r.bearer(t, token, http.MethodPost, "/agent/ping", ""); token == "" || status != http.StatusUnauthorized {
		t.Errorf("its token %q is still good: %d %s", token, status, text)
	}
	deadline := time.Now().Add(patience)
	for tick := time.NewTicker(20 * time.Millisecond); len(processesOf(s.root)) > 0; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("still run: %v", processesOf(s.root))
		}
	}
	for _, path := range []string{config, filepath.Join(s.root, "usr/local/bin/harvest-agent"), filepath.Join(s.root, "var/lib/harvest-agent")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}

// Two servers on one database: a command that is given to one reaches an agent that is
// connected to the other; and one that runs when that server goes away ends at the first.
func TestMachineOfAnotherServer(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	text, on := machinesTOML(t, f.URL), testkit.Stack(t)
	here := runRig(t, rigConfig(t, upgradeScript, text), on)
	there := runRig(t, rigConfig(t, upgradeScript, text), on)
	s := newMachineSite(t, there, f)
	agent := s.install(t, here) // by the first one's command; the machine reaches the other
	held := func() (process string) {
		if err := here.pool.QueryRow(t.Context(), "select process_id from agent_connections where agent_id = $1", agent.ID).Scan(&process); err != nil {
			t.Fatal(err)
		}
		return process
	}
	other := held()
	var began int
	if err := here.pool.QueryRow(t.Context(), "select count(*) from processes where id = $1", other).Scan(&began); err != nil || began != 1 {
		t.Fatalf("the agent is connected to %q, which is no process: %v", other, err)
	}

	begun := time.Now()
	c := awaitCommand(t, here, s.run(t, here, agent, "echo hello", nil).ID)
	if c.Status != domain.CommandDone || string(c.Stdout.Head) != "hello\n" {
		t.Errorf("it ended as %+v", c)
	}
	t.Logf("from one server by the other to the machine and back: %s", time.Since(begun).Round(time.Millisecond))

	gate := filepath.Join(s.root, "gate")
	going := s.run(t, here, agent, fmt.Sprintf("echo begun; until [ -e %s ]; do sleep 0.05; done; echo ended", gate), nil)
	for e, err := range here.engine.FollowCommand(t.Context(), going.ID, domain.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == domain.EventCommandOutput {
			break
		}
	}
	f.lead(t, here.base)
	there.stop()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c = awaitCommand(t, here, going.ID)
	if c.Status != domain.CommandDone || string(c.Stdout.Head) != "begun\nended\n" {
		t.Errorf("it ended as %+v: %q", c, c.Stdout.Head)
	}
	if s.online(t, here); held() == other {
		t.Error("the agent is still said to be with the server that has gone")
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// runAgent runs the real agent against an address, with a token that is for one project, until
// it is killed or the test ends.
func runAgent(t *testing.T, server, token string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.toml")
	if err := os.WriteFile(path, []byte(fmt.Sprintf("server_url = %q\nagent_token = %q\nhostname = \"box\"\n", server, token)), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(realAgent(t), "run", "-c", path)
	cmd.Env, cmd.Dir = append(os.Environ(), "HOME="+dir, "PS1=$ "), dir
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the agent:\n%s", log.String())
		}
	})
	return cmd
}

// installToken makes a token by which a machine joins a project.
func (r *rig) installToken(t *testing.T, project string) string {
	t.Helper()
	token, hash := domain.NewMachineToken(domain.InstallTokenPrefix)
	err := r.store.AddInstallToken(t.Context(), domain.InstallToken{ID: domain.NewID(), ProjectID: project, Hash: hash, ExpiresAt: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// threeServers are three Harvests on one database, and an address at which an agent has its
// event stream at the second, and what it opens at the third.
func threeServers(t *testing.T) (servers [3]*rig, front string) {
	t.Helper()
	on := testkit.Stack(t)
	for i := range servers {
		servers[i] = runRig(t, rigConfig(t, upgradeScript, scriptedModel+"\n[temporal.codec.keys]\nshared = \""+firstKey+"\"\n"), on)
	}
	f := newFront(t)
	f.lead(t, servers[1].base)
	f.sessions.Store(address(t, servers[2].base))
	return servers, f.URL
}

// online waits until a project's machine is connected, and gives its id.
func online(t *testing.T, r *rig, project string) string {
	t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); <-time.After(20 * time.Millisecond) {
		var list []struct {
			ID     string
			Online bool
		}
		_, text := r.bearer(t, r.token, http.MethodGet, "/projects/"+project+"/agents", "")
		if json.Unmarshal([]byte(text), &list) == nil && len(list) == 1 && list[0].Online {
			return list[0].ID
		}
	}
	t.Fatal("the machine does not connect")
	return ""
}

// shell is a person's end of a console.
type shell struct {
	*websocket.Conn
	t     *testing.T
	shown strings.Builder
}

func openShell(t *testing.T, base, token, project, agent string) *shell {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, base+"/projects/"+project+"/agents/"+agent+"/console?cols=100&rows=30", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	if err != nil {
		t.Fatalf("open a console: %v, %v", err, resp)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	s := &shell{Conn: conn, t: t}
	if frame := s.frame(); frame.Type != agentwire.Ready {
		t.Fatalf("the console begins with %+v", frame)
	}
	return s
}

// frame gives the next text frame, and keeps what is shown before it.
func (s *shell) frame() (frame agentwire.Frame) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		kind, data, err := s.Read(ctx)
		if err != nil {
			s.t.Fatalf("read the console: %v; shown was %q", err, s.shown.String())
		}
		if kind == websocket.MessageText {
			if err := json.Unmarshal(data, &frame); err != nil {
				s.t.Fatal(err)
			}
			return frame
		}
		s.shown.Write(data)
	}
}

func (s *shell) types(line string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Write(ctx, websocket.MessageBinary, []byte(line)); err != nil {
		s.t.Fatal(err)
	}
}

// shows waits until the console has shown a text.
func (s *shell) shows(text string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for !strings.Contains(s.shown.String(), text) {
		_, data, err := s.Read(ctx)
		if err != nil {
			s.t.Fatalf("%q is not shown: %v; but %q", text, err, s.shown.String())
		}
		s.shown.Write(data)
	}
}

// A person at one server has a shell on a machine whose stream is at another, and whose answer
// comes to a third; and reaches its ports.
func TestSessionsAcrossServers(t *testing.T) {
	t.Parallel()
	servers, front := threeServers(t)
	home := servers[0]
	project := home.makes(t, home.token, "/projects", fmt.Sprintf(`{"name":"across","group_id":%q}`, home.group(t)))
	agent := runAgent(t, front, home.installToken(t, project))
	id := online(t, home, project)

	console := openShell(t, home.base, home.token, project, id)
	console.types("echo $((6*7))-$(stty size)\n")
	console.shows("42-30 100")
	if err := console.Write(t.Context(), websocket.MessageText, []byte(`{"type":"resize","cols":77,"rows":22}`)); err != nil {
		t.Fatal(err)
	}
	console.types("stty size\n")
	console.shows("22 77")
	console.types("exit 3\n")
	if frame := console.frame(); frame.Type != agentwire.ExitedWith || frame.Code == nil || *frame.Code != 3 {
		t.Errorf("it ends with %+v", frame)
	}
	if _, _, err := console.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("it closes with %v", err)
	}
	home.auditDetails(t, project, 2)
	home.forwards(t, project, id)

	last := openShell(t, home.base, home.token, project, id)
	if err := agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if frame := last.frame(); frame.Type != agentwire.FrameError || frame.Message != "the connection to box was cut off; the shell is ended with all that ran in it, so open a new console" {
		t.Errorf("as its agent dies the person is told %+v", frame)
	}
	details := home.auditDetails(t, project, 4)
	want := []string{
		"opened a console on box", "the shell ended with exit code 3", "opened a console on box", "the agent's connection was lost",
	}
	for i, text := range want {
		if !strings.Contains(details[i], text) {
			t.Errorf("noted is %q, want %q", details[i], text)
		}
	}
}

// forwards reaches a service on the machine, by a name.
func (r *rig) forwards(t *testing.T, project, agent string) {
	t.Helper()
	var connections sync.Map
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		connections.Store(q.RemoteAddr, true)
		if q.Header.Get("Upgrade") != "" {
			conn, err := websocket.Accept(w, q, nil)
			if err != nil {
				return
			}
			defer conn.CloseNow()
			kind, data, _ := conn.Read(q.Context())
			_ = conn.Write(q.Context(), kind, data)
			return
		}
		n, _ := io.Copy(io.Discard, q.Body)
		fmt.Fprintf(w, "%s %d %q", q.URL.Path, n, q.Header.Get("Authorization"))
	}))
	defer service.Close()
	port := service.Listener.Addr().(*net.TCPAddr).Port
	r.makes(t, r.token, "/projects/"+project+"/agents/"+agent+"/port-forwards", fmt.Sprintf(`{"port":%d,"route_name":"app"}`, port))
	at := r.base + domain.ForwardPath(agent, "app")
	for i := range 10 {
		body := strings.Repeat("x", i*100_000)
		req, err := http.NewRequest(http.MethodPost, at+strconv.Itoa(i), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+r.token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if want := fmt.Sprintf("/%d %d \"\"", i, len(body)); err != nil || string(text) != want {
			t.Errorf("%d: %s %q, %v; want %q", i, resp.Status, text, err, want)
		}
	}
	tunnels := 0
	connections.Range(func(any, any) bool { tunnels++; return true })
	// An answer may be whole a moment before its tunnel is free again: the next request opens
	// another one then, which is kept as well.
	if tunnels > 3 {
		t.Errorf("10 requests came by %d tunnels", tunnels)
	}
	conn, _, err := websocket.Dial(t.Context(), at+"ws", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + r.token}}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("echo")); err != nil {
		t.Fatal(err)
	}
	if _, data, err := conn.Read(t.Context()); err != nil || string(data) != "echo" {
		t.Errorf("%q comes back, %v", data, err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// group makes a group for a project.
func (r *rig) group(t *testing.T) string {
	t.Helper()
	g, err := r.store.CreateGroup(t.Context(), "group-"+domain.NewID(), "")
	if err != nil {
		t.Fatal(err)
	}
	return g.ID
}

// auditDetails waits for what is noted of a project's consoles, the first entry first.
func (r *rig) auditDetails(t *testing.T, project string, n int) (details []string) {
	t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); <-time.After(20 * time.Millisecond) {
		entries, err := r.store.AuditEntries(t.Context(), domain.AuditFilter{ProjectID: project, Route: "/projects/:pid/agents/:aid/console", Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) < n {
			continue
		}
		for i := len(entries) - 1; i >= 0; i-- {
			details = append(details, entries[i].Detail)
		}
		return details
	}
	t.Fatalf("fewer than %d entries are noted", n)
	return nil
}

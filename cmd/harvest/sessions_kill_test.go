package main

import (
	"context"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
)

// Of a console between two servers, either may be killed: the person hears of it where the
// agent's side dies, and the shell ends where the person's does.
func TestConsoleOfKilledServers(t *testing.T) {
	t.Parallel()
	first := newSplit(t)
	second := split{home: first.home, on: first.on, port: freePort(t)}
	second.tables = strings.Replace(first.tables, "port = "+strconv.Itoa(first.port), "port = "+strconv.Itoa(second.port), 1)
	second.configure(t, "serve-b", firstKey)
	one, two := first.start(t, "serve"), second.startAs(t, "serve", "serve-b")
	first.connect(t)
	token, err := readToken(filepath.Join(first.dir, "serve"))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{base: "http://127.0.0.1:" + strconv.Itoa(first.port), token: token}
	pool, err := postgres.Open(t.Context(), first.on.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	r.assembly = &assembly{pool: pool, store: postgres.NewStore(pool)}
	project := r.makes(t, token, "/projects", `{"name":"killed","group_id":"`+r.group(t)+`"}`)
	runAgent(t, "http://127.0.0.1:"+strconv.Itoa(second.port), r.installToken(t, project))
	id := online(t, r, project)

	console := openShell(t, r.base, token, project, id)
	console.types("echo up-$((1+1))\n")
	console.shows("up-2")
	if err := two.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if frame := console.frame(); frame.Type != agentwire.FrameError || frame.Message != "the connection to box was cut off; the shell is ended with all that ran in it, so open a new console" {
		t.Errorf("the person is told %+v", frame)
	}
	_, resp, err := websocket.Dial(t.Context(), r.base+"/projects/"+project+"/agents/"+id+"/console", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	if err == nil || resp == nil || resp.StatusCode != http.StatusBadGateway {
		t.Errorf("a console by a server that was killed: %v, %v", resp, err)
	}

	second.startAs(t, "serve", "serve-b")
	marker := "harvest-" + domain.NewID()
	again := r.shellOnceBack(t, project, id)
	again.types("exec -a " + marker + " sleep 600\n")
	running := func() bool { return exec.Command("pgrep", "-f", marker).Run() == nil }
	waitFor(t, "the shell runs", running)
	if err := one.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the shell ends", func() bool { return !running() })
}

// startAs runs a command with a configuration of another name.
func (s split) startAs(t *testing.T, verb, half string) *exec.Cmd {
	t.Helper()
	cmd := s.command(half, verb)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// shellOnceBack opens a shell as soon as its agent is connected to a server that lives.
func (r *rig) shellOnceBack(t *testing.T, project, id string) *shell {
	t.Helper()
	address := r.base + "/projects/" + project + "/agents/" + id + "/console"
	header := http.Header{"Authorization": {"Bearer " + r.token}}
	var found *shell
	waitFor(t, "the agent is back", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		conn, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPHeader: header})
		if err != nil {
			return false
		}
		found = &shell{Conn: conn, t: t}
		if found.frame().Type == agentwire.Ready {
			return true
		}
		_ = conn.CloseNow()
		return false
	})
	t.Cleanup(func() { _ = found.CloseNow() })
	return found
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(patience); !holds(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("it never comes that %s", what)
		}
	}
}

package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/creack/pty"
)

// shell answers for a machine at the other end of a console.
func (m *machines) shell(t *testing.T, serve func(ctx context.Context, conn *websocket.Conn)) {
	m.HandleFunc("GET "+ofWeb1+"/console", func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow() //nolint:errcheck // it is over by then
		serve(r.Context(), conn)
	})
}

// at runs a command at a terminal at which somebody has typed this already, and gives what it
// says beside it.
func (p *teamProgram) at(want int, keys string, args ...string) string {
	p.t.Helper()
	errs, err := os.Create(filepath.Join(p.dir, "errs"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer errs.Close()
	tty := typing(p.t, keys)
	if err := pty.Setsize(tty, &pty.Winsize{Cols: 91, Rows: 37}); err != nil {
		p.t.Fatal(err)
	}
	prog := &program{dataDir: filepath.Join(p.dir, "data"), in: tty, out: tty, errs: errs,
		env: func(name string) (string, bool) { value, ok := p.env[name]; return value, ok }}
	code := prog.run(p.t.Context(), args)
	text, err := os.ReadFile(errs.Name())
	if code != want || err != nil {
		p.t.Errorf("harvest %s: %d, %v\n%s", strings.Join(args, " "), code, err, text)
	}
	return string(text)
}

func TestConsole(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	var typed []byte
	m.shell(t, func(ctx context.Context, conn *websocket.Conn) {
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"ready"}`))
		_ = conn.Write(ctx, websocket.MessageBinary, []byte("$ "))
		for !strings.Contains(string(typed), "exit 4\n") {
			kind, data, err := conn.Read(ctx)
			if err != nil || kind != websocket.MessageBinary {
				t.Errorf("%v, %v %q", err, kind, data)
				return
			}
			typed = append(typed, data...)
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
			t.Error(err)
		}
		if kind, data, err := conn.Read(ctx); err != nil || kind != websocket.MessageText || string(data) != `{"type":"resize","cols":91,"rows":37}` {
			t.Errorf("a resize is %q, %v", data, err)
		}
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"exited","code":4}`))
		_, _, _ = conn.Read(ctx)
	})
	if said := ada.at(4, "exit 4\n", "agents", "console", "web1"); said != "" {
		t.Errorf("it says %q", said)
	}
	m.wants(t, "GET "+ofWeb1+"/console?cols=91&rows=37")
}

func TestAConsoleThatIsLeft(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.shell(t, func(ctx context.Context, conn *websocket.Conn) {
		for _, _, err := conn.Read(ctx); err == nil; _, _, err = conn.Read(ctx) {
		}
	})
	if said := ada.at(exitStopped, "~.\n", "agents", "console", "web1"); !strings.Contains(said, "left the console") {
		t.Errorf("it says %q", said)
	}
}

func TestConsolesThatDoNotOpen(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.answer("GET /projects/p1/agents/a2/console", `502 upstream: box is not connected; start harvest-agent there`)
	ada.says(exitFailed, "", []string{"needs a terminal", "harvest run box -- COMMAND"}, "agents", "console", "box")
	if said := ada.at(exitFailed, "", "agents", "console", "box"); !strings.Contains(said, "box is not connected; start harvest-agent there") {
		t.Errorf("it says %q", said)
	}
	m.shell(t, func(ctx context.Context, conn *websocket.Conn) {
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"error","message":"the shell did not come\u001b[2J in time"}`))
	})
	if said := ada.at(exitFailed, "", "agents", "console", "web1"); !strings.Contains(said, "did not come") || strings.Contains(said, "\x1b") {
		t.Errorf("it says %q", said)
	}
}

func TestAConsoleThatIsCutOff(t *testing.T) {
	t.Parallel()
	m, ada := newMachines(t)
	m.shell(t, func(context.Context, *websocket.Conn) {})
	if said := ada.at(exitFailed, "", "agents", "console", "web1"); !strings.Contains(said, "cut off") {
		t.Errorf("it says %q", said)
	}
}

package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// sessions gives the connections that the agent opens for sessions, by their paths.
func (s *server) sessions(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+permanentToken {
		refuse(w, http.StatusUnauthorized, "unauthorized", "the token is not known")
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		s.t.Errorf("accept a session: %v", err)
		return
	}
	conn.SetReadLimit(-1)
	s.mu.Lock()
	s.claimed[r.URL.Path] = conn
	s.change()
	s.mu.Unlock()
	<-s.over // the connection is the test's
}

func (s *server) session(path string) *websocket.Conn {
	s.t.Helper()
	var conn *websocket.Conn
	s.until("the session "+path, func() bool {
		conn = s.claimed[path]
		return conn != nil
	})
	s.t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

func (s *server) console(id string) *websocket.Conn {
	s.t.Helper()
	s.send(agentwire.Message{Type: agentwire.OpenShell, SessionID: id, Cols: 100, Rows: 30})
	conn := s.session("/agent/console/" + id)
	if kind, text := read(s.t, conn); kind != websocket.MessageText || text != `{"type":"ready"}` {
		s.t.Fatalf("the first frame is %s", text)
	}
	return conn
}

func read(t *testing.T, conn *websocket.Conn) (websocket.MessageType, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	kind, text, err := conn.Read(ctx)
	if err != nil {
		t.Fatalf("read a frame: %v", err)
	}
	if len(text) > agentwire.MaxFrame {
		t.Errorf("a frame has %d bytes", len(text))
	}
	return kind, string(text)
}

// shows reads until the terminal has shown text, and gives all that it showed.
func shows(t *testing.T, conn *websocket.Conn, text string) string {
	t.Helper()
	var all strings.Builder
	for !strings.Contains(all.String(), text) {
		kind, part := read(t, conn)
		if kind != websocket.MessageBinary {
			t.Fatalf("before %q was shown came %s, after %q", text, part, all.String())
		}
		all.WriteString(part)
	}
	return all.String()
}

func types(t *testing.T, conn *websocket.Conn, text string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageBinary, []byte(text)); err != nil {
		t.Fatalf("type %q: %v", text, err)
	}
}

func TestConsole(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start("HARVEST_COMMAND_ID=another")
	conn := s.console("s1")
	types(t, conn, "PS1=; stty -echo; echo size $(stty size) $TERM $0\n")
	shows(t, conn, "size 30 100 xterm-256color -")
	types(t, conn, "echo id ${HARVEST_COMMAND_ID:-no''ne}\n")
	shows(t, conn, "id none") // else what ends that command would end the console
	for _, frame := range []string{`{"type":"resize","cols":132,"rows":50}`, `{"type":"strange"}`, `no JSON`} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	types(t, conn, "echo size $(stty size); tty; sleep 0\n")
	shows(t, conn, "size 50 132")
	types(t, conn, `bash -c 'trap "exit 7" INT; echo wai''ting; while :; do sleep 0.02; done'; echo interrupted $?`+"\n")
	shows(t, conn, "waiting")
	types(t, conn, "\x03")
	shows(t, conn, "interrupted 7")
	types(t, conn, "setsid sleep 1001 & exit 42\n")
	kind, last := read(t, conn)
	for kind == websocket.MessageBinary {
		kind, last = read(t, conn)
	}
	if last != `{"type":"exited","code":42}` {
		t.Errorf("the last frame is %s", last)
	}
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("it was closed by %v", err)
	}
	d.nothingLeft()
}

func TestClosedConsoleLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*daemon, *websocket.Conn){
		"closed":               func(_ *daemon, conn *websocket.Conn) { _ = conn.Close(websocket.StatusNormalClosure, "") },
		"cut off":              func(_ *daemon, conn *websocket.Conn) { _ = conn.CloseNow() },
		"the agent stopped":    func(d *daemon, _ *websocket.Conn) { d.stop() },
		"the agent was killed": func(d *daemon, _ *websocket.Conn) { d.kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			d := newDaemon(t, s)
			d.start()
			conn := s.console("s1")
			types(t, conn, nasty(d, "trap '' HUP TERM"))
			d.file(filepath.Join(d.folder, "up"))
			if n := len(d.running()); n < 8 {
				t.Errorf("only %d processes are there to be ended", n)
			}
			end(d, conn)
			d.nothingLeft()
		})
	}
}

// Typing hangs in a shell that reads nothing. That nobody is there any more is seen by what it
// shows, and where it shows nothing, because the rest of what was typed is lost in the end.
func TestConsoleCutOffAmidTypingLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"a shell that writes": "while :; do echo more; done", "a shell that does nothing": "exec sleep 5000"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			d := newDaemon(t, s)
			d.start()
			conn := s.console("s1")
			types(t, conn, "stty raw -echo; echo x > "+d.folder+"/up; "+line+"\n")
			d.file(filepath.Join(d.folder, "up"))
			ctx, stop := context.WithTimeout(t.Context(), time.Second) // far more than anybody takes; it closes the connection
			defer stop()
			for conn.Write(ctx, websocket.MessageBinary, make([]byte, agentwire.MaxFrame)) == nil {
			}
			_ = conn.CloseNow()
			d.nothingLeft()
		})
	}
}

func TestConsoleThatNobodyReadsWaits(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	conn := s.console("s1")
	types(t, conn, "PS1=; stty -echo -onlcr; head -c 200000000 /dev/zero | tr '\\0' 'a'; echo x > "+d.folder+"/shown; echo behind\n")
	before := peak(t, d.cmd.Process.Pid)
	// Far less than all of it is shown while nobody reads, and then all of it is.
	var seen int
	for seen < 1<<20 {
		_, part := read(t, conn)
		seen += strings.Count(part, "a")
	}
	if names, _ := filepath.Glob(filepath.Join(d.folder, "shown")); len(names) > 0 {
		t.Error("the shell went on, though nobody read")
	}
	for {
		kind, part := read(t, conn)
		if kind != websocket.MessageBinary {
			t.Fatalf("there came %s", part)
		}
		seen += strings.Count(part, "a")
		if strings.Contains(part, "behind") {
			break
		}
	}
	if seen < 200000000 || seen > 200000000+1000 {
		t.Errorf("%d of 200,000,000 bytes were shown", seen)
	}
	if grown := peak(t, d.cmd.Process.Pid) - before; grown > 32<<20 {
		t.Errorf("the agent grew by %d KiB", grown>>10)
	}
}

// However many sessions there were, it is those that are open that count.
func TestPlacesOfSessionsAreFreeAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()
	for i := range 260 {
		id := fmt.Sprintf("t%d", i)
		s.send(agentwire.Message{Type: agentwire.OpenTunnel, SessionID: id})
		conn := s.session("/agent/tunnel/" + id)
		if _, first := read(t, conn); !strings.Contains(first, "0 is no port") {
			t.Fatalf("of tunnel %d the first frame is %s", i, first)
		}
		_, _, _ = conn.Read(t.Context()) // its end, which is answered
	}
}

func TestTunnel(t *testing.T) {
	t.Parallel()
	target, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close() })
	_, text, _ := net.SplitHostPort(target.Addr().String())
	port, _ := strconv.Atoi(text)
	s := newServer(t)
	d := newDaemon(t, s)
	d.start()

	tunnel := func(id string, port int) (*websocket.Conn, string) {
		s.send(agentwire.Message{Type: agentwire.OpenTunnel, SessionID: id, Port: port})
		conn := s.session("/agent/tunnel/" + id)
		_, first := read(t, conn)
		return conn, first
	}
	t.Run("both ways", func(t *testing.T) {
		conn, first := tunnel("t1", port)
		if first != `{"type":"connected"}` {
			t.Fatalf("the first frame is %s", first)
		}
		far, err := target.Accept()
		if err != nil {
			t.Fatal(err)
		}
		stream := websocket.NetConn(t.Context(), conn, websocket.MessageBinary)
		sent := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
		go func() {
			_, _ = io.Copy(far, io.LimitReader(far, int64(len(sent)))) // an echo
			_, _ = far.Write([]byte("the end"))
			_ = far.Close()
		}()
		go func() { _, _ = stream.Write(sent) }()
		got, err := io.ReadAll(stream)
		if err != nil || string(got) != string(sent)+"the end" {
			t.Errorf("of %d bytes %d came back, and %v", len(sent), len(got), err)
		}
	})
	t.Run("what was sent before the end arrives", func(t *testing.T) {
		conn, _ := tunnel("t2", port)
		far, err := target.Accept()
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = far.Write(make([]byte, 1<<20)) }() // what nobody will read
		sent := bytes.Repeat([]byte("x"), 50_000)
		if err := conn.Write(t.Context(), websocket.MessageBinary, sent); err != nil {
			t.Fatal(err)
		}
		go func() { _ = conn.Close(websocket.StatusNormalClosure, "") }()
		_ = far.SetReadDeadline(time.Now().Add(patience))
		got, err := io.ReadAll(far)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("of %d bytes %d arrived, and %v", len(sent), len(got), err)
		}
	})
	t.Run("a broken connection is no end", func(t *testing.T) {
		conn, _ := tunnel("t3", port)
		far, err := target.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = far.(*net.TCPConn).SetLinger(0)
		_ = far.Close()
		if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusInternalError {
			t.Errorf("it was closed by %v", err)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		_ = target.Close()
		for i, port := range []int{port, 0, 70000} {
			_, first := tunnel(fmt.Sprintf("t4-%d", i), port)
			var frame agentwire.Frame
			if json.Unmarshal([]byte(first), &frame) != nil || frame.Type != agentwire.FrameError || frame.Message == "" {
				t.Errorf("the first frame is %s", first)
			}
		}
	})
}

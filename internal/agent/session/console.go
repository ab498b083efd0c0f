package session

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agent/shim"
	"github.com/harvest-engine/harvest/internal/agentwire"
)

// exited is the last frame of a console; its code is null where there is none.
type exited struct {
	Type agentwire.FrameType `json:"type"`
	Code *int                `json:"code"`
}

// Console opens a shell and carries it until it ends, the connection does, or ctx. All that
// descends from the shell is ended then.
func (h *Host) Console(ctx context.Context, id string, cols, rows int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, leave := h.claim(ctx, "/agent/console/"+id, h.consoles)
	if conn == nil {
		return
	}
	defer leave()
	defer func() { _ = conn.CloseNow() }()
	tty, err := openTerminal(cols, rows)
	if err != nil {
		refuse(ctx, conn, err.Error())
		return
	}
	defer tty.master.Close()
	shell, err := shim.StartConsole(tty.slave, h.shell(), h.Errs)
	_ = tty.slave.Close() // the shell has it; without this the master would never end
	if err != nil {
		refuse(ctx, conn, err.Error())
		return
	}
	say(ctx, conn, agentwire.Frame{Type: agentwire.Ready})
	shown, typed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(shown)
		if !tty.showing(ctx, conn) {
			cancel() // typing may hang in a shell that takes nothing, and not see that nobody is there
		}
	}()
	go func() {
		defer close(typed)
		defer cancel() // the connection is gone: nothing more is shown
		tty.typing(ctx, conn)
	}()
	select {
	case code := <-shell.Code:
		tty.finish(shown)
		say(ctx, conn, exited{Type: agentwire.ExitedWith, Code: code})
		_ = conn.Close(websocket.StatusNormalClosure, "")
	case <-ctx.Done():
		_ = tty.master.Close() // a hang-up first, and then all that is left
		shell.End()
		<-shell.Code
	}
	_ = conn.CloseNow()
	_ = tty.master.Close()
	<-shown
	<-typed
}

// finish waits until all is shown of a shell that has ended. That comes at once but where a
// process that did not descend from it has the terminal.
func (t *terminal) finish(shown <-chan struct{}) {
	last := time.AfterFunc(goodbyeFor, func() { _ = t.master.SetReadDeadline(time.Now()) })
	defer last.Stop()
	<-shown
}

// showing sends what the terminal shows until it has ended, which it does once no process
// has it. Where the connection takes no more, the shell waits; it is false where the
// connection has ended.
func (t *terminal) showing(ctx context.Context, conn *websocket.Conn) bool {
	stop := context.AfterFunc(ctx, func() { _ = t.master.SetReadDeadline(time.Now()) })
	defer stop()
	buffer := make([]byte, agentwire.MaxFrame)
	for {
		n, err := t.master.Read(buffer)
		if n > 0 {
			if conn.Write(ctx, websocket.MessageBinary, buffer[:n]) != nil {
				return false
			}
		}
		if err != nil {
			return true
		}
	}
}

// A shell that takes nothing for deafAfter loses what is typed, as on any terminal whose buffer
// is full, until it takes something again: what is behind in the connection, its end too, would
// not be seen otherwise.
const (
	deafAfter = 10 * time.Second
	deafTries = 10 * time.Millisecond
)

// typing types what comes, until the connection ends. Where the shell takes no more, the
// connection waits, for a while.
func (t *terminal) typing(ctx context.Context, conn *websocket.Conn) {
	patience := deafAfter
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if kind == websocket.MessageBinary {
			patience = t.typed(data, patience)
			continue
		}
		var frame agentwire.Frame
		if json.Unmarshal(data, &frame) == nil && frame.Type == agentwire.Resize {
			_ = t.resize(frame.Cols, frame.Rows) // a terminal that has ended has no size
		}
	}
}

// typed types some bytes, and gives how long to wait for the shell to take the next ones.
func (t *terminal) typed(data []byte, patience time.Duration) time.Duration {
	_ = t.master.SetWriteDeadline(time.Now().Add(patience))
	n, err := t.master.Write(data) // to a shell that has ended nothing can be typed
	if errors.Is(err, os.ErrDeadlineExceeded) && n == 0 {
		return deafTries
	}
	return deafAfter
}

// shell says which login shell is opened.
func (h *Host) shell() shim.ConsoleSpec {
	path := loginShell(strconv.Itoa(os.Getuid()))
	env := slices.DeleteFunc(slices.Clone(h.Env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == "TERM" || name == "SHELL" || name == shim.Marker
	})
	home := "/"
	for _, entry := range env {
		if folder, ok := strings.CutPrefix(entry, "HOME="); ok {
			if info, err := os.Stat(folder); err == nil && info.IsDir() {
				home = folder
			}
		}
	}
	return shim.ConsoleSpec{
		Shell: path, Name: "-" + filepath.Base(path), Folder: home,
		Env: append(env, "TERM=xterm-256color", "SHELL="+path),
	}
}

// loginShell gives the shell of a user by /etc/passwd, or the first of the usual ones that
// is there.
func loginShell(uid string) string {
	text, _ := os.ReadFile("/etc/passwd") // none: the usual shells then
	candidates := []string{"/bin/bash", "/usr/bin/bash"}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) == 7 && fields[2] == uid {
			candidates = append([]string{fields[6]}, candidates...)
			break
		}
	}
	for _, path := range candidates {
		info, err := os.Stat(path)
		base := filepath.Base(path)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && base != "nologin" && base != "false" {
			return path
		}
	}
	return "/bin/sh"
}

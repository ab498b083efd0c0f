package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// frameLimit is how long a frame may take to be sent: a connection that takes none for so long
// is dead.
const frameLimit = time.Minute

func (p *program) consoleCommand() *cobra.Command {
	return p.onAgent(&cobra.Command{
		Use: "console MACHINE", Short: "Open a shell on a machine", Args: oneMachine,
		Long: `Opens a shell on a machine, here on this terminal; its exit code is handed on. Who opened a
console, and when, is noted in the audit; what is typed is not.

~. at the beginning of a line leaves a console that does not answer any more.`,
		Example: "  harvest agents console web1",
	}, func(ctx context.Context, api *client.Client, a client.Agent, _ []string) error {
		if !term.IsTerminal(int(p.in.Fd())) || !term.IsTerminal(int(p.out.Fd())) {
			return domain.Errorf(domain.CodeInvalid, "a console needs a terminal, and the standard input or output is none; for a single command write: harvest run %s -- COMMAND", domain.Visible(a.Hostname))
		}
		return p.console(ctx, api, a)
	})
}

// console is a terminal at the end of a connection to a shell.
type console struct {
	conn *websocket.Conn
	file *os.File // the terminal
	out  io.Writer
}

func (p *program) console(ctx context.Context, api *client.Client, a client.Agent) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	cols, rows, err := term.GetSize(int(p.out.Fd()))
	if err != nil || cols < 1 || rows < 1 {
		cols, rows = domain.DefaultCols, domain.DefaultRows
	}
	conn, err := api.Console(ctx, a, cols, rows)
	if err != nil {
		return err
	}
	defer conn.CloseNow() //nolint:errcheck // it is over by then
	c := console{conn: conn, file: p.out, out: p.out}
	changed := make(chan os.Signal, 1)
	resized := func() { // it may have been, while the program was stopped
		select {
		case changed <- syscall.SIGWINCH:
		default:
		}
	}
	tty, err := borrow(p.in, resized)
	if err != nil {
		return err
	}
	defer tty.giveBack()
	if err := tty.raw(); err != nil {
		return err
	}
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	go c.resizes(ctx, changed)
	go func() {
		c.keys(ctx, p.in)
		leave()
	}()
	err = c.output(ctx)
	if ctx.Err() != nil && err != nil {
		err = exitError{exitStopped, errors.New("left the console")}
	}
	tty.giveBack() // the other end may take its time
	_ = conn.Close(websocket.StatusNormalClosure, "")
	return err
}

var errCutOff = domain.Errorf(domain.CodeUpstream, "the connection to the server was cut off; the shell is ended with all that ran in it, so open a new console")

// output shows what the shell writes, up to its end.
func (c console) output(ctx context.Context) error {
	for {
		kind, data, err := c.conn.Read(ctx)
		if err != nil {
			return errCutOff
		}
		if kind == websocket.MessageBinary {
			if _, err := c.out.Write(data); err != nil {
				return fmt.Errorf("write to the terminal: %w", err)
			}
			continue
		}
		var frame agentwire.Frame
		if err := json.Unmarshal(data, &frame); err != nil {
			return fmt.Errorf("read a frame of the console: %w", err)
		}
		switch frame.Type {
		case agentwire.FrameError:
			return domain.Errorf(domain.CodeUpstream, "%s", domain.VisibleFault(frame.Message))
		case agentwire.ExitedWith:
			return shellEnd(frame.Code)
		}
	}
}

func shellEnd(code *int) error {
	switch {
	case code == nil:
		return domain.Errorf(domain.CodeUpstream, "the shell ended without an exit code")
	case *code == 0:
		return nil
	}
	return exitError{code: *code}
}

// keys sends what is typed until nothing comes any more, or who types leaves.
func (c console) keys(ctx context.Context, in io.Reader) {
	typed := make([]byte, agentwire.MaxFrame/2)
	var left leaving
	for {
		n, err := in.Read(typed)
		keys, leave := left.filter(typed[:n])
		if len(keys) > 0 && c.send(ctx, websocket.MessageBinary, keys) != nil || err != nil || leave {
			return
		}
	}
}

func (c console) send(ctx context.Context, kind websocket.MessageType, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, frameLimit)
	defer cancel()
	return c.conn.Write(ctx, kind, data)
}

// resizes tells of each new size of the terminal.
func (c console) resizes(ctx context.Context, changed <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		cols, rows, err := term.GetSize(int(c.file.Fd()))
		if err != nil || cols < 1 || rows < 1 {
			continue
		}
		frame, err := json.Marshal(agentwire.Frame{Type: agentwire.Resize, Cols: cols, Rows: rows})
		if err != nil || c.send(ctx, websocket.MessageText, frame) != nil {
			return
		}
	}
}

// leaving finds "~." at the beginning of a line of what is typed.
type leaving struct {
	midLine bool
	tilde   bool // was typed at the beginning of a line, and is held back
}

// filter gives what is to be sent of what was typed; leave where the rest is not to be.
func (l *leaving) filter(typed []byte) (keys []byte, leave bool) {
	for _, key := range typed {
		switch {
		case l.tilde && key == '.':
			return keys, true
		case l.tilde:
			l.tilde = false
			keys = append(keys, '~')
			if key == '~' { // twice is one
				l.midLine = true
				continue
			}
		case !l.midLine && key == '~':
			l.tilde = true
			continue
		}
		keys = append(keys, key)
		l.midLine = key != '\r' && key != '\n'
	}
	return keys, false
}

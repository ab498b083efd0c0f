package lxd

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// streamPatience is how long output may go on to come once the command has ended.
	streamPatience = 5 * time.Second
	stdinPiece     = 32 << 10
)

// The websockets of an exec.
const (
	fdStdin   = "0"
	fdStdout  = "1"
	fdStderr  = "2"
	fdControl = "control"
)

// killSignal ends a command whose caller has gone.
const killSignal = `{"command":"signal","signal":9}`

// ExecInstance implements InstanceServer.
func (c *Client) ExecInstance(ctx context.Context, name string, e Exec) (int, error) {
	doing := "run a command in the container " + name
	op, info, err := c.begin(ctx, call{
		doing: doing, method: http.MethodPost, path: []string{"instances", name, "exec"},
		body: map[string]any{
			"command": e.Command, "environment": e.Environment, "interactive": false, "wait-for-websocket": true,
		},
	})
	if err != nil {
		return 0, err
	}
	x := &execution{client: c, op: op, secrets: info.Metadata.FDs, exec: e}
	defer x.close()
	if err := x.connect(ctx); err != nil {
		_ = op.abandon(ctx) // it waits for its websockets, and must not run later
		return 0, err
	}
	return x.run(ctx)
}

// execution is a command that runs in an instance.
type execution struct {
	client  *Client
	op      *operation
	secrets map[string]string // of the websockets
	exec    Exec
	sockets map[string]*websocket.Conn
}

// connect opens the websockets: the command begins once all are there.
func (x *execution) connect(ctx context.Context) error {
	x.sockets = map[string]*websocket.Conn{}
	for _, fd := range []string{fdControl, fdStdin, fdStdout, fdStderr} {
		secret, ok := x.secrets[fd]
		if !ok {
			return domain.Errorf(domain.CodeUpstream, "LXD could not %s: it named no websocket for %s", x.op.doing, fd)
		}
		short, stop := context.WithTimeout(ctx, x.client.limit)
		u := x.client.address([]string{"operations", x.op.id, "websocket"}, url.Values{"secret": {secret}})
		conn, _, err := websocket.Dial(short, u.String(), &websocket.DialOptions{HTTPClient: x.client.http})
		stop()
		if err != nil {
			return x.client.unreachable(ctx, x.op.doing, redacted(err, secret))
		}
		conn.SetReadLimit(-1)
		x.sockets[fd] = conn
	}
	return nil
}

// redactedError is an error without a secret of its text.
type redactedError struct{ text string }

func (e redactedError) Error() string { return e.text }

func redacted(err error, secret string) error {
	return redactedError{strings.ReplaceAll(err.Error(), secret, "…")}
}

// run feeds the command, takes what it writes, and gives its exit code.
func (x *execution) run(ctx context.Context) (int, error) {
	streams, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var readers sync.WaitGroup
	var lock sync.Mutex // where both streams go to one writer
	readers.Go(func() { drain(streams, x.sockets[fdStdout], x.exec.Stdout, &lock) })
	readers.Go(func() { drain(streams, x.sockets[fdStderr], x.exec.Stderr, &lock) })
	var feeder sync.WaitGroup
	feeder.Go(func() { feed(streams, x.sockets[fdStdin], x.exec.Stdin) })
	kill := context.AfterFunc(ctx, func() {
		_ = x.sockets[fdControl].Write(streams, websocket.MessageText, []byte(killSignal)) // or it ends with the websockets
	})
	defer kill()
	info, err := x.op.Wait(ctx)
	if err == nil {
		late := time.AfterFunc(streamPatience, stop) // what it left behind may hold the streams open
		defer late.Stop()
		readers.Wait()
	}
	stop()
	readers.Wait()
	feeder.Wait()
	switch {
	case err != nil:
		return 0, err
	case info.Metadata.Return == nil:
		return 0, domain.Errorf(domain.CodeUpstream, "LXD could not %s: it told no exit code", x.op.doing)
	}
	return *info.Metadata.Return, nil
}

// drain takes what comes until the end of the stream: an empty text, or the end of the
// connection.
func drain(ctx context.Context, conn *websocket.Conn, to io.Writer, lock *sync.Mutex) {
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil || kind == websocket.MessageText && len(data) == 0 {
			return
		}
		if to != nil {
			lock.Lock()
			_, _ = to.Write(data) // it is the caller's memory
			lock.Unlock()
		}
	}
}

// feed sends the input, and tells where it ends. A command that does not read it ends it.
func feed(ctx context.Context, conn *websocket.Conn, from io.Reader) {
	for piece := make([]byte, stdinPiece); from != nil; {
		n, err := from.Read(piece)
		if n > 0 && conn.Write(ctx, websocket.MessageBinary, piece[:n]) != nil {
			return
		}
		if err != nil {
			break
		}
	}
	_ = conn.Write(ctx, websocket.MessageText, nil)
}

func (x *execution) close() {
	for _, conn := range x.sockets {
		_ = conn.CloseNow()
	}
}

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// dialFor is how long a port of this machine may take to be reached.
const dialFor = 10 * time.Second

// Tunnel carries bytes between the server and a port of this machine's loopback interface,
// until either end closes. The end of what the port sends closes the tunnel behind its last
// byte; once the server has closed it, the port is still given what came before.
func (h *Host) Tunnel(ctx context.Context, id string, port int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dialed := make(chan target, 1)
	go func() { dialed <- dial(ctx, port) }()
	conn, leave := h.claim(ctx, "/agent/tunnel/"+id, h.tunnels)
	reached := <-dialed
	if reached.conn != nil {
		defer reached.conn.Close()
	}
	if conn == nil {
		return
	}
	defer leave()
	defer func() { _ = conn.CloseNow() }()
	if reached.err != nil {
		refuse(ctx, conn, reached.err.Error())
		return
	}
	defer context.AfterFunc(ctx, func() { _ = reached.conn.Close() })()
	say(ctx, conn, agentwire.Frame{Type: agentwire.Connected})
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		send(ctx, conn, reached.conn)
	}()
	receive(ctx, conn, reached.conn)
	// Nobody takes what the port still sends. It is read all the same, for a moment: a
	// connection that is closed with bytes unread takes with it what the port has not read.
	_ = reached.conn.CloseWrite()
	_ = reached.conn.SetReadDeadline(time.Now().Add(goodbyeFor))
	<-sent
}

type target struct {
	conn *net.TCPConn
	err  error
}

func dial(ctx context.Context, port int) target {
	if port < 1 || port > 65535 {
		return target{err: fmt.Errorf("%d is no port", port)}
	}
	dialer := net.Dialer{Timeout: dialFor}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return target{err: err}
	}
	return target{conn: conn.(*net.TCPConn)}
}

// send passes on what the port sends, and closes the tunnel with its end: normally, or with
// an error where the port's connection broke.
func send(ctx context.Context, conn *websocket.Conn, from net.Conn) {
	buffer := make([]byte, agentwire.MaxFrame)
	for broken := false; ; {
		n, err := from.Read(buffer)
		if n > 0 && !broken {
			broken = conn.Write(ctx, websocket.MessageBinary, buffer[:n]) != nil
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			_ = conn.Close(websocket.StatusNormalClosure, "")
			return
		default:
			_ = conn.Close(websocket.StatusInternalError, "the connection to the port broke")
			return
		}
	}
}

// receive passes on to the port what comes, until the tunnel or the port's end is closed.
func receive(ctx context.Context, conn *websocket.Conn, to net.Conn) {
	conn.SetReadLimit(-1) // what is larger than a frame is passed on in pieces
	buffer := make([]byte, agentwire.MaxFrame)
	for {
		kind, data, err := conn.Reader(ctx)
		if err != nil {
			return
		}
		var into io.Writer = to
		if kind != websocket.MessageBinary {
			into = io.Discard // of a newer server
		}
		if _, err := io.CopyBuffer(struct{ io.Writer }{into}, data, buffer); err != nil {
			return
		}
	}
}

package uplink

import (
	"context"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"
)

// stuckFor is how long bytes of a session may stay unacknowledged. It is long, since the
// other end of a console may be a person who has stopped the output.
const stuckFor = 5 * time.Minute

// Session opens a WebSocket for a console or a tunnel. ctx bounds the opening alone.
func (c *Client) Session(ctx context.Context, path string) (*websocket.Conn, error) {
	header := http.Header{}
	c.authorize(header)
	conn, response, err := websocket.Dial(ctx, c.base.String()+path, &websocket.DialOptions{HTTPClient: c.sessions, HTTPHeader: header})
	if err != nil && response != nil && response.StatusCode != http.StatusSwitchingProtocols {
		return nil, &StatusError{Status: response.StatusCode}
	}
	return conn, err
}

// sessionTransport notices by itself that the other end is gone: nothing is sent at times, so
// that no deadline tells.
func (c *Client) sessionTransport() *http.Transport {
	transport := c.transport()
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAliveConfig: keepAlive, Control: limitStuck}
	transport.DialContext = dialer.DialContext
	transport.DisableKeepAlives = true
	return transport
}

func limitStuck(network, _ string, raw syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(stuckFor.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}

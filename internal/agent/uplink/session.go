package uplink

import (
	"context"
	"net/http"

	"github.com/coder/websocket"
)

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

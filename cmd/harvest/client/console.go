package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// Console opens a shell on a machine, for a terminal of that size in characters. The frames
// are those of the wire's consoles. Close the connection in the end.
func (c *Client) Console(ctx context.Context, a Agent, cols, rows int) (*websocket.Conn, error) {
	size := url.Values{"cols": {strconv.Itoa(cols)}, "rows": {strconv.Itoa(rows)}}
	address := "ws" + strings.TrimPrefix(c.base, "http") + agentPath(a, "console") + "?" + size.Encode()
	conn, response, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient: c.http, HTTPHeader: http.Header{"Authorization": {"Bearer " + c.token}},
	})
	switch {
	case err == nil:
		conn.SetReadLimit(2 * agentwire.MaxFrame)
		return conn, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case response != nil && response.StatusCode >= 300:
		return nil, refusal(response)
	case response != nil:
		return nil, fmt.Errorf("open the console: %w", err)
	}
	return nil, c.away(err)
}

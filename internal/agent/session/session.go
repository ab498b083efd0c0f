// Package session carries consoles and tunnels: the server tells the agent to open one, and
// the agent connects for it with a WebSocket of its own.
package session

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// maxSessions bounds the sessions of a kind; more are refused, so that a machine has
// processes and descriptors left for what it is there for.
const maxSessions = 256

// goodbyeFor is how long an end is waited for that closes.
const goodbyeFor = 5 * time.Second

// Host opens sessions on this machine.
type Host struct {
	// Dial connects to a path of the server.
	Dial func(ctx context.Context, path string) (*websocket.Conn, error)
	Env  []string // of shells
	Log  *slog.Logger
	Errs *os.File // of the shims of consoles

	consoles, tunnels chan struct{}
}

// New makes a host.
func New(host Host) *Host {
	host.consoles, host.tunnels = make(chan struct{}, maxSessions), make(chan struct{}, maxSessions)
	return &host
}

// claim connects for a session; nil where that fails or there are too many, which is told.
func (h *Host) claim(ctx context.Context, path string, places chan struct{}) (conn *websocket.Conn, leave func()) {
	limited, cancel := context.WithTimeout(ctx, agentwire.ClaimWithin)
	defer cancel()
	conn, err := h.Dial(limited, path)
	if err != nil {
		h.Log.Warn("a session is not opened", "path", path, "error", err)
		return nil, nil
	}
	conn.SetReadLimit(1 << 20) // frames are smaller
	select {
	case places <- struct{}{}:
		return conn, func() { <-places }
	default:
		refuse(ctx, conn, "this machine has as many sessions open as it may")
		return nil, nil
	}
}

// refuse tells why there is no session, and closes the connection.
func refuse(ctx context.Context, conn *websocket.Conn, why string) {
	say(ctx, conn, agentwire.Frame{Type: agentwire.FrameError, Message: why})
	_ = conn.Close(websocket.StatusNormalClosure, "")
}

// say sends a text frame. What can't be sent is noticed by who reads the connection.
func say(ctx context.Context, conn *websocket.Conn, frame any) {
	text, err := json.Marshal(frame)
	if err == nil {
		_ = conn.Write(ctx, websocket.MessageText, text)
	}
}

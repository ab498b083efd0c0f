package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	callLimit = 10 * time.Second // for a peer to answer
	// maxCallers bounds the peers that connections are kept to: processes come and go, each
	// time as another one.
	maxCallers = 64
)

// callers keeps a client for each process that was called, by its fingerprint.
type callers struct {
	mu      sync.Mutex
	clients map[string]*http.Client
}

func (c *callers) of(p domain.Peer) *http.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	if client := c.clients[p.Fingerprint]; client != nil {
		return client
	}
	if len(c.clients) >= maxCallers {
		c.forget()
	}
	if c.clients == nil {
		c.clients = map[string]*http.Client{}
	}
	client := &http.Client{Transport: &http.Transport{
		DialContext:     (&net.Dialer{Timeout: callLimit, KeepAliveConfig: keepAlive}).DialContext,
		TLSClientConfig: pinned(p.Fingerprint), TLSHandshakeTimeout: callLimit,
		IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 4,
	}}
	c.clients[p.Fingerprint] = client
	return client
}

// forget closes the connections that nobody uses; c.mu is held.
func (c *callers) forget() {
	for _, client := range c.clients {
		client.CloseIdleConnections()
	}
	c.clients = nil
}

func (c *callers) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget()
}

// tell has another process send a message to an agent: errNotThere where it does not have the
// agent (any more), upstream where it does not answer.
func (c *callers) tell(ctx context.Context, p domain.Process, agentID string, message agentwire.Message) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	body, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+p.Peer.Address+"/agents/"+url.PathEscape(agentID)+"/messages", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("call %s: %w", p.Peer.Address, err)
	}
	req.Header.Set("Authorization", "Bearer "+p.Peer.Token)
	resp, err := c.of(p.Peer).Do(req)
	if err != nil {
		return noAnswer(p, err)
	}
	resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusNoContent:
		return nil
	case http.StatusNotFound:
		return errNotThere
	}
	return noAnswer(p, fmt.Errorf("it answers %s", resp.Status))
}

// attach connects to the home of a session: not_found where nobody waits for it there any more.
func (c *callers) attach(ctx context.Context, home domain.Process, id string) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, "https://"+home.Peer.Address+"/sessions/"+id, &websocket.DialOptions{
		HTTPClient: c.of(home.Peer), HTTPHeader: http.Header{"Authorization": {"Bearer " + home.Peer.Token}},
	})
	if resp != nil && resp.StatusCode == http.StatusNotFound {
		return nil, errNobodyWaits
	}
	if err != nil {
		return nil, noAnswer(home, err)
	}
	return conn, nil
}

func noAnswer(p domain.Process, err error) error {
	return domain.Wrap(domain.CodeUpstream, err,
		"another Harvest process (%s on %s, at %s) does not answer; check that [server] peer_address is reached from here", p.Kind, p.Host, p.Peer.Address)
}

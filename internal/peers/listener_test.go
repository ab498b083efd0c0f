package peers_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/peers"
)

// Nobody is let in without the token of the process, and no process is taken for another.
func TestListenerKnowsItsPeers(t *testing.T) {
	t.Parallel()
	on := newShared()
	a, b := newProcess(t, on, "a", peers.Limits{}), newProcess(t, on, "b", peers.Limits{})
	told := make(chan agentwire.Message, 8)
	connect(on, b, "agent", func(m agentwire.Message) { told <- m })
	peer := on.processes["b"].Peer
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for _, token := range []string{"", "Bearer ", "Bearer wrong", peer.Token, "Bearer " + on.processes["a"].Peer.Token} {
		for _, call := range [][2]string{{http.MethodPost, "/agents/agent/messages"}, {http.MethodGet, "/sessions/x"}, {http.MethodGet, "/"}} {
			req, err := http.NewRequestWithContext(t.Context(), call[0], "https://"+peer.Address+call[1], strings.NewReader(`{"type":"uninstall"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", token)
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s %s with %q: %s", call[0], call[1], token, resp.Status)
			}
		}
	}
	for _, change := range []func(*domain.Peer){
		func(p *domain.Peer) { p.Fingerprint = on.processes["a"].Peer.Fingerprint },
		func(p *domain.Peer) { p.Fingerprint = "" },
		func(p *domain.Peer) { p.Token = "wrong" },
	} {
		other := on.processes["b"]
		change(&other.Peer)
		on.mu.Lock()
		on.processes["b"] = other
		on.mu.Unlock()
		if _, err := a.sessions.DialPort(t.Context(), "agent", 80); domain.CodeOf(err) != domain.CodeUpstream {
			t.Errorf("a process that is another: %v", err)
		}
		other.Peer = peer
		on.mu.Lock()
		on.processes["b"] = other
		on.mu.Unlock()
	}
	if len(told) != 0 {
		t.Errorf("the agent is told %+v", <-told)
	}
}

// Where nothing is said of an address, it is one that the others reach.
func TestListen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ address, database, host string }{
		{peers.Loopback, "", "127.0.0.1"},
		{"", "127.0.0.1:5432", "127.0.0.1"},
		{":0", "127.0.0.1:5432", "127.0.0.1"},
		{"0.0.0.0:0", "127.0.0.1:5432", "127.0.0.1"},
		{"", "/var/run/postgresql", "127.0.0.1"},
	} {
		l, err := peers.Listen(c.address, c.database)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		host, port, err := net.SplitHostPort(l.Peer().Address)
		if err != nil || host != c.host || port == "0" {
			t.Errorf("%+v: it is at %s", c, l.Peer().Address)
		}
		conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", l.Peer().Address)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		} else {
			conn.Close()
		}
		if p := l.Peer(); len(p.Token) < 26 || len(p.Fingerprint) != 64 {
			t.Errorf("%+v", p)
		}
		l.Close()
	}
	if _, err := peers.Listen("nonsense", ""); domain.CodeOf(err) != domain.CodeInvalid {
		t.Errorf("nonsense: %v", err)
	}
}

package peers

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	headerLimit  = 5 * time.Second
	idleLimit    = 2 * time.Minute
	headerBytes  = 16 << 10
	messageBytes = 64 << 10 // of a message to an agent
	messageLimit = 10 * time.Second
)

// Listener is where the other processes reach this one. Make it with Listen, tell the others of
// its Peer, and give it what it serves with Serve.
type Listener struct {
	listener    net.Listener
	certificate tls.Certificate
	peer        domain.Peer
}

// Listen takes an address, host:port, of which both may be left out: then it is that of the
// interface towards the database ("host:port"), and any free port.
func Listen(address, database string) (*Listener, error) {
	certificate, fingerprint, err := newCertificate()
	if err != nil {
		return nil, err
	}
	listener, advertised, err := listen(address, database)
	if err != nil {
		return nil, err
	}
	return &Listener{
		listener: listener, certificate: certificate,
		peer: domain.Peer{Address: advertised, Token: rand.Text(), Fingerprint: fingerprint},
	}, nil
}

// Peer is what the others need to know of this process.
func (l *Listener) Peer() domain.Peer { return l.peer }

// Close gives the address back; Serve does so too.
func (l *Listener) Close() error { return l.listener.Close() }

// Serve answers the other processes until ctx ends.
func (l *Listener) Serve(ctx context.Context, s *Sessions) error {
	server := &http.Server{
		Handler:           l.known(s.peerRoutes()),
		ReadHeaderTimeout: headerLimit,
		IdleTimeout:       idleLimit,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          log.New(io.Discard, "", 0), // of strangers who knock
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{l.certificate}},
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){}, // WebSockets need HTTP/1.1
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.ServeTLS(l.listener, "", "")
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve the other processes: %w", err)
}

// known lets nobody in but who has the token.
func (l *Listener) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !bearer || subtle.ConstantTimeCompare([]byte(token), []byte(l.peer.Token)) != 1 {
			http.Error(w, "a peer's token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// peerRoutes are what the other processes ask of this one.
func (s *Sessions) peerRoutes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /agents/{agent}/messages", s.tellHere)
	mux.HandleFunc("GET /sessions/{id}", s.attachHere)
	return mux
}

// tellHere sends a message to an agent whose event stream is here.
func (s *Sessions) tellHere(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(messageLimit))
	var message agentwire.Message
	if err := json.NewDecoder(io.LimitReader(r.Body, messageBytes)).Decode(&message); err != nil {
		http.Error(w, "not a message to an agent", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), messageLimit)
	defer cancel()
	switch err := s.local.Send(ctx, r.PathValue("agent"), message); {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case domain.CodeOf(err) == domain.CodeUnavailable:
		http.Error(w, "the agent is not connected here", http.StatusNotFound)
	default:
		s.log.Warn().Err(err).Str("agent", r.PathValue("agent")).Msg("agent_untold")
		http.Error(w, "the agent could not be told", http.StatusBadGateway)
	}
}

// attachHere takes what an agent, that claimed a session elsewhere, sends to its home.
func (s *Sessions) attachHere(w http.ResponseWriter, r *http.Request) {
	waiting := s.take(r.PathValue("id"))
	if waiting == nil {
		http.Error(w, "nobody waits for this session here", http.StatusNotFound)
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		waiting.give(nil)
		return
	}
	waiting.give(conn)
	<-waiting.over
	_ = conn.CloseNow() // where the session did not
}

package peers_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/peers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

// shared is what the processes have in common: a database, of which only the rows are real.
type shared struct {
	mu        sync.Mutex
	processes map[string]domain.Process
	homes     map[string]string // agent: process
	sessions  map[string]*row
}

type row struct {
	domain.AgentSession
	claimed bool
	at      time.Time
}

func (s *shared) AgentPlace(_ context.Context, id string) (string, string, error) {
	if id == "nobody" {
		return "", "", domain.NotFound("there is no agent %q", id)
	}
	return "p1", "host-of-" + id, nil
}

func (s *shared) AgentHome(_ context.Context, id string) (domain.Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.processes[s.homes[id]]
	if !ok {
		return p, domain.NotFound("no process has %q", id)
	}
	return p, nil
}

func (s *shared) Process(_ context.Context, id string) (domain.Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.processes[id]
	if !ok {
		return p, domain.NotFound("there is no process %q", id)
	}
	return p, nil
}

func (s *shared) OpenSession(_ context.Context, a domain.AgentSession) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[a.ID] = &row{AgentSession: a, at: time.Now()}
	return nil
}

func (s *shared) ClaimSession(_ context.Context, agent, id string, kind domain.SessionKind, within time.Duration) (domain.AgentSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.sessions[id]
	if r == nil || r.AgentID != agent || r.Kind != kind || r.claimed || time.Since(r.at) > within {
		return domain.AgentSession{}, domain.NotFound("there is no such session")
	}
	r.claimed = true
	return r.AgentSession, nil
}

func (s *shared) SessionStands(_ context.Context, id string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id] != nil, nil
}

func (s *shared) CloseSession(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
	return nil
}

func (s *shared) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// process is one Harvest: an API of two routes, and the messages to the agents that it has.
type process struct {
	id       string
	sessions *peers.Sessions
	url      string // ws://…
	kill     func()
	reasons  chan string // why consoles ended

	mu    sync.Mutex
	tells map[string]func(agentwire.Message)
}

// Send implements peers.Local.
func (p *process) Send(_ context.Context, agent string, m agentwire.Message) error {
	p.mu.Lock()
	tell := p.tells[agent]
	p.mu.Unlock()
	if tell == nil {
		return domain.Errorf(domain.CodeUnavailable, "the agent is not connected here")
	}
	go tell(m)
	return nil
}

// newProcess runs a process on what they share.
func newProcess(t *testing.T, on *shared, id string, limits peers.Limits) *process {
	t.Helper()
	listener, err := peers.Listen(peers.Loopback, "")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{id: id, tells: map[string]func(agentwire.Message){}, reasons: make(chan string, 64)}
	p.sessions = peers.New(peers.Config{ProcessID: id, Store: on, Local: p, Log: zerolog.Nop(), Limits: limits})
	on.mu.Lock()
	on.processes[id] = domain.Process{ID: id, Peer: listener.Peer()}
	on.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- listener.Serve(ctx, p.sessions) }()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /console/{agent}", func(w http.ResponseWriter, r *http.Request) { p.console(ctx, w, r) })
	mux.HandleFunc("GET /claim/{kind}/{sid}", func(w http.ResponseWriter, r *http.Request) { p.claim(ctx, w, r) })
	server := httptest.NewServer(mux)
	p.url = "ws" + server.URL[len("http"):]
	p.kill = sync.OnceFunc(func() {
		cancel()
		server.CloseClientConnections()
		server.Close()
		if err := <-over; err != nil {
			t.Errorf("the listener of %s: %v", id, err)
		}
		p.sessions.Close()
	})
	t.Cleanup(p.kill)
	return p
}

func (p *process) console(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	reason, err := p.sessions.Console(ctx, domain.AgentSession{AgentID: r.PathValue("agent"), Cols: 80, Rows: 24}, func() (*websocket.Conn, error) {
		return websocket.Accept(w, r, nil)
	})
	answer(w, err)
	p.reasons <- reason
}

func (p *process) claim(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	answer(w, p.sessions.Claim(ctx, r.Header.Get("Agent"), r.PathValue("sid"), domain.SessionKind(r.PathValue("kind")), func() (*websocket.Conn, error) {
		return websocket.Accept(w, r, nil)
	}))
}

func answer(w http.ResponseWriter, err error) {
	switch domain.CodeOf(err) {
	case "":
	case domain.CodeNotFound:
		http.Error(w, err.Error(), http.StatusNotFound)
	case domain.CodeUpstream:
		http.Error(w, domain.PublicMessage(err), http.StatusBadGateway)
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func newShared() *shared {
	return &shared{processes: map[string]domain.Process{}, homes: map[string]string{}, sessions: map[string]*row{}}
}

// connect gives an agent its event stream at a process; open is called for what it is to open.
func connect(on *shared, p *process, agent string, open func(agentwire.Message)) {
	on.mu.Lock()
	on.homes[agent] = p.id
	on.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tells[agent] = open
}

// claimAt is the agent's end of a session, claimed at a process.
func claimAt(ctx context.Context, p *process, agent string, kind domain.SessionKind, sid string) (*websocket.Conn, int, error) {
	conn, resp, err := websocket.Dial(ctx, p.url+"/claim/"+string(kind)+"/"+sid, &websocket.DialOptions{HTTPHeader: http.Header{"Agent": {agent}}})
	if resp == nil {
		return nil, 0, err
	}
	if err == nil {
		conn.SetReadLimit(-1)
	}
	return conn, resp.StatusCode, err
}

func dial(t *testing.T, p *process, agent string) *websocket.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, p.url+"/console/"+agent, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// shell is an agent's end of a console: what is typed comes back, "exit N" ends it, and its size
// is told.
func shell(t *testing.T, at *process, agent string) func(agentwire.Message) {
	return func(m agentwire.Message) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		conn, _, err := claimAt(ctx, at, agent, domain.ConsoleSession, m.SessionID)
		if err != nil {
			t.Errorf("claim: %v", err)
			return
		}
		defer conn.CloseNow()
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"ready"}`))
		_ = conn.Write(ctx, websocket.MessageBinary, []byte(strconv.Itoa(m.Cols)+"x"+strconv.Itoa(m.Rows)))
		for {
			kind, data, err := conn.Read(ctx)
			if err != nil {
				return
			}
			var frame agentwire.Frame
			switch {
			case kind == websocket.MessageText && json.Unmarshal(data, &frame) == nil:
				_ = conn.Write(ctx, websocket.MessageBinary, []byte("size "+strconv.Itoa(frame.Cols)+"x"+strconv.Itoa(frame.Rows)))
			case string(data) == "exit 3":
				_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"exited","code":3}`))
				_ = conn.Close(websocket.StatusNormalClosure, "")
				return
			default:
				_ = conn.Write(ctx, websocket.MessageBinary, data)
			}
		}
	}
}

// read gives the next message.
func read(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, data, err := conn.Read(ctx)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return string(data)
}

func write(t *testing.T, conn *websocket.Conn, kind websocket.MessageType, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := conn.Write(ctx, kind, []byte(text)); err != nil {
		t.Fatalf("write: %v", err)
	}
}

// want reads messages and compares them.
func want(t *testing.T, conn *websocket.Conn, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := read(t, conn); got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
	}
}

func reason(t *testing.T, p *process) string {
	t.Helper()
	select {
	case r := <-p.reasons:
		return r
	case <-time.After(patience):
		t.Fatal("the console does not end")
	}
	return ""
}

var errPatience = errors.New("it takes too long")

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: %v", what, errPatience)
		}
	}
}

package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

const (
	installToken   = "hvi_install"
	permanentToken = "hva_permanent"
	patience       = 2 * time.Minute // for what comes at once on a quiet machine
)

// server is the other end of the wire, as the agent's tests want it to behave.
type server struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced with each change
	streams  []*stream     // the open event streams
	hellos   []hello       // every connection
	posts    []post        // every post that was answered, in order
	fault    func(post, int) *answer
	token    string // what is taken, beside the install token
	greeting func(*stream)
	busy     string                     // Retry-After, with which connections are refused; "" for none that are
	claimed  map[string]*websocket.Conn // sessions, by path
	over     chan struct{}              // closed at the end of the test
}

type hello struct {
	token, query string
}

type stream struct {
	send chan []byte
	end  chan struct{}
}

// post is what the agent posted.
type post struct {
	Path   string
	Body   []byte
	Status int
}

// answer is given in the place of the usual one.
type answer struct {
	status int
	body   string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, changed: make(chan struct{}), token: permanentToken, claimed: map[string]*websocket.Conn{}, over: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /agent/events", s.events)
	mux.HandleFunc("POST /agent/", s.post)
	mux.HandleFunc("GET /agent/console/{id}", s.sessions)
	mux.HandleFunc("GET /agent/tunnel/{id}", s.sessions)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "..") {
			t.Errorf("the agent asks for %s", r.URL.Path)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(s.over)
		s.drop()
		s.Server.CloseClientConnections()
		s.Server.Close()
	})
	return s
}

// change notes that something happened; s.mu is held.
func (s *server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits until check, which is called with s.mu held, gives true.
func (s *server) until(what string, check func() bool) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		s.mu.Lock()
		ok, changed := check(), s.changed
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (s *server) events(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.hellos = append(s.hellos, hello{token: token, query: r.URL.RawQuery})
	permanent, greeting, busy := s.token, s.greeting, s.busy
	s.change()
	s.mu.Unlock()
	if busy != "" {
		w.Header().Set("Retry-After", busy)
		refuse(w, http.StatusServiceUnavailable, "unavailable", "too many agents connect at once")
		return
	}
	if token != permanent && token != installToken {
		refuse(w, http.StatusUnauthorized, "unauthorized", "the token is not known")
		return
	}
	own := &stream{send: make(chan []byte, 1000), end: make(chan struct{})}
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := http.NewResponseController(w)
	first := fmt.Sprintf(`{"type":"hello_ack","agent_id":"a1"}`)
	if token == installToken {
		first = fmt.Sprintf(`{"type":"registered","agent_token":%q,"agent_id":"a1"}`, permanent)
	}
	fmt.Fprintf(w, "data: %s\n\n", first)
	_ = flusher.Flush()
	if greeting != nil {
		greeting(own)
	}
	s.mu.Lock()
	s.streams = append(s.streams, own)
	s.change()
	s.mu.Unlock()
	defer s.gone(own)
	for {
		select {
		case <-r.Context().Done():
			return
		case <-own.end:
			return
		case text := <-own.send:
			_, _ = w.Write(text)
			_ = flusher.Flush()
		}
	}
}

func (s *server) gone(own *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = slices.DeleteFunc(s.streams, func(other *stream) bool { return other == own })
	s.change()
}

// drop ends all event streams.
func (s *server) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, own := range s.streams {
		close(own.end)
	}
	s.streams = nil
	s.change()
}

// connected waits until the agent has an event stream.
func (s *server) connected() {
	s.t.Helper()
	s.until("a connection", func() bool { return len(s.streams) > 0 })
}

// connection waits until the agent has connected n times, and the last stands alone.
func (s *server) connection(n int) {
	s.t.Helper()
	s.until(fmt.Sprintf("connection %d", n), func() bool { return len(s.hellos) == n && len(s.streams) == 1 })
}

// send sends a message to the agent that is connected.
func (s *server) send(m agentwire.Message) {
	s.t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		s.t.Fatal(err)
	}
	s.raw("data: " + string(text) + "\n\n")
}

func (s *server) raw(text string) {
	s.t.Helper()
	s.connected()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[len(s.streams)-1].send <- []byte(text)
}

// comment sends what keeps a connection alive, where there is one.
func (s *server) comment() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, own := range s.streams {
		own.send <- []byte(":\n\n")
	}
}

// execute sends a command.
func (s *server) execute(id, command string) {
	s.t.Helper()
	s.send(agentwire.Message{Type: agentwire.Execute, RequestID: id, Command: command, TimeoutSecs: 60})
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":%q,"code":%q}`, message, code)
}

// faults sets what is answered in the place of the usual: f gets the post and how many there
// were of its path, and gives nil for the usual.
func (s *server) faults(f func(p post, n int) *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

func (s *server) post(w http.ResponseWriter, r *http.Request) {
	var text json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&text); err != nil {
		refuse(w, http.StatusBadRequest, "invalid", err.Error())
		return
	}
	if r.URL.Path == "/agent/output" && len(text) > 1<<20 {
		s.t.Errorf("a post of output has %d bytes", len(text))
	}
	p := post{Path: r.URL.Path, Body: text, Status: http.StatusOK}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.change()
	if r.Header.Get("Authorization") != "Bearer "+s.token {
		refuse(w, http.StatusUnauthorized, "unauthorized", "the token is not known")
		return
	}
	n := len(s.paths(p.Path))
	body := s.usual(p)
	if s.fault != nil {
		if instead := s.fault(p, n); instead != nil {
			p.Status, body = instead.status, instead.body
		}
	}
	s.posts = append(s.posts, p)
	if p.Status == http.StatusTemporaryRedirect {
		w.Header().Set("Location", body)
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write([]byte(body))
}

// usual is the answer of a server that takes everything.
func (s *server) usual(p post) string {
	if p.Path != "/agent/output" {
		return `{"ok":true}`
	}
	var out agentwire.Output
	_ = json.Unmarshal(p.Body, &out)
	taken := s.taken(out.RequestID)
	for _, chunk := range out.Chunks {
		end := chunk.Offset + int64(len(chunk.Data))
		if chunk.Stream == agentwire.Stdout && chunk.Offset <= taken.Stdout {
			taken.Stdout = max(taken.Stdout, end)
		}
		if chunk.Stream == agentwire.Stderr && chunk.Offset <= taken.Stderr {
			taken.Stderr = max(taken.Stderr, end)
		}
	}
	text, _ := json.Marshal(taken)
	return string(text)
}

// taken is what was taken of a command's output so far; s.mu is held.
func (s *server) taken(id string) agentwire.OutputTaken {
	taken := agentwire.OutputTaken{OK: true}
	for _, chunk := range s.chunks(id) {
		end := chunk.Offset + int64(len(chunk.Data))
		if chunk.Stream == agentwire.Stdout {
			taken.Stdout = max(taken.Stdout, end)
		} else {
			taken.Stderr = max(taken.Stderr, end)
		}
	}
	return taken
}

// chunks gives the chunks of a command that were answered with 200; s.mu is held.
func (s *server) chunks(id string) []agentwire.Chunk {
	var chunks []agentwire.Chunk
	for _, p := range s.paths("/agent/output") {
		var out agentwire.Output
		if json.Unmarshal(p.Body, &out) == nil && out.RequestID == id && p.Status == http.StatusOK {
			chunks = append(chunks, out.Chunks...)
		}
	}
	return chunks
}

func (s *server) paths(path string) []post {
	var found []post
	for _, p := range s.posts {
		if p.Path == path {
			found = append(found, p)
		}
	}
	return found
}

// results gives all results that were answered with 200, in order; s.mu is held.
func (s *server) results() []agentwire.Result {
	var results []agentwire.Result
	for _, p := range s.paths("/agent/results") {
		var result agentwire.Result
		if err := json.Unmarshal(p.Body, &result); err != nil {
			s.t.Errorf("a result can't be read: %v", err)
		}
		if p.Status == http.StatusOK {
			results = append(results, result)
		}
	}
	return results
}

// result waits for the result of a command.
func (s *server) result(id string) agentwire.Result {
	s.t.Helper()
	return s.resultAgain(id, 1)
}

// firstResult waits for the first result of a command, which is the one that counts: an agent that
// is asked again, and has forgotten the output, may have posted another one behind it.
func (s *server) firstResult(id string) agentwire.Result {
	s.t.Helper()
	s.result(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.results()
	return all[slices.IndexFunc(all, func(r agentwire.Result) bool { return r.RequestID == id })]
}

// resultAgain waits until n results of a command came, and gives the last.
func (s *server) resultAgain(id string, n int) agentwire.Result {
	s.t.Helper()
	var last agentwire.Result
	s.until(fmt.Sprintf("result %d of %s", n, id), func() bool {
		count := 0
		for _, result := range s.results() {
			if result.RequestID == id {
				count, last = count+1, result
			}
		}
		return count >= n
	})
	return last
}

// started waits until the agent has said n times that the command runs.
func (s *server) started(id string, n int) {
	s.t.Helper()
	s.until("the start of "+id, func() bool {
		count := 0
		for _, p := range s.paths("/agent/started") {
			if strings.Contains(string(p.Body), `"`+id+`"`) {
				count++
			}
		}
		return count >= n
	})
}

// output waits until the chunks of a command's stdout hold text.
func (s *server) output(id, text string) {
	s.t.Helper()
	s.until("the output of "+id, func() bool {
		var all []byte
		for _, chunk := range s.chunks(id) {
			if chunk.Stream == agentwire.Stdout {
				all = append(all, chunk.Data...)
			}
		}
		return strings.Contains(string(all), text)
	})
}

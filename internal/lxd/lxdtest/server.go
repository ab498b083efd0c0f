// Package lxdtest is an LXD server that tests can make fail: it keeps containers and networks
// in memory, speaks as a real one does, and at each step refuses, hangs or is silent where it
// is told to.
package lxdtest

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Step names what a client asks for.
type Step string

// The steps at which a Fault can be set.
const (
	Join    Step = "join"
	Network Step = "network" // to make one
	Create  Step = "create"
	Start   Step = "start"
	Look    Step = "look"  // at one container
	State   Step = "state" // of one that runs
	Exec    Step = "exec"
	Stop    Step = "stop"
	Delete  Step = "delete"
)

// Fault is what happens at a step in place of what is asked for.
type Fault struct {
	Status int    // it is refused with that, and Text
	Text   string // of the refusal, or the error that the operation ends with
	Fails  bool   // the operation ends with an error
	Hangs  bool   // the operation goes on until it is canceled, or for ever
	Blocks bool   // the request is not answered before the fault is cleared; then it is done
	Drops  bool   // the connection is cut
	Lies   string // the status that a look at a container shows
	Mute   bool   // a container that runs has no address
}

// Container is a container that the server keeps.
type Container struct {
	Name    string            `json:"name"`
	Status  string            `json:"status"`
	Config  map[string]string `json:"config"`
	Created time.Time         `json:"created_at"`
}

type network struct {
	Name    string            `json:"name"`
	Status  string            `json:"status"`
	Config  map[string]string `json:"config"`
	pending []string          // members on which it was announced
}

// Server is a running fake.
type Server struct {
	Endpoint string
	// Script answers for the scripts that are run in containers.
	Script func(script string) (code int, said string)
	// Members are those of the cluster that it is a member of; none: it stands alone.
	Members []string

	http *httptest.Server

	mu         sync.Mutex
	trusted    map[string]bool // fingerprints
	secrets    map[string]bool // of trust tokens
	containers map[string]*Container
	networks   map[string]*network
	projects   map[string]bool
	offline    string // the member that the others don't reach; "": none
	noticed    bool   // that it is away
	operations map[string]*operation
	faults     map[Step]Fault
	asked      map[Step]int
	changed    chan struct{} // closed with each change of faults and asked
	stopped    chan struct{}
	count      int
}

// New starts a fake that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		Script:  func(string) (int, string) { return 0, "" },
		trusted: map[string]bool{}, secrets: map[string]bool{}, containers: map[string]*Container{}, networks: map[string]*network{},
		projects: map[string]bool{"default": true}, operations: map[string]*operation{}, faults: map[Step]Fault{}, asked: map[Step]int{},
		changed: make(chan struct{}), stopped: make(chan struct{}),
	}
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.http.StartTLS()
	s.Endpoint = s.http.URL
	t.Cleanup(func() {
		close(s.stopped)
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

// Token makes a trust token.
func (s *Server) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	secret := fmt.Sprint("secret-", s.count)
	s.secrets[secret] = true
	sum := sha256.Sum256(s.http.Certificate().Raw)
	text, _ := json.Marshal(map[string]any{ // texts always marshal
		"client_name": "harvest", "fingerprint": hex.EncodeToString(sum[:]), "addresses": []string{}, "secret": secret, "expires_at": time.Time{},
	})
	return base64.StdEncoding.EncodeToString(text)
}

// Set makes a fault happen at a step from now on.
func (s *Server) Set(step Step, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[step] = f
	s.tellChange()
}

// Clear ends the fault at a step.
func (s *Server) Clear(step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.faults, step)
	s.tellChange()
}

func (s *Server) tellChange() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Await waits until a step was asked for n times.
func (s *Server) Await(t testing.TB, step Step, n int) {
	t.Helper()
	limit := time.After(2 * time.Minute)
	for {
		s.mu.Lock()
		asked, changed := s.asked[step], s.changed
		s.mu.Unlock()
		if asked >= n {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("%s was asked for %d times, not %d", step, asked, n)
		}
	}
}

// Asked says how often a step was asked for.
func (s *Server) Asked(step Step) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[step]
}

// Containers gives the containers that there are, by name.
func (s *Server) Containers() []Container {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Container{}
	for _, c := range s.containers {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Container) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Networks gives the names of the networks.
func (s *Server) Networks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.networks {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Put makes a container without further ado.
func (s *Server) Put(c Container) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.containers[c.Name] = &c
}

// reach counts that a step is asked for and does what its fault says; false where the request
// is answered by that.
func (s *Server) reach(w http.ResponseWriter, r *http.Request, step Step) (Fault, bool) {
	s.mu.Lock()
	s.asked[step]++
	f := s.faults[step]
	s.tellChange()
	changed := s.changed
	s.mu.Unlock()
	switch {
	case f.Drops:
		panic(http.ErrAbortHandler)
	case f.Status != 0:
		refuse(w, f.Status, f.Text)
		return f, false
	case f.Blocks:
		for f.Blocks {
			select {
			case <-s.stopped:
				return f, false
			case <-changed: // who asked may be gone by then: it is done all the same
			}
			s.mu.Lock()
			f, changed = s.faults[step], s.changed
			s.mu.Unlock()
		}
	}
	return f, true
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "error": text, "error_code": status})
}

func answer(w http.ResponseWriter, metadata any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "sync", "status": "Success", "status_code": 200, "metadata": metadata})
}

// trusts reports whether the client that sends a request is a trusted one.
func (s *Server) trusts(r *http.Request) (fingerprint string, trusted bool) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return "", false
	}
	sum := sha256.Sum256(r.TLS.PeerCertificates[0].Raw)
	fingerprint = hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	return fingerprint, s.trusted[fingerprint]
}

// Leave has a member of the cluster go; "" brings back the one that went. Others call it offline
// once they have noticed.
func (s *Server) Leave(member string, noticed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offline, s.noticed = member, noticed
}

// PutNetwork makes a network without further ado.
func (s *Server) PutNetwork(name string, config map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.networks[name] = &network{Name: name, Config: config}
}

// NetworkOf gives the options of a network.
func (s *Server) NetworkOf(name string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.networks[name]; n != nil {
		return n.Config
	}
	return nil
}

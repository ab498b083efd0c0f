package lxdtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// serve answers the API of LXD, as far as it is used.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")[1:]
	fingerprint, trusted := s.trusts(r)
	if len(path) == 0 {
		auth := "untrusted"
		if trusted {
			auth = "trusted"
		}
		answer(w, map[string]any{"auth": auth, "environment": map[string]any{"server_version": "fake", "server_clustered": len(s.Members) > 0}})
		return
	}
	if path[0] == "certificates" && r.Method == http.MethodPost {
		s.join(w, r, fingerprint)
		return
	}
	if !trusted {
		refuse(w, http.StatusForbidden, "not authorized")
		return
	}
	name := ""
	if len(path) > 1 {
		name = path[1]
	}
	switch {
	case path[0] == "operations":
		s.serveOperation(w, r, path)
	case path[0] == "cluster":
		answer(w, s.members())
	case path[0] == "networks":
		s.serveNetwork(w, r, name)
	case path[0] == "instances":
		s.serveInstance(w, r, path)
	case path[0] == "profiles":
		answer(w, map[string]any{"name": name, "devices": map[string]any{"root": map[string]string{"type": "disk", "path": "/"}}})
	case path[0] == "images":
		answer(w, map[string]string{"name": path[2], "target": "0123"})
	case path[0] == "projects" && r.Method == http.MethodPost:
		var p struct{ Name string }
		s.decode(r, &p)
		s.mu.Lock()
		s.projects[p.Name] = true
		s.mu.Unlock()
		answer(w, nil)
	case path[0] == "projects" && s.hasProject(name):
		answer(w, map[string]string{"name": name})
	default:
		refuse(w, http.StatusNotFound, "not found")
	}
}

func (s *Server) members() []map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []map[string]string{}
	for _, name := range s.Members {
		m := map[string]string{"server_name": name, "status": "Online", "message": "Fully operational"}
		if name == s.offline && s.noticed {
			m["status"], m["message"] = "Offline", "No heartbeat for 30s"
		}
		list = append(list, m)
	}
	return list
}

func (s *Server) hasProject(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.projects[name]
}

func (s *Server) decode(r *http.Request, into any) { _ = json.NewDecoder(r.Body).Decode(into) }

// join trusts a certificate whose owner gives a token, once.
func (s *Server) join(w http.ResponseWriter, r *http.Request, fingerprint string) {
	if _, on := s.reach(w, r, Join); !on {
		return
	}
	var body struct{ Password string }
	s.decode(r, &body)
	raw, _ := base64.StdEncoding.DecodeString(body.Password)
	var token struct{ Secret string }
	_ = json.Unmarshal(raw, &token)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.secrets[token.Secret] {
		refuse(w, http.StatusForbidden, "not authorized")
		return
	}
	delete(s.secrets, token.Secret)
	s.trusted[fingerprint] = true
	answer(w, nil)
}

func (s *Server) serveNetwork(w http.ResponseWriter, r *http.Request, name string) {
	if r.Method == http.MethodPost {
		if _, on := s.reach(w, r, Network); !on {
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, there := s.networks[name]
	switch {
	case r.Method == http.MethodPost:
		s.createNetwork(w, r)
	case name == "":
		list := []network{}
		for _, n := range s.networks {
			list = append(list, *n)
		}
		answer(w, list)
	case !there:
		refuse(w, http.StatusNotFound, "Network not found")
	case r.Method == http.MethodDelete:
		delete(s.networks, name)
		answer(w, nil)
	default:
		answer(w, found)
	}
}

// createNetwork makes a network; in a cluster it is announced on each member first. The lock is
// held.
func (s *Server) createNetwork(w http.ResponseWriter, r *http.Request) {
	n := &network{Status: "Created"}
	s.decode(r, n)
	there, target := s.networks[n.Name], r.URL.Query().Get("target")
	if there == nil && target != "" {
		there = &network{Name: n.Name, Status: "Pending", Config: map[string]string{}}
		s.networks[n.Name] = there
	}
	switch {
	case target != "" && there.Status != "Pending":
		refuse(w, http.StatusInternalServerError, "Network is not in pending state")
	case target != "" && slices.Contains(there.pending, target):
		refuse(w, http.StatusBadRequest, "The network is already defined on member \""+target+"\"")
	case target != "" && len(n.Config) > 0:
		refuse(w, http.StatusBadRequest, "Config key may not be used as member-specific key")
	case target != "":
		there.pending = append(there.pending, target)
		answer(w, nil)
	case there != nil && there.Status == "Created":
		refuse(w, http.StatusBadRequest, "The network already exists")
	case len(s.Members) > 0 && (there == nil || len(there.pending) < len(s.Members)):
		refuse(w, http.StatusBadRequest, "Network not pending on any node (use --target <node> first)")
	case there != nil && len(there.Config) > 0 && len(n.Config) > 0:
		refuse(w, http.StatusBadRequest, "Network already partially created. Please do not specify any global config when re-running create")
	default:
		s.finishNetwork(w, n, there)
	}
}

// finishNetwork makes a network on all members. Where one is away it stays half made, with the
// options that it was given.
func (s *Server) finishNetwork(w http.ResponseWriter, n, there *network) {
	if there != nil {
		n.pending = there.pending
		if len(there.Config) > 0 {
			n.Config = there.Config
		}
	}
	s.networks[n.Name] = n
	if s.offline != "" {
		n.Status = "Errored"
		refuse(w, http.StatusInternalServerError, "failed to notify peer "+s.offline+": Get \"https://10.0.0.2:8443/1.0\": Unable to connect to: 10.0.0.2:8443 ([dial tcp: connection refused])")
		return
	}
	answer(w, nil)
}

func (s *Server) serveInstance(w http.ResponseWriter, r *http.Request, path []string) {
	switch {
	case len(path) == 1 && r.Method == http.MethodPost:
		s.createInstance(w, r)
	case len(path) == 1:
		answer(w, s.Containers())
	case len(path) == 2 && r.Method == http.MethodDelete && s.runs(path[1]):
		refuse(w, http.StatusBadRequest, "Instance is running")
	case len(path) == 2 && r.Method == http.MethodDelete:
		s.operate(w, r, Delete, path[1], func() { delete(s.containers, path[1]) })
	case len(path) == 2:
		s.lookAt(w, r, path[1])
	case path[2] == "state" && r.Method == http.MethodGet:
		s.stateOf(w, r, path[1])
	case path[2] == "state":
		var change struct{ Action string }
		s.decode(r, &change)
		step, status := Start, "Running"
		if change.Action == "stop" {
			step, status = Stop, "Stopped"
		}
		s.operate(w, r, step, path[1], func() {
			if c := s.containers[path[1]]; c != nil {
				c.Status = status
			}
		})
	case path[2] == "exec":
		s.exec(w, r, path[1])
	}
}

func (s *Server) runs(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.containers[name]
	return c != nil && c.Status == "Running"
}

func (s *Server) lookAt(w http.ResponseWriter, r *http.Request, name string) {
	f, on := s.reach(w, r, Look)
	if !on {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, there := s.containers[name]
	if !there {
		refuse(w, http.StatusNotFound, "Instance not found")
		return
	}
	shown := *c
	if f.Lies != "" {
		shown.Status = f.Lies
	}
	answer(w, shown)
}

// stateOf shows the addresses of a container.
func (s *Server) stateOf(w http.ResponseWriter, r *http.Request, name string) {
	f, on := s.reach(w, r, State)
	if !on {
		return
	}
	addresses := []map[string]string{{"family": "inet6", "address": "fe80::1", "scope": "link"}}
	s.mu.Lock()
	c := s.containers[name]
	if c != nil && c.Status == "Running" && !f.Mute {
		addresses = append(addresses, map[string]string{"family": "inet", "address": "10.8.0.7", "scope": "global"})
	}
	s.mu.Unlock()
	if c == nil {
		refuse(w, http.StatusNotFound, "Instance not found")
		return
	}
	answer(w, map[string]any{"network": map[string]any{"eth0": map[string]any{"addresses": addresses}}})
}

// createInstance makes a container. It is listed from the beginning on, and is gone again where
// that fails.
func (s *Server) createInstance(w http.ResponseWriter, r *http.Request) {
	var n struct {
		Name   string
		Config map[string]string
	}
	s.decode(r, &n)
	f, on := s.reach(w, r, Create)
	if !on {
		return
	}
	s.mu.Lock()
	if s.containers[n.Name] != nil {
		s.mu.Unlock()
		refuse(w, http.StatusBadRequest, "Instance \""+n.Name+"\" already exists")
		return
	}
	s.containers[n.Name] = &Container{Name: n.Name, Status: "Stopped", Config: n.Config, Created: time.Now()}
	s.mu.Unlock()
	s.begin(w, f, n.Name, func() {}, func() { delete(s.containers, n.Name) })
}

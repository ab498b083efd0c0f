package lxdtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// operation is work that goes on in the fake.
type operation struct {
	id, container string
	over          chan struct{}
	status        int // while it runs 103
	err           string
	code          *int
	undo          func() // where it does not succeed
	sockets       chan socket
	fds           map[string]string
}

type socket struct {
	fd   string
	conn *websocket.Conn
	done chan struct{} // closed once the socket is not needed any more
}

const running = 103

func (o *operation) json() map[string]any {
	metadata := map[string]any{}
	if o.code != nil {
		metadata["return"] = *o.code
	}
	if o.fds != nil {
		metadata["fds"] = o.fds
	}
	return map[string]any{
		"id": o.id, "status_code": o.status, "err": o.err, "may_cancel": o.fds == nil, "metadata": metadata,
		"resources": map[string][]string{"instances": {"/1.0/instances/" + o.container}},
	}
}

// operate begins an operation on a container that is there.
func (s *Server) operate(w http.ResponseWriter, r *http.Request, step Step, name string, do func()) {
	f, on := s.reach(w, r, step)
	if !on {
		return
	}
	s.mu.Lock()
	_, there := s.containers[name]
	s.mu.Unlock()
	if !there {
		refuse(w, http.StatusNotFound, "Instance not found")
		return
	}
	s.begin(w, f, name, do, func() {})
}

// begin answers with an operation, which ends at once unless the fault says otherwise.
func (s *Server) begin(w http.ResponseWriter, f Fault, name string, do, undo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.newOperation(name)
	o.undo = undo
	switch {
	case f.Fails:
		s.end(o, 400, f.Text)
	case !f.Hangs:
		do()
		s.end(o, 200, "")
	}
	s.tell(w, o)
}

func (s *Server) newOperation(name string) *operation {
	s.count++
	o := &operation{id: fmt.Sprint("op-", s.count), container: name, over: make(chan struct{}), status: running, undo: func() {}}
	s.operations[o.id] = o
	return o
}

// behind is what servers of a cluster have behind the path of an operation.
func (s *Server) behind() string {
	if len(s.Members) > 0 {
		return "?project=default"
	}
	return ""
}

func (s *Server) tell(w http.ResponseWriter, o *operation) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "async", "operation": "/1.0/operations/" + o.id + s.behind(), "metadata": o.json()})
}

// end ends an operation; the lock is held.
func (s *Server) end(o *operation, status int, err string) {
	if o.status != running {
		return
	}
	o.status, o.err = status, err
	if status != 200 {
		o.undo()
	}
	close(o.over)
}

func (s *Server) serveOperation(w http.ResponseWriter, r *http.Request, path []string) {
	s.mu.Lock()
	if len(path) == 1 {
		list := []any{}
		for _, o := range s.operations {
			if o.status == running {
				list = append(list, o.json())
			}
		}
		s.mu.Unlock()
		answer(w, map[string]any{"running": list})
		return
	}
	o, there := s.operations[path[1]]
	s.mu.Unlock()
	switch {
	case !there:
		refuse(w, http.StatusNotFound, "Operation not found")
	case r.Method == http.MethodDelete:
		s.mu.Lock()
		defer s.mu.Unlock()
		if o.status != running || o.fds != nil {
			refuse(w, http.StatusBadRequest, "This operation can't be cancelled")
			return
		}
		s.end(o, 401, "")
		answer(w, nil)
	case len(path) == 3 && path[2] == "websocket":
		s.accept(w, r, o)
	default:
		select {
		case <-o.over:
		case <-time.After(20 * time.Second):
		case <-s.stopped:
		case <-r.Context().Done():
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		answer(w, o.json())
	}
}

// exec begins a command, which runs once its websockets are connected.
func (s *Server) exec(w http.ResponseWriter, r *http.Request, name string) {
	f, on := s.reach(w, r, Exec)
	if !on {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.containers[name]; c == nil || c.Status != "Running" {
		refuse(w, http.StatusBadRequest, "Instance is not running")
		return
	}
	o := s.newOperation(name)
	o.sockets = make(chan socket)
	o.fds = map[string]string{"0": o.id + "-0", "1": o.id + "-1", "2": o.id + "-2", "control": o.id + "-c"}
	go s.run(o, f)
	s.tell(w, o)
}

func (s *Server) accept(w http.ResponseWriter, r *http.Request, o *operation) {
	for fd, secret := range o.fds {
		if secret != r.URL.Query().Get("secret") {
			continue
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		conn.SetReadLimit(-1)
		k := socket{fd, conn, make(chan struct{})}
		select {
		case o.sockets <- k:
			<-k.done
		case <-s.stopped:
		case <-o.over:
		}
		_ = conn.CloseNow()
		return
	}
	refuse(w, http.StatusForbidden, "not authorized")
}

// run plays a command: it reads its input whole, lets the script answer, and ends. One that
// hangs ends with a signal, or when its client has gone.
func (s *Server) run(o *operation, f Fault) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	by := map[string]socket{}
	defer func() {
		for _, k := range by {
			close(k.done)
		}
	}()
	for len(by) < len(o.fds) {
		select {
		case k := <-o.sockets:
			by[k.fd] = k
		case <-s.stopped:
			return
		}
	}
	code, said := 137, ""
	if f.Hangs {
		_, _, _ = by["control"].conn.Read(ctx)
	} else {
		code, said = s.Script(input(ctx, by["0"].conn))
	}
	_ = by["1"].conn.Write(ctx, websocket.MessageBinary, []byte(said))
	_ = by["1"].conn.Write(ctx, websocket.MessageText, nil)
	_ = by["2"].conn.Write(ctx, websocket.MessageText, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	o.code = &code
	s.end(o, 200, "")
}

// input reads what a client sends, to the empty text at its end.
func input(ctx context.Context, conn *websocket.Conn) string {
	var all strings.Builder
	for {
		kind, r, err := conn.Reader(ctx)
		if err != nil {
			return all.String()
		}
		n, _ := io.Copy(&all, r)
		if kind == websocket.MessageText && n == 0 {
			return all.String()
		}
	}
}

// Package web serves the ledger.
package web

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/example/metrics"

	. "example.com/ledger/pipe"
	led "example.com/ledger/store"
)

// Server serves.
type Server struct {
	*http.ServeMux
	store    led.Store
	routes   map[string]handler
	render   func(http.ResponseWriter, any)
	fallback http.Handler
	registry *metrics.Registry
}

type handler func(s *Server, r *request) (any, error)

type request struct {
	*http.Request
	params params
}

type params map[string]string

func (p params) get(name string) string { return p[name] }

func (r *request) id() string { return r.params.get("id") }

// NewServer makes a Server.
func NewServer(s led.Store) *Server {
	srv := &Server{ServeMux: http.NewServeMux(), store: s, render: renderJSON, fallback: http.NotFoundHandler()}
	srv.routes = map[string]handler{"/get": get, "/put": (*Server).put, "/run": run}
	srv.mount()
	return srv
}

func (s *Server) mount() {
	for path, h := range s.routes {
		s.HandleFunc(path, s.wrap(h))
	}
	s.Handle("/", s.fallback)
	s.registry.Register(s)
}

func (s *Server) wrap(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		result, err := h(s, parse(r))
		if err != nil {
			s.fail(w, err)
			return
		}
		s.render(w, result)
	}
}

func (s *Server) fail(w http.ResponseWriter, err error) {
	type failure struct{ Error string }
	w.WriteHeader(status(err))
	s.render(w, failure{err.Error()})
}

func parse(r *http.Request) *request {
	return &request{Request: r, params: params{"id": r.PathValue("id")}}
}

func get(s *Server, r *request) (any, error) {
	e, err := s.store.Get(r.Context(), r.id())
	if err != nil {
		return nil, err
	}
	return view(e), nil
}

func (s *Server) put(r *request) (any, error) {
	var e led.Entry
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		return nil, err
	}
	defer r.Body.Close()
	return view(&e), s.store.Put(r.Context(), &e)
}

func run(s *Server, r *request) (any, error) {
	stage := New("tag", func(_ context.Context, e *led.Entry) error {
		e.Tags = append(e.Tags, led.Tag{Name: r.id()})
		return nil
	})
	p := Build(s.store, s.store, stage, Chain{}.Then(stage))
	return nil, p.Run(r.Context())
}

type entryView struct {
	ID, Label string
	Total     led.Money
}

func view(e *led.Entry) entryView {
	root := e.Root()
	return entryView{ID: root.ID, Label: root.Label(), Total: led.Total([]*led.Entry{e, root}).Add(e.Amount)}
}

func renderJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func status(err error) int {
	switch e := err.(type) {
	case interface{ Status() int }:
		return e.Status()
	}
	return code(err)
}

var code = func(error) int { return http.StatusInternalServerError }

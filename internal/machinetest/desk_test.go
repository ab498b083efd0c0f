package machinetest_test

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// reply is an answer to a post.
type reply struct {
	status int
	body   []byte
}

// post is a request of an agent on its way to the API.
type post struct {
	path string
	body []byte
	auth string
	gone <-chan struct{} // closed when the agent does not wait for an answer any more
	d    *desk
}

// forward sends the post on.
func (p post) forward() reply {
	req, err := http.NewRequest(http.MethodPost, "http://"+p.d.target+p.path, bytes.NewReader(p.body))
	if err != nil {
		return reply{status: http.StatusInternalServerError}
	}
	req.Header.Set("Authorization", p.auth)
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.d.client.Do(req)
	if err != nil {
		return reply{status: http.StatusBadGateway}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{status: http.StatusBadGateway}
	}
	return reply{resp.StatusCode, body}
}

// desk is a proxy between agents and an API through whose hands all posts go.
type desk struct {
	address string
	target  string
	client  *http.Client

	mu     sync.Mutex
	handle func(post) reply
}

func newDesk(t *testing.T, target string) *desk {
	t.Helper()
	d := &desk{target: target, client: &http.Client{Transport: &http.Transport{}}}
	d.treat(post.forward)
	passing := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: target})
	passing.FlushInterval = -1
	passing.ErrorLog = log.New(io.Discard, "", 0)
	passing.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			defer func() { _ = recover() }() // the API has gone in the middle of an answer
			passing.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		d.mu.Lock()
		handle := d.handle
		d.mu.Unlock()
		answer := handle(post{r.URL.Path, body, r.Header.Get("Authorization"), r.Context().Done(), d})
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(answer.status)
		_, _ = w.Write(answer.body)
	}))
	t.Cleanup(func() {
		d.client.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	d.address = server.Listener.Addr().String()
	return d
}

// treat has posts treated otherwise from now on.
func (d *desk) treat(handle func(post) reply) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.handle = handle
}

// resultPath is where agents tell how commands ended.
const resultPath = "/agent/results"

// holding keeps results, before or behind the API, until it is let go.
type holding struct {
	held chan struct{} // closed when there is one
	gone chan struct{}
	once sync.Once
}

// hold keeps the results that come from now on: where committed is asked for, the API has them
// and its answer is kept.
func (d *desk) hold(committed bool) *holding {
	h := &holding{held: make(chan struct{}), gone: make(chan struct{})}
	d.treat(func(p post) reply {
		if p.path != resultPath {
			return p.forward()
		}
		var answer reply
		if committed {
			answer = p.forward()
		}
		h.once.Do(func() { close(h.held) })
		select {
		case <-h.gone:
		case <-p.gone:
			return reply{status: http.StatusBadGateway} // nobody reads it
		}
		if !committed {
			answer = p.forward()
		}
		return answer
	})
	return h
}

// letGo lets what is kept go on, and what comes pass.
func (h *holding) letGo(d *desk) {
	d.treat(post.forward)
	close(h.gone)
}

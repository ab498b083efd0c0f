package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// zeros is a body of so many bytes, of which none is in memory.
func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// peak watches the memory in use while something runs, and gives how far it grew.
func peak(do func()) int64 {
	before, most := heapNow(), int64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, heapNow()-before)
			case <-stop:
				return
			}
		}
	}()
	do()
	close(stop)
	<-done
	return most
}

func heapNow() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A gigabyte goes each way through, and little of it is ever in memory.
func TestForwardedGigabyte(t *testing.T) {
	const much = 1 << 30
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			n, err := io.Copy(io.Discard, r.Body)
			fmt.Fprint(w, n, err)
			return
		}
		_, _ = io.Copy(w, zeros(much))
	})
	grown := peak(func() {
		req, err := http.NewRequest(http.MethodPut, f.url+route+"/up", zeros(much))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(text) != fmt.Sprint(much, nil) {
			t.Errorf("of what was sent, %s came", text)
		}
		req, _ = http.NewRequest(http.MethodGet, f.url+route+"/down", nil)
		req.Header.Set("Authorization", "Bearer "+token)
		if resp, err = http.DefaultClient.Do(req); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if n != much || err != nil {
			t.Errorf("%d bytes came back, %v", n, err)
		}
	})
	if grown > 32<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
	http.DefaultClient.CloseIdleConnections()
}

// One tunnel takes one request after the other; many at once take as many as they need, and
// each has its own answer.
func TestForwardedTunnelsAreKept(t *testing.T) {
	t.Parallel()
	var most, now atomic.Int64
	together := make(chan struct{})
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/many/") {
			if n := now.Add(1); n == 100 {
				close(together)
			} else {
				most.Store(max(most.Load(), n))
			}
			<-together
		}
		_, _ = io.WriteString(w, r.URL.Path)
	})
	for i := range 20 {
		if _, text := f.fetch(t, http.MethodGet, fmt.Sprint(route, "/", i), nil); text != fmt.Sprint("/", i) {
			t.Errorf("%d is answered with %q", i, text)
		}
	}
	if n := f.sessions.dials.Load(); n != 1 {
		t.Errorf("20 requests took %d tunnels", n)
	}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			if _, text := f.fetch(t, http.MethodGet, fmt.Sprint(route, "/many/", i), nil); text != fmt.Sprint("/many/", i) {
				t.Errorf("%d is answered with %q", i, text)
			}
		})
	}
	all.Wait()
	if n := f.sessions.dials.Load(); n < 100 || n > 101 {
		t.Errorf("100 at once took %d tunnels", n)
	}
}

// Answers come as they are written: events one by one, heads without bodies, trailers behind
// them, and a body is only asked for that is wanted.
func TestForwardedStreaming(t *testing.T) {
	t.Parallel()
	step := make(chan struct{})
	f := forwarding(t, func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		switch r.URL.Path {
		case "/events":
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			_ = control.Flush()
			for i := range 3 {
				<-step
				fmt.Fprintf(w, "data: %d\n\n", i)
				_ = control.Flush()
			}
		case "/trailers":
			w.Header().Set("Trailer", "X-Sum")
			_, _ = io.WriteString(w, "body")
			w.Header().Set("X-Sum", "42")
			w.Header().Set(http.TrailerPrefix+"X-Late", "43")
		case "/refuse":
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusExpectationFailed)
		default:
			w.Header().Set("Content-Length", "12345")
			w.WriteHeader(http.StatusOK)
		}
	})
	req, err := http.NewRequest(http.MethodGet, f.url+route+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req) // the head comes before any event
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := bufio.NewReader(resp.Body)
	for i := range 3 {
		step <- struct{}{}
		line, err := events.ReadString('\n')
		if err != nil || line != fmt.Sprintf("data: %d\n", i) {
			t.Errorf("%q, %v", line, err)
		}
		_, _ = events.ReadString('\n')
	}
	if resp, text := f.fetch(t, http.MethodHead, route+"/", nil); resp.ContentLength != 12345 || text != "" {
		t.Errorf("HEAD: %d bytes, %q", resp.ContentLength, text)
	}
	if resp, text := f.fetch(t, http.MethodGet, route+"/trailers", nil); text != "body" || resp.Trailer.Get("X-Sum") != "42" || resp.Trailer.Get("X-Late") != "43" {
		t.Errorf("%q with the trailers %v", text, resp.Trailer)
	}
	asked := &counted{Reader: zeros(1 << 20)}
	if resp, _ := f.fetch(t, http.MethodPut, route+"/refuse", asked, "Expect: 100-continue"); resp.StatusCode != http.StatusExpectationFailed || asked.n.Load() != 0 {
		t.Errorf("a body that is refused: %d, %d bytes of it were sent", resp.StatusCode, asked.n.Load())
	}
}

// counted counts what is read.
type counted struct {
	io.Reader
	n atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

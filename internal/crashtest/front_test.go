package crashtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"
)

// front is several API processes behind one address: each connection goes to the next of
// them that is there.
type front struct {
	s         *site
	addresses []string
	next      atomic.Uint64
	apis      []*process
	client    *http.Client
	refused   atomic.Int64 // connections that nobody took, or that were cut before an answer
}

// narrowBuffers is what the kernel may hold on each side of a connection, in bytes.
const narrowBuffers = 4 << 10

// newFront starts n API processes. They hold little of what a client does not take.
func (s *site) newFront(n int) *front {
	s.t.Helper()
	s.order.Buffers = narrowBuffers
	f := &front{s: s}
	for range n {
		address := freeAddress(s.t)
		f.addresses = append(f.addresses, address)
		f.apis = append(f.apis, s.api(address, false))
	}
	f.client = &http.Client{Transport: &http.Transport{DialContext: f.dial, DisableKeepAlives: true}}
	return f
}

// dial connects to the next process that takes it.
func (f *front) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	dialer := net.Dialer{Control: func(_, _ string, conn syscall.RawConn) (err error) {
		failure := conn.Control(func(fd uintptr) { // before the other side is told how much it may send
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, narrowBuffers)
		})
		return errors.Join(failure, err)
	}}
	var failure error
	for range f.addresses {
		address := f.addresses[f.next.Add(1)%uint64(len(f.addresses))]
		conn, err := dialer.DialContext(ctx, network, address)
		if err == nil {
			return conn, nil
		}
		failure = err
	}
	return nil, failure
}

// request makes a request of whichever process; the answer's body is the caller's to close.
func (f *front) request(ctx context.Context, method, path string, header map[string]string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://harvest"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		f.refused.Add(1)
	}
	return resp, err
}

// post makes a request that changes something, again and again until it is answered.
func (f *front) post(ctx context.Context, path, key string, body []byte) (status int, answer []byte, err error) {
	for {
		resp, err := f.request(ctx, http.MethodPost, path, map[string]string{"Idempotency-Key": key}, body)
		if err == nil {
			answer, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if err == nil && resp.StatusCode != http.StatusServiceUnavailable {
			return resp.StatusCode, answer, nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return 0, nil, fmt.Errorf("POST %s was not answered: %w", path, err)
		}
	}
}

// disturb ends and restarts processes, one or all of them, killed or told to stop, until
// done, and gives how often. A process that was killed comes back at its address.
func (f *front) disturb(rng *rand.Rand, done <-chan struct{}) (kills, stops int) {
	f.s.t.Helper()
	for {
		select {
		case <-done:
			return kills, stops
		case <-time.After(between(rng, 300*time.Millisecond, 5*time.Second)):
		}
		first, n := rng.IntN(len(f.apis)), 1
		if rng.IntN(4) == 0 {
			n = len(f.apis)
		}
		for i := range n {
			api := f.apis[(first+i)%len(f.apis)]
			if rng.IntN(3) == 0 {
				stops++
				api.stop()
			} else {
				kills++
				api.kill()
			}
		}
		<-time.After(between(rng, 0, 400*time.Millisecond))
		for i := range n {
			at := (first + i) % len(f.apis)
			f.apis[at] = f.s.api(f.addresses[at], false)
		}
	}
}

// between draws a duration.
func between(rng *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(rng.Int64N(int64(to-from)+1))
}

// pause waits, or gives the error of ctx where that ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

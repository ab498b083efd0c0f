package machinetest_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// wire is a network between two processes that can be cut, or swallow what is sent.
type wire struct {
	address string

	mu      sync.Mutex
	changed *sync.Cond
	target  string
	dead    bool // connections are refused
	silent  bool // nothing passes, and nobody is told
	closed  bool
	open    map[net.Conn]bool
}

func newWire(t *testing.T, target string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{address: listener.Addr().String(), target: target, open: map[net.Conn]bool{}}
	w.changed = sync.NewCond(&w.mu)
	t.Cleanup(func() {
		_ = listener.Close()
		w.set(func() { w.closed, w.dead = true, true })
		w.drop()
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go w.carry(conn)
		}
	}()
	return w
}

func (w *wire) set(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	w.changed.Broadcast()
}

// cut ends all connections, and refuses others.
func (w *wire) cut() {
	w.set(func() { w.dead = true })
	w.drop()
}

// silence lets nothing pass any more. Both ends believe that they are connected. What was sent
// arrives once the wire is mended, as TCP has it, where both ends have waited for so long.
func (w *wire) silence() { w.set(func() { w.silent = true }) }

// mend lets all pass again.
func (w *wire) mend() { w.set(func() { w.dead, w.silent = false, false }) }

// lead makes new connections lead elsewhere, and ends the others.
func (w *wire) lead(target string) {
	w.set(func() { w.target = target })
	w.drop()
}

// drop resets all connections.
func (w *wire) drop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn := range w.open {
		reset(conn)
	}
	clear(w.open)
}

func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// keep notes a connection, unless the wire is cut.
func (w *wire) keep(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		reset(conn)
		return false
	}
	w.open[conn] = true
	return true
}

// passes waits while the wire is silent.
func (w *wire) passes() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.silent && !w.closed {
		w.changed.Wait()
	}
}

func (w *wire) carry(near net.Conn) {
	w.passes()
	w.mu.Lock()
	target := w.target
	w.mu.Unlock()
	if !w.keep(near) {
		return
	}
	far, err := net.Dial("tcp", target)
	if err != nil || !w.keep(far) {
		reset(near)
		return
	}
	var both sync.WaitGroup
	both.Go(func() { w.pipe(far, near) })
	both.Go(func() { w.pipe(near, far) })
	both.Wait()
	w.mu.Lock()
	delete(w.open, near)
	delete(w.open, far)
	w.mu.Unlock()
}

// pipe carries one direction to its end, and ends both then.
func (w *wire) pipe(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.passes()
		if n > 0 {
			if _, failure := to.Write(buffer[:n]); failure != nil {
				err = failure
			}
		}
		if err == io.EOF {
			if tcp, ok := to.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
				return
			}
		}
		if err != nil {
			_ = to.Close()
			_ = from.Close()
			return
		}
	}
}

package domain

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync/atomic"
	"time"
)

// lastStamp is the stamp of the newest id.
var lastStamp atomic.Uint64

// stamp gives the time in units of 1/4096 of a millisecond, and more than any time before.
func stamp() uint64 {
	now := time.Now()
	at := uint64(now.UnixMilli())<<12 | uint64(now.Nanosecond()%1e6)<<12/1e6
	for {
		last := lastStamp.Load()
		if next := max(at, last+1); lastStamp.CompareAndSwap(last, next) {
			return next
		}
	}
}

// NewID gives a fresh identifier: a UUID version 7 (RFC 9562, method 3 of its section 6.2) in its
// text form. Those of one process sort in the order in which they were made, those of several by
// their clocks. Workflow code must not call it: it reads a clock and a random source.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[8:]) // crypto/rand.Read never returns an error
	at := stamp()
	binary.BigEndian.PutUint64(b[:8], at>>12<<16|at&0x0fff)
	b[6] |= 0x70
	b[8] = b[8]&0x3f | 0x80
	var out [36]byte
	for i, pos := range [5][3]int{{0, 0, 4}, {9, 4, 6}, {14, 6, 8}, {19, 8, 10}, {24, 10, 16}} {
		hex.Encode(out[pos[0]:], b[pos[1]:pos[2]])
		if i > 0 {
			out[pos[0]-1] = '-'
		}
	}
	return string(out[:])
}

package domain

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// NewID gives a fresh identifier: a UUID version 7 (RFC 9562) in its text form, which
// sorts by the time it was made. Workflow code must not call it: it reads a clock and a
// random source.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[6:]) // crypto/rand.Read never returns an error
	ms := uint64(time.Now().UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
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

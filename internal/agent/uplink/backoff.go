package uplink

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff gives the waits between attempts: doubling from First to Most, each drawn between
// half of it and the whole, so that a thousand agents don't come back in one moment.
type Backoff struct {
	First time.Duration
	Most  time.Duration
	next  time.Duration
}

// Reset begins anew, after a success.
func (b *Backoff) Reset() { b.next = 0 }

// Next gives the next wait.
func (b *Backoff) Next() time.Duration {
	b.next = min(max(2*b.next, b.First), b.Most)
	return Jitter(b.next)
}

// Jitter draws a wait between the half of d and d.
func Jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// Sleep waits, or ends with ctx, and reports whether it waited.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

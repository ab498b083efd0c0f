// Package clock tells the time.
package clock

import "time"

// Clock tells the time.
type Clock interface {
	Now() time.Time
	Sleep(d time.Duration)
}

// System is the machine's clock.
type System struct{}

func (System) Now() time.Time        { return time.Now() }
func (System) Sleep(d time.Duration) { time.Sleep(d) }

// Fixed stands still.
type Fixed struct{ at time.Time }

// At makes a Fixed.
func At(t time.Time) *Fixed { return &Fixed{at: t} }

func (f *Fixed) Now() time.Time        { return f.at }
func (f *Fixed) Sleep(d time.Duration) { f.advance(d) }

func (f *Fixed) advance(d time.Duration) *Fixed {
	f.at = f.at.Add(d)
	return f
}

// Default is what is used where nobody cares.
var Default Clock = System{}

// Since gives the time since t.
func Since(t time.Time) time.Duration { return Default.Now().Sub(t) }

// Stopwatch measures.
type Stopwatch struct {
	Clock
	begin time.Time
	stops []func(time.Duration)
}

// Start begins.
func Start(c Clock) *Stopwatch {
	w := &Stopwatch{Clock: c}
	w.begin = w.Now()
	return w
}

// OnStop adds a callback.
func (w *Stopwatch) OnStop(f func(time.Duration)) { w.stops = append(w.stops, f) }

// Stop ends.
func (w *Stopwatch) Stop() time.Duration {
	d := w.Now().Sub(w.begin)
	for _, stop := range w.stops {
		stop(d)
	}
	w.Clock.Sleep(0)
	return d
}

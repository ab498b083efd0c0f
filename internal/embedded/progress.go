package embedded

import (
	"sync/atomic"
	"time"
)

// step reports one long step to a ProgressFunc until its end is called.
type step struct {
	name  string
	unit  string
	begun time.Time
	done  atomic.Int64
	total atomic.Int64
	fault atomic.Bool
	quit  chan struct{}
	idle  chan struct{}
}

// beginStep starts to report; a nil report is fine and reports to nobody.
func beginStep(report ProgressFunc, name, unit string) *step {
	s := &step{name: name, unit: unit, begun: time.Now(), quit: make(chan struct{}), idle: make(chan struct{})}
	if report == nil {
		close(s.idle)
		return s
	}
	report(s.now(false))
	go s.tick(report)
	return s
}

func (s *step) tick(report ProgressFunc) {
	defer close(s.idle)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			report(s.now(false))
		case <-s.quit:
			report(s.now(true))
			return
		}
	}
}

func (s *step) now(ended bool) Progress {
	return Progress{
		Step: s.name, Unit: s.unit, Done: s.done.Load(), Total: s.total.Load(),
		Elapsed: time.Since(s.begun), Ended: ended, Failed: s.fault.Load(),
	}
}

// end reports the end of the step, with the error it ended with, and waits until the
// report has been made.
func (s *step) end(err *error) {
	s.fault.Store(*err != nil)
	close(s.quit)
	<-s.idle
}

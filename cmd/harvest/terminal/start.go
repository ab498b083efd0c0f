package terminal

import (
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/embedded"
)

// tellEvery is how often a plain screen hears of a step that lasts.
const tellEvery = 10 * time.Second

// Start shows the long steps of a start.
type Start struct {
	screen *Screen
	now    embedded.Progress
	told   time.Duration // of the running step, on a plain screen
}

// NewStart begins to show a start.
func NewStart(screen *Screen) *Start { return &Start{screen: screen} }

// Show is told of progress; it is an embedded.ProgressFunc.
func (s *Start) Show(p embedded.Progress) {
	s.screen.mu.Lock()
	s.now = p
	s.screen.mu.Unlock()
	switch {
	case p.Ended:
		s.screen.Status(nil)
		sign := s.screen.Style(Green, s.screen.mark("✓", "+"))
		if p.Failed {
			sign = s.screen.Style(Red, s.screen.mark("✗", "!"))
		}
		s.screen.Line("%s %s  %s", sign, p.Step, s.screen.Style(Dim, seconds(p.Elapsed)))
		s.told = 0
	case s.screen.fancy:
		s.screen.Status(s.status)
	case p.Elapsed-s.told >= tellEvery:
		s.told = p.Elapsed
		s.screen.Line("  %s: %s%s", p.Step, seconds(p.Elapsed), amount(p))
	}
}

func (s *Start) status(width int) string {
	p := s.now
	clock := s.screen.Style(Dim, seconds(p.Elapsed))
	if p.Total == 0 {
		return clip(p.Step+amount(p), width-12) + "  " + clock
	}
	numbers := amount(p)
	barWidth := 24
	return clip(p.Step, width-barWidth-len(numbers)-14) + "  " + s.screen.bar(p.Done, p.Total, barWidth) + numbers + "  " + clock
}

// amount says how much is done.
func amount(p embedded.Progress) string {
	done := p.Done
	if p.Total > 0 {
		done = min(done, p.Total)
	}
	switch {
	case p.Unit == "" || done == 0 && p.Total == 0:
		return ""
	case p.Unit == "bytes" && p.Total > 0:
		return fmt.Sprintf(" %.1f/%s", float64(done)/1e6, megabytes(p.Total))
	case p.Unit == "bytes":
		return " " + megabytes(done)
	case p.Total > 0:
		return fmt.Sprintf(" %s/%s %s", count(done), count(p.Total), p.Unit)
	}
	return fmt.Sprintf(" %s %s", count(done), p.Unit)
}

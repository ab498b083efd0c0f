package main

import (
	"context"
	"os"
	"os/signal"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// cancelPatience is how long a cancel is tried for.
const cancelPatience = 10 * time.Second

// interrupt is what a Ctrl-C does to what goes on without this program.
type interrupt struct {
	of     string // what goes on
	cancel func(context.Context) error
	note   func(format string, args ...any)
	leave  func() // ends the following
}

// onInterrupt has the first Ctrl-C, by which ctx ends, ask for the end of what is followed, and a
// second one leave it alone. The function that it gives undoes that.
func (p *program) onInterrupt(ctx, following context.Context, i interrupt) (undo func() bool) {
	return context.AfterFunc(ctx, func() {
		again := p.interrupts
		if again == nil {
			own := make(chan os.Signal, 1)
			signal.Notify(own, os.Interrupt)
			defer signal.Stop(own)
			again = own
		}
		i.note("asking for the end of %s; Ctrl-C once more leaves it alone", i.of)
		go i.ask(following)
		select {
		case <-again:
			i.leave()
		case <-following.Done():
		}
	})
}

func (i interrupt) ask(ctx context.Context) {
	asking, cancel := context.WithTimeout(ctx, cancelPatience)
	defer cancel()
	if err := i.cancel(asking); err != nil && ctx.Err() == nil {
		i.note("it was not canceled: %s", domain.VisibleFault(domain.PublicMessage(err)))
	}
}

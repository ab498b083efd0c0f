package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// borrowed is a terminal whose mode is another one for a while: it shows nothing of what is typed,
// or passes on each key as it is. However the program ends meanwhile by a signal, or is stopped by
// one, the terminal is left as it was; only SIGKILL and SIGSTOP can't be seen.
type borrowed struct {
	file  *os.File
	again func()        // called as the program goes on after it was stopped; nil for nothing
	ended chan struct{} // closed by a signal that is to end the program
	over  chan struct{} // closed by giveBack

	signals chan os.Signal
	watched sync.WaitGroup

	mu     sync.Mutex
	before *term.State
	during *term.State // as it was when the program was stopped; nil for before
	given  bool        // back
}

// borrow notes how a terminal is, before its mode is changed. Give it back in the end.
func borrow(file *os.File, again func()) (*borrowed, error) {
	before, err := term.GetState(int(file.Fd()))
	if err != nil {
		return nil, fmt.Errorf("look at the terminal: %w", err)
	}
	b := &borrowed{
		file: file, again: again, before: before,
		ended: make(chan struct{}), over: make(chan struct{}), signals: make(chan os.Signal, 8),
	}
	signal.Notify(b.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGCONT)
	b.watched.Go(b.watch)
	return b, nil
}

// raw has the terminal pass on each key as it is.
func (b *borrowed) raw() error {
	_, err := term.MakeRaw(int(b.file.Fd()))
	if err == nil {
		b.during, err = term.GetState(int(b.file.Fd()))
	}
	if err != nil {
		return fmt.Errorf("change the terminal: %w", err)
	}
	return nil
}

// giveBack leaves the terminal as it was; a second time it does nothing.
func (b *borrowed) giveBack() {
	b.mu.Lock()
	given := b.given
	if !given {
		b.given = true
		_ = term.Restore(int(b.file.Fd()), b.before) // there is nothing else to try
		close(b.over)
	}
	b.mu.Unlock()
	b.watched.Wait()
}

func (b *borrowed) watch() {
	defer signal.Stop(b.signals)
	for {
		select {
		case <-b.over:
			return
		case sent := <-b.signals:
			switch sent {
			case syscall.SIGTSTP:
				b.lend()
			case syscall.SIGCONT:
				b.takeAgain()
			default:
				b.end(sent)
				return
			}
		}
	}
}

// lend leaves the terminal as it was, to whoever has it while the program is stopped.
func (b *borrowed) lend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.given {
		return
	}
	if now, err := term.GetState(int(b.file.Fd())); err == nil {
		b.during = now
	}
	_ = term.Restore(int(b.file.Fd()), b.before)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) // which works whoever is the parent
}

// takeAgain changes the mode anew. A program that goes on in the background stops at that.
func (b *borrowed) takeAgain() {
	b.mu.Lock()
	if b.given || b.during == nil {
		b.mu.Unlock()
		return
	}
	_ = term.Restore(int(b.file.Fd()), b.during)
	b.mu.Unlock()
	if b.again != nil {
		b.again()
	}
}

// end leaves the terminal as it was, for good; the next signal finds the program without this
// watch. SIGQUIT does then what it does otherwise.
func (b *borrowed) end(by os.Signal) {
	b.mu.Lock()
	if !b.given {
		_ = term.Restore(int(b.file.Fd()), b.before)
	}
	b.mu.Unlock()
	close(b.ended)
	if by == syscall.SIGQUIT {
		signal.Reset(by)
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGQUIT)
	}
}

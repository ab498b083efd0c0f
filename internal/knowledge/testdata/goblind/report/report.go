// Package report tells what was done. It names what it needs itself.
package report

import (
	"fmt"
	"io"
)

type closer interface {
	Close() error
}

// Sink is where a report goes.
type Sink interface {
	closer
	Send(line string) error
	Name() string
}

// Hooks are called on the way.
type Hooks struct {
	Begin func(name string)
	End   func(name string, err error)
	lines map[string]func() string
}

var hooks = Hooks{Begin: begin}

// Default is what Write uses.
var Default = &Hooks{End: finish}

func begin(name string) {}

func finish(name string, err error) { note(name, err) } //~ note report.go:note

var note = func(name string, err error) { fmt.Println(name, err) } //~ Println -

func header() string { return "report" }

// Write sends lines.
func Write(sink Sink, lines ...string) (err error) {
	hooks.Begin(sink.Name())                         //~ Begin report.go:begin; Name report.go:Sink.Name
	defer func() { Default.End(sink.Name(), err) }() //~ End report.go:finish; Name report.go:Sink.Name
	defer sink.Close()                               //~ Close report.go:closer.Close
	h := Hooks{lines: map[string]func() string{"head": header}}
	if head := h.lines["head"]; head != nil {
		if err := sink.Send(head()); err != nil { //~ Send report.go:Sink.Send; head report.go:header
			return err
		}
	}
	for _, line := range lines {
		if err := sink.Send(line); err != nil { //~ Send report.go:Sink.Send
			return fmt.Errorf("send to %s: %w", sink.Name(), err) //~ Errorf -; Name report.go:Sink.Name
		}
	}
	return nil
}

type lengths struct{ w io.Writer }

// Lengths writes how long lines are.
func Lengths(w io.Writer) Sink { return lengths{w} }

func (l lengths) Send(line string) error { _, err := fmt.Fprintln(l.w, len(line)); return err } //~ Fprintln -

func (lengths) Name() string { return "lengths" }

func (lengths) Close() error { return nil }

// Package plugin is what can be plugged in.
package plugin

import (
	"bufio"
	"io"
	"strings"
)

// Base has what all plugins have.
type Base struct {
	name string
	log  Logger
}

// Logger is where plugins write.
type Logger interface {
	Logf(format string, args ...any)
}

// NewBase names a plugin.
func NewBase(name string, log Logger) Base { return Base{name, log} }

// Name gives the name.
func (b *Base) Name() string { return b.name }

// Say writes.
func (b Base) Say(text string) {
	if b.log != nil {
		b.log.Logf("%s: %s", b.Name(), text) //~ Logf plugin.go:Logger.Logf; Name plugin.go:Base.Name
	}
}

// Upper writes in capitals.
type Upper struct {
	Base
	w io.Writer
}

// NewUpper makes one.
func NewUpper(w io.Writer) *Upper {
	return &Upper{Base: NewBase("upper", nil), w: w} //~ NewBase plugin.go:NewBase
}

// Send writes a line.
func (u *Upper) Send(line string) error {
	u.Say(line)                                          //~ Say plugin.go:Base.Say
	_, err := io.WriteString(u.w, strings.ToUpper(line)) //~ WriteString -; ToUpper -
	return err
}

// Close ends.
func (u *Upper) Close() error { return nil }

// Counting counts what another sends.
type Counting struct {
	sender
	n int
}

type sender interface {
	Send(line string) error
}

// Count wraps.
func Count(s sender) *Counting { return &Counting{sender: s} }

// Send counts and sends.
func (c *Counting) Send(line string) error {
	c.n++
	return c.sender.Send(line) //~ Send plugin.go:sender.Send
}

// Lines reads lines.
func Lines(r io.Reader) (lines []string) {
	for s := bufio.NewScanner(r); s.Scan(); { //~ NewScanner -; Scan -
		lines = append(lines, s.Text()) //~ Text -
	}
	return lines
}

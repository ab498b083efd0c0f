package terminal

import (
	"bytes"
	"io"
	"unicode/utf8"
)

const (
	escape = 0x1b
	// maxSequence is more than any escape sequence that means something has, in bytes.
	maxSequence = 4 << 10
)

// Output writes what programs elsewhere wrote to a terminal: text and its colours. What would
// move the cursor, change the terminal or make it answer is left out.
type Output struct {
	out    io.Writer
	held   []byte // the beginning of a character or a sequence that has not come whole
	styled bool   // colours were set
	open   bool   // a line was begun and not ended
}

// NewOutput writes to a terminal. Close it in the end.
func NewOutput(out io.Writer) *Output { return &Output{out: out} }

// Write implements io.Writer.
func (o *Output) Write(piece []byte) (int, error) {
	text := append(o.held, piece...)
	o.held = nil
	var fit bytes.Buffer
	for len(text) > 0 {
		n, keep := part(text)
		if n == 0 {
			o.held = bytes.Clone(text)
			break
		}
		if keep {
			fit.Write(text[:n])
			o.styled = o.styled || text[0] == escape
		}
		text = text[n:]
	}
	if _, err := o.out.Write(fit.Bytes()); err != nil {
		return 0, err
	}
	if fit.Len() > 0 {
		o.open = fit.Bytes()[fit.Len()-1] != '\n'
	}
	return len(piece), nil
}

// EndLine ends a line that was begun, so that others can write.
func (o *Output) EndLine() {
	if o.open {
		o.open = false
		_, _ = io.WriteString(o.out, "\n") // who reads it has gone otherwise
	}
}

// Close gives the terminal its own colours back.
func (o *Output) Close() {
	if o.styled {
		_, _ = io.WriteString(o.out, "\x1b[0m")
	}
}

// part gives the length of the first character or escape sequence of a text, 0 where it has not
// come whole, and whether it is harmless.
func part(text []byte) (n int, keep bool) {
	if text[0] == escape {
		n, keep = sequence(text)
		if n == 0 && len(text) >= maxSequence { // it never ends: what follows is text
			return 1, false
		}
		return n, keep
	}
	r, n := utf8.DecodeRune(text)
	switch {
	case r == utf8.RuneError && !utf8.FullRune(text):
		return 0, false
	case r == '\n', r == '\t', r == '\r':
		return n, true
	}
	return n, r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f)
}

// sequence gives the length of an escape sequence, 0 where it has not come whole; colours are
// harmless.
func sequence(text []byte) (n int, keep bool) {
	if len(text) < 2 {
		return 0, false
	}
	switch text[1] {
	case '[': // parameters and a letter
		for i, b := range text[2:] {
			if b >= 0x40 && b <= 0x7e {
				return i + 3, b == 'm'
			}
			if b < 0x20 || b > 0x3f { // it is broken off
				return i + 2, false
			}
		}
		return 0, false
	case ']', 'P', 'X', '^', '_': // a text that the terminal takes, up to its end
		for i, b := range text[2:] {
			if b == 0x07 {
				return i + 3, false
			}
			if b == '\\' && text[i+1] == escape {
				return i + 3, false
			}
		}
		return 0, false
	}
	for i, b := range text[1:] {
		if b < 0x20 || b > 0x2f {
			return i + 2, false
		}
	}
	return 0, false
}

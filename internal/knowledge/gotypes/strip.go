package gotypes

import (
	"bytes"
)

// Strip takes the comments, the bodies of functions, and the elements of literals that
// variables are given, out of a Go source, and leaves its line breaks: what stays declares
// the same at the same lines. A source whose brackets or
// quotes are not closed comes back as it is. It is many times as fast as parsing.
func Strip(src []byte) []byte {
	s := stripper{src: src, out: make([]byte, 0, len(src)/4+64)}
	for s.at < len(src) {
		step := func() bool { return s.token(true) }
		switch {
		case s.depth > 0:
		case s.keyword("func"):
			step = s.function
		case s.keyword("var"):
			step = s.variables
		}
		if !step() {
			return src
		}
	}
	if s.depth != 0 {
		return src
	}
	return s.out
}

// stripper goes through a source token by token.
type stripper struct {
	src   []byte
	at    int
	depth int // of brackets of all kinds
	out   []byte
}

// keyword reports whether a word stands here at the beginning of a line.
func (s *stripper) keyword(word string) bool {
	return (s.at == 0 || s.src[s.at-1] == '\n') && bytes.HasPrefix(s.src[s.at:], []byte(word)) &&
		s.at+len(word) < len(s.src) && !wordByte(s.src[s.at+len(word)])
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// function copies a function's signature and skips its body: the brackets that open outside
// of all others and do not belong to a struct or interface type.
func (s *stripper) function() bool {
	for s.at < len(s.src) {
		switch c := s.src[s.at]; {
		case c == '{' && s.depth == 0 && !s.afterTypeWord():
			return s.body()
		case c == '\n' && s.depth == 0: // a function without a body
			return s.token(true)
		}
		if !s.token(true) {
			return false
		}
	}
	return true
}

// variables copies a declaration of variables without what stands in the brackets of their
// values. Arrays whose length is that of their literal are left alone.
func (s *stripper) variables() bool {
	value := -1 // where the value of the variable begins in out
	for s.at < len(s.src) {
		switch c := s.src[s.at]; {
		case c == '\n' && s.depth == 0:
			return s.token(true)
		case c == '\n' && s.depth == 1:
			value = -1
		case c == '=':
			value = len(s.out)
		case c == '{' && value >= 0 && !s.afterTypeWord() && !bytes.Contains(s.out[value:], []byte("...")):
			s.out = append(s.out, '{')
			if !s.body() {
				return false
			}
			s.out = append(s.out, '}')
			continue
		}
		if !s.token(true) {
			return false
		}
	}
	return true
}

// afterTypeWord reports whether the word before is struct or interface.
func (s *stripper) afterTypeWord() bool {
	before := bytes.TrimRight(s.out, " \t")
	return bytes.HasSuffix(before, []byte("struct")) || bytes.HasSuffix(before, []byte("interface"))
}

// body skips from an opening bracket to the one that closes it, and keeps the line breaks.
func (s *stripper) body() bool {
	outside := s.depth
	for begun := false; !begun || s.depth > outside; begun = true {
		for s.at < len(s.src) && dull[s.src[s.at]] {
			s.at++
		}
		if s.at >= len(s.src) || !s.token(false) {
			return false
		}
	}
	return true
}

// dull are the bytes that are skipped without a look: all but line breaks, brackets, quotes,
// and what may begin a comment.
var dull = func() (table [256]bool) {
	for i := range table {
		table[i] = !bytes.ContainsRune([]byte("\n{}()[]\"'`/"), rune(i)) || i >= 0x80
	}
	return table
}()

// token goes over the next token, or the next byte of none; it is copied where keep is set.
// Comments are never copied, line breaks always.
func (s *stripper) token(keep bool) bool {
	from := s.at
	switch c := s.src[s.at]; c {
	case '"', '\'', '`':
		if !s.quoted(c) {
			return false
		}
	case '/':
		if n := s.comment(); n > 0 {
			s.breaks(s.src[s.at : s.at+n])
			s.at += n
			return true
		}
		s.at++
	case '{', '(', '[':
		s.depth++
		s.at++
	case '}', ')', ']':
		if s.depth--; s.depth < 0 {
			return false
		}
		s.at++
	default:
		for s.at++; wordByte(c) && s.at < len(s.src) && wordByte(s.src[s.at]); s.at++ {
		}
	}
	if keep {
		s.out = append(s.out, s.src[from:s.at]...)
	} else {
		s.breaks(s.src[from:s.at])
	}
	return true
}

// breaks copies the line breaks of a text.
func (s *stripper) breaks(text []byte) {
	for range bytes.Count(text, []byte("\n")) {
		s.out = append(s.out, '\n')
	}
}

// quoted goes over a string or a rune.
func (s *stripper) quoted(quote byte) bool {
	for s.at++; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; {
		case c == quote:
			s.at++
			return true
		case c == '\\' && quote != '`':
			s.at++
		case c == '\n' && quote != '`':
			return false
		}
	}
	return false
}

// comment gives the length of a comment that begins here; 0 for none. The line break that
// ends it is not part of it.
func (s *stripper) comment() int {
	rest := s.src[s.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			return end
		}
		return len(rest)
	case bytes.HasPrefix(rest, []byte("/*")):
		if end := bytes.Index(rest[2:], []byte("*/")); end >= 0 {
			return end + 4
		}
	}
	return 0
}

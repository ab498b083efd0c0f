// Package terminal shows people what happens: steps as they are done, text as it streams,
// and how far long work is. On a terminal it draws a moving status line and colours; to a
// file or a pipe it writes plain lines.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	defaultWidth = 100
	maxWidth     = 110 // longer lines of prose are hard to read
	frameTime    = 100 * time.Millisecond
)

// Screen is where output goes. Its methods may be called from several goroutines.
type Screen struct {
	mu     sync.Mutex
	out    io.Writer
	fancy  bool // a terminal: status line, colours, wrapping
	width  func() int
	status func(width int) string // renders the moving line; nil for none
	drawn  bool                   // the moving line is on the screen
	inText bool                   // the cursor stands in the middle of a line of text
	frame  int
	quit   chan struct{}
	idle   chan struct{}
}

// Is reports whether a file is a terminal.
func Is(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

// Open gives a screen on a file; it is fancy where that is a terminal that understands it.
// plain asks for plain output in any case.
func Open(file *os.File, plain bool) *Screen {
	fancy := !plain && term.IsTerminal(int(file.Fd()))
	return New(file, fancy, func() int {
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil || width < 20 {
			return defaultWidth
		}
		return width
	})
}

// New gives a screen on any writer. Close it in the end.
func New(out io.Writer, fancy bool, width func() int) *Screen {
	s := &Screen{out: out, fancy: fancy, width: width, quit: make(chan struct{}), idle: make(chan struct{})}
	if fancy {
		go s.animate()
	} else {
		close(s.idle)
	}
	return s
}

// Fancy reports whether the screen is a terminal that moves.
func (s *Screen) Fancy() bool { return s.fancy }

// Close removes the moving line and stops it, and ends a line of text that was left open, so
// that what others write begins a line of its own.
func (s *Screen) Close() {
	s.mu.Lock()
	s.status = nil
	s.clear()
	s.endText()
	s.mu.Unlock()
	select {
	case <-s.quit:
	default:
		close(s.quit)
	}
	<-s.idle
}

func (s *Screen) animate() {
	defer close(s.idle)
	ticker := time.NewTicker(frameTime)
	defer ticker.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-ticker.C:
			s.mu.Lock()
			s.frame++
			s.draw()
			s.mu.Unlock()
		}
	}
}

// Line writes a whole line above the moving one.
func (s *Screen) Line(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.endText()
	fmt.Fprintf(s.out, format+"\n", args...)
	s.draw()
}

// Write writes whole lines above the moving one: log entries.
func (s *Screen) Write(lines []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.endText()
	n, err := s.out.Write(lines)
	s.draw()
	return n, err
}

// Status sets the moving line; it is rendered anew for each frame. nil removes it. Plain
// screens have none.
func (s *Screen) Status(render func(width int) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = render
	s.clear()
	s.draw()
}

// Text writes a piece of running text; the moving line waits until the text's line ends.
func (s *Screen) Text(piece string) {
	if piece == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	fmt.Fprint(s.out, piece)
	s.inText = !strings.HasSuffix(piece, "\n")
}

// endText begins a new line where running text has left one open.
func (s *Screen) endText() {
	if s.inText {
		fmt.Fprintln(s.out)
		s.inText = false
	}
}

func (s *Screen) clear() {
	if s.drawn {
		fmt.Fprint(s.out, "\r\x1b[K")
		s.drawn = false
	}
}

var spinner = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

func (s *Screen) draw() {
	if !s.fancy || s.status == nil || s.inText {
		return
	}
	width := s.width()
	text := s.status(width - 3)
	if text == "" {
		return
	}
	s.clear()
	fmt.Fprintf(s.out, "%s %s", s.Style(Cyan, spinner[s.frame%len(spinner)]), text)
	s.drawn = true
}

// proseWidth is the width at which prose is wrapped.
func (s *Screen) proseWidth() int { return min(s.width()-2, maxWidth) }

// Waits tells that something outside is waited for, and why.
func (s *Screen) Waits(reason string) {
	s.Line("%s %s %s", s.Style(Yellow, s.mark("…", "~")), printable(reason), s.Style(Dim, "(it is tried again)"))
}

package terminal

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// prose writes Markdown that streams in pieces: words wrapped at the screen's width,
// headings, emphasis, code and citations in styles. What is not understood is shown as it
// stands. On a plain screen the text goes through untouched.
type prose struct {
	screen *Screen
	indent string
	word   strings.Builder // the word that has not ended
	blank  int             // spaces before it
	column int             // visible, after the indent
	first  bool            // the word is its line's first
	hang   int             // columns by which wrapped lines go in
	fence  bool            // between ``` lines
	raw    bool            // the line is shown as it stands
	bold   bool
	code   bool
	title  bool
}

func newProse(screen *Screen, indent string) *prose {
	return &prose{screen: screen, indent: indent, first: true}
}

// write takes a piece of any length.
func (p *prose) write(piece string) {
	piece = printable(piece)
	if !p.screen.fancy {
		p.screen.Text(piece)
		return
	}
	for _, r := range piece {
		switch {
		case r == '\n':
			p.endLine()
		case (r == ' ' || r == '\t') && !p.wholeLine():
			p.endWord()
			p.blank++
		default:
			p.word.WriteRune(r)
		}
	}
}

// wholeLine reports whether the line is taken as a whole: code, and rows of tables.
func (p *prose) wholeLine() bool {
	if p.fence || p.raw {
		return true
	}
	p.raw = p.first && (strings.HasPrefix(p.word.String(), "```") || strings.HasPrefix(p.word.String(), "|"))
	return p.raw
}

// flush shows a word that has not ended; the text may go on in the same line.
func (p *prose) flush() {
	if p.word.Len() > 0 {
		p.endLine()
	}
}

func (p *prose) endLine() {
	if p.wholeLine() {
		p.rawLine()
	} else {
		p.endWord()
	}
	p.screen.Text("\n")
	p.word.Reset()
	p.blank, p.column, p.hang = 0, 0, 0
	p.first, p.raw, p.title = true, false, false
	p.bold, p.code = false, false // an emphasis that was never closed ends with its line
}

func (p *prose) rawLine() {
	line := p.word.String()
	style := Dim
	if strings.HasPrefix(strings.TrimSpace(line), "```") {
		p.fence = !p.fence
	} else if p.fence {
		style = Cyan
	}
	p.screen.Text(p.indent + strings.Repeat(" ", p.blank) + p.screen.Style(style, line))
}

var (
	headingMark = regexp.MustCompile(`^#{1,6}$`)
	numberMark  = regexp.MustCompile(`^\d{1,3}[.)]$`)
)

func (p *prose) endWord() {
	word := p.word.String()
	p.word.Reset()
	if word == "" {
		return
	}
	if p.first {
		p.first = false
		p.screen.Text(p.indent + strings.Repeat(" ", p.blank))
		p.column, p.hang, p.blank = p.blank, p.blank, 0
		if p.opensLine(word) {
			return
		}
	}
	p.place(word)
}

// opensLine handles the marks that a line begins with.
func (p *prose) opensLine(word string) bool {
	switch {
	case headingMark.MatchString(word):
		p.title = true
		return true
	case word == "-" || word == "*" || word == "+":
		p.screen.Text(p.screen.Style(Cyan, "•"))
		p.column++
		p.hang += 2
		return true
	case numberMark.MatchString(word):
		p.screen.Text(p.screen.Style(Cyan, word))
		p.column += len(word)
		p.hang += len(word) + 1
		return true
	}
	return false
}

// place writes a word after its blank, on the next line where it doesn't fit.
func (p *prose) place(word string) {
	styled, width := p.styled(word)
	gap := min(p.blank, 1)
	p.blank = 0
	if p.column > p.hang && p.column+gap+width > p.screen.proseWidth()-len(p.indent) {
		p.screen.Text("\n" + p.indent + strings.Repeat(" ", p.hang))
		p.column, gap = p.hang, 0
	}
	if p.column == 0 {
		gap = 0
	}
	p.screen.Text(strings.Repeat(" ", gap) + styled)
	p.column += gap + width
}

// pieces are the marks inside a word: emphasis, code, a citation.
var pieces = regexp.MustCompile("\\*\\*|`|\\[[^\\[\\]\\s:]+:[^\\[\\]\\s:]+:" + domain.CitedPath + ":\\d+(?:-\\d+)?\\]")

// styled renders a word and gives its visible width.
func (p *prose) styled(word string) (string, int) {
	var out strings.Builder
	width := 0
	show := func(text string, cited bool) {
		width += utf8.RuneCountInString(text)
		out.WriteString(p.dress(text, cited))
	}
	rest := word
	for {
		at := pieces.FindStringIndex(rest)
		if at == nil {
			show(rest, false)
			return out.String(), width
		}
		show(rest[:at[0]], false)
		switch mark := rest[at[0]:at[1]]; {
		case mark == "`":
			p.code = !p.code
		case mark == "**" && !p.code:
			p.bold = !p.bold
		default:
			show(mark, mark != "**" && !p.code)
		}
		rest = rest[at[1]:]
	}
}

func (p *prose) dress(text string, cited bool) string {
	switch {
	case cited:
		return p.screen.Style(Dim, text)
	case p.code:
		return p.screen.Style(Cyan, text)
	case p.bold || p.title:
		return p.screen.Style(Bold, text)
	}
	return text
}

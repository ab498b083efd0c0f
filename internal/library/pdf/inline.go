package pdf

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// style is how a piece of running text looks.
type style struct {
	size         float64
	bold, italic bool
	code, strike bool
	link         string
}

func (s style) letters() string {
	var out string
	if s.bold {
		out += "B"
	}
	if s.italic {
		out += "I"
	}
	return out
}

// inline writes the children of a node as running text.
func (p *page) inline(parent ast.Node, s style) {
	if p.depth++; p.depth <= 2*maxDepth {
		for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
			p.piece(n, s)
		}
	}
	p.depth--
}

func (p *page) piece(n ast.Node, s style) {
	switch n := n.(type) {
	case *ast.Text:
		p.write(string(n.Segment.Value(p.source)), s)
		switch {
		case n.HardLineBreak():
			p.Ln(s.height())
		case n.SoftLineBreak():
			p.write(" ", s)
		}
	case *ast.String:
		p.write(string(n.Value), s)
	case *ast.CodeSpan:
		s.code = true
		p.inline(n, s)
	case *ast.Emphasis:
		s.bold = s.bold || n.Level == 2
		s.italic = s.italic || n.Level == 1
		p.inline(n, s)
	case *ast.Link:
		s.link = safeLink(string(n.Destination))
		p.inline(n, s)
	case *ast.AutoLink:
		s.link = safeLink(string(n.URL(p.source)))
		p.write(string(n.Label(p.source)), s)
	case *ast.Image:
		p.write("[image: "+p.plain(n)+"]", s)
	case *ast.RawHTML:
		// left out
	case *east.Strikethrough:
		s.strike = true
		p.inline(n, s)
	case *east.TaskCheckBox:
		box := "[ ] "
		if n.IsChecked {
			box = "[x] "
		}
		p.write(box, s)
	default:
		p.inline(n, s)
	}
}

func (s style) height() float64 { return max(lineHeight, s.size*0.5) }

// write puts a piece of text after what stands in the line.
func (p *page) write(text string, s style) {
	if text = clean(text); text == "" {
		return
	}
	family, letters, size := sans, s.letters(), s.size
	if s.code {
		family, letters, size = mono, "", s.size*0.92
	}
	if s.strike {
		letters += "S"
	}
	p.SetFont(family, letters, size)
	r, g, b := p.GetTextColor()
	if s.link != "" {
		p.SetTextColor(20, 80, 160)
	}
	for part := range parts(text) {
		switch {
		case p.ctx.Err() != nil:
			return
		case s.link == "":
			p.Write(s.height(), part)
		default:
			p.WriteLinkString(s.height(), part, s.link)
		}
	}
	p.SetTextColor(r, g, b)
}

// maxPart is how much is written at once, in bytes: several lines. The time that writing takes
// grows with the square of it.
const maxPart = 1000

// parts cuts a text into pieces of at most maxPart bytes, behind blanks where it has some.
func parts(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > maxPart {
			end := strings.LastIndexByte(text[:maxPart], ' ') + 1
			if end == 0 {
				for end = maxPart; !utf8.RuneStart(text[end]); {
					end--
				}
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
		if text != "" {
			yield(text)
		}
	}
}

// safeLink keeps the links that a reader may follow; "" for others.
func safeLink(target string) string {
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		if strings.HasPrefix(strings.ToLower(target), scheme) {
			return clean(target)
		}
	}
	return ""
}

// plain gives the text of a node without its looks.
func (p *page) plain(parent ast.Node) string {
	var out strings.Builder
	_ = ast.Walk(parent, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker gives no errors
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			out.Write(n.Segment.Value(p.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(n.Value)
		case *ast.AutoLink:
			out.Write(n.Label(p.source))
		}
		return ast.WalkContinue, nil
	})
	return out.String()
}

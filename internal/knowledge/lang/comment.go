package lang

import (
	"strings"
	"unicode"
)

// maxDoc bounds Symbol.Doc, in bytes.
const maxDoc = 2048

func isUpper(r rune) bool { return unicode.IsUpper(r) }

// docState is the last run of comments that stand on lines of their own without an empty
// line between them.
type docState struct {
	start, end uint32
	lead       uint32 // begin of the attributes that follow the comments; 0 without any
}

// noteComment is the handler of comments.
func noteComment(w *walker, n int) {
	node := w.Nodes[n]
	if node.End > node.Start && w.Text[node.End-1] == '\n' {
		node.End--
	}
	line := w.LineStart(node.Start)
	if strings.TrimSpace(w.Text[line:node.Start]) != "" {
		return // it belongs to what stands before it on its line
	}
	if w.doc.end == 0 || w.doc.end > node.Start || w.doc.lead != 0 || !adjoins(w.Text[w.doc.end:node.Start]) {
		w.doc = docState{start: node.Start}
	}
	w.doc.end = node.End
}

// noteAttribute is the handler of attributes that stand beside what they adorn: they are
// part of the definition, and the comment before them is its documentation.
func noteAttribute(w *walker, n int) {
	node := w.Nodes[n]
	switch {
	case w.doc.end == 0 || w.doc.end > node.Start || !adjoins(w.Text[w.doc.end:node.Start]):
		w.doc = docState{start: node.Start, lead: node.Start}
	case w.doc.lead == 0:
		w.doc.lead = node.Start
	}
	w.doc.end = node.End
	w.inside(n)
}

// docBefore gives the text of the comment right before the byte at, without its markers.
func (w *walker) docBefore(at uint32) string {
	d := w.doc
	if d.end == 0 || d.end > at || !adjoins(w.Text[d.end:at]) {
		return ""
	}
	end := d.end
	if d.lead != 0 {
		end = d.lead
	}
	return cleanDoc(w.Text[d.start:end])
}

// withAttributes gives where a definition begins: with the attributes right before it.
func (w *walker) withAttributes(at uint32) uint32 {
	if w.doc.lead == 0 || w.doc.end > at || !adjoins(w.Text[w.doc.end:at]) {
		return at
	}
	return w.doc.lead
}

// adjoins reports whether the text between two things is blank and has no empty line.
func adjoins(between string) bool {
	return strings.TrimSpace(between) == "" && strings.Count(between, "\n") <= 1
}

// cleanDoc takes the markers of comments away.
func cleanDoc(text string) string {
	text = cut(text, 2*maxDoc)
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "//nolint") {
			continue
		}
		lines = append(lines, stripMarkers(line))
	}
	doc := strings.TrimSpace(strings.Join(lines, "\n"))
	return strings.TrimSpace(clean(doc, maxDoc))
}

var commentOpeners = []string{"/**", "/*!", "/*", "///", "//!", "//", "---", "--[[", "--", "###", "##", "#", "=begin", "=end"}

func stripMarkers(line string) string {
	line = strings.TrimSuffix(line, "*/")
	for _, opener := range commentOpeners {
		if rest, ok := strings.CutPrefix(line, opener); ok {
			return strings.TrimSpace(rest)
		}
	}
	if rest, ok := strings.CutPrefix(line, "*"); ok {
		return strings.TrimSpace(rest)
	}
	return strings.TrimSpace(strings.TrimSuffix(line, "]]"))
}

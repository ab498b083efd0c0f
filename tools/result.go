package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// cite renders a place in the form that answers must use for citations.
func cite(repo, version, file string, line int) string {
	return fmt.Sprintf("[%s:%s:%s:%d]", repo, version, file, max(line, 1))
}

// report gathers the text of a result.
type report struct {
	strings.Builder
	truncated bool
}

func (r *report) line(format string, args ...any) {
	fmt.Fprintf(&r.Builder, format, args...)
	r.WriteByte('\n')
}

// more says that the list was cut, and what to do about it.
func (r *report) more(advice string) {
	r.truncated = true
	r.line("… more results were left out: %s", advice)
}

func (r *report) result(preview string, args ...any) domain.ToolResult {
	return domain.ToolResult{
		Text:      strings.TrimRight(r.String(), "\n"),
		Preview:   fmt.Sprintf(preview, args...),
		Truncated: r.truncated,
	}
}

// hit writes a symbol: its citation, what it is, its signature and the first line of its doc.
func (r *report) hit(h graph.Hit) {
	r.line("%s %s %s (lines %d-%d)", cite(h.Repo, h.Version, h.Path, h.StartLine), h.Kind, h.QualifiedName(), h.StartLine, h.EndLine)
	if h.Signature != "" {
		r.line("    %s", h.Signature)
	}
	if doc := firstSentence(h.Doc); doc != "" {
		r.line("    // %s", doc)
	}
}

// numbered writes lines of source with their numbers, the first being from.
func (r *report) numbered(text string, from int) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	width := len(fmt.Sprint(from + len(lines) - 1))
	for i, l := range lines {
		r.line("%*d  %s", width, from+i, l)
	}
}

func firstSentence(doc string) string {
	doc = strings.Join(strings.Fields(doc), " ")
	if end := strings.Index(doc, ". "); end > 0 {
		doc = doc[:end+1]
	}
	return clip(doc, 200)
}

// clip cuts s to at most limit bytes at a character's border, with a mark where it cut.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// bound keeps a result within the tool's limit, says what was cut, and gives it a preview.
func bound(res domain.ToolResult, limit int) domain.ToolResult {
	if len(res.Text) > limit {
		cut := strings.LastIndexByte(res.Text[:limit], '\n')
		if cut < limit/2 {
			cut = len(clip(res.Text, limit)) - len("…")
		}
		left := len(res.Text) - cut
		res.Text = res.Text[:cut] + fmt.Sprintf("\n… cut here: %d more bytes. Ask for less: a narrower range, query or limit.", left)
		res.Truncated = true
	}
	if res.Preview == "" {
		first, _, _ := strings.Cut(res.Text, "\n")
		res.Preview = first
	}
	res.Preview = clip(strings.ToValidUTF8(res.Preview, "\uFFFD"), maxPreviewBytes)
	res.Text = strings.ToValidUTF8(res.Text, "\uFFFD")
	return res
}

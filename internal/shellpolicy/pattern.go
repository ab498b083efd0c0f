package shellpolicy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ReadOnly, as a pattern, stands for the reviewed commands that only read.
const ReadOnly = "@read-only"

// The bounds of a list of patterns.
const (
	MaxPatterns     = 200
	MaxPatternBytes = 1000
)

// Patterns is a list of commands that a project allows.
//
// A pattern is a command as it would be typed: its words must be those of the command, whatever
// quotes either uses. An unquoted * in a word stands for any characters but / in that word; a
// word * for any one word that is no option; ** as the last word for any words, options too. The
// first word has no *. What stands for a *, is never an option by its first character, and no
// "..". A line passes where each of its commands is allowed, and it has nothing that Judge would
// not look into: substitutions, redirections, assignments and the like ask here, too.
type Patterns struct {
	patterns []pattern
	readOnly bool
}

type pattern struct {
	words []piece
	rest  bool // ** at its end
}

// piece is a word of a pattern: texts with a * between each two.
type piece []string

// PatternFault is a pattern that can't be one.
type PatternFault struct {
	Index  int // in the list
	Reason string
}

// Error implements error.
func (f *PatternFault) Error() string { return f.Reason }

// Compile reads patterns; the error is a *PatternFault.
func Compile(list []string) (Patterns, error) {
	var p Patterns
	if len(list) > MaxPatterns {
		return p, &PatternFault{MaxPatterns, "there are too many patterns"}
	}
	for i, text := range list {
		if text == ReadOnly {
			p.readOnly = true
			continue
		}
		one, reason := compile(text)
		if reason != "" {
			return Patterns{}, &PatternFault{i, reason}
		}
		p.patterns = append(p.patterns, one)
	}
	return p, nil
}

func compile(text string) (p pattern, reason string) {
	if len(text) > MaxPatternBytes {
		return p, "is too long"
	}
	found := judge(text, func([]word) string { return "" })
	if !found.Passes {
		return p, "is not a command that could be allowed: " + found.Reason
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 {
		return p, "must be one simple command"
	}
	call, simple := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !simple || len(call.Assigns) > 0 {
		return p, "must be one simple command"
	}
	for i, w := range call.Args {
		if w.Lit() == "**" {
			if i == 0 || i < len(call.Args)-1 {
				return p, "may have ** as its last word alone, behind a command"
			}
			p.rest = true
			break
		}
		one, reason := pieceOf(w)
		if reason != "" {
			return p, reason
		}
		p.words = append(p.words, one)
	}
	return p, ""
}

// pieceOf reads a word of a pattern.
func pieceOf(w *syntax.Word) (piece, string) {
	out := piece{""}
	for i, part := range w.Parts {
		var one word
		lit, unquoted := part.(*syntax.Lit)
		if !unquoted {
			var reason string
			if one, reason = read(&syntax.Word{Parts: w.Parts[i : i+1]}); reason != "" {
				return nil, reason
			}
			if !one.fixed {
				return nil, "must not have variables"
			}
			out[len(out)-1] += one.text
			continue
		}
		for j, text := range strings.Split(lit.Value, "*") {
			if strings.ContainsAny(text, `?[\~`) {
				return nil, `may have unquoted * and no other signs: put words with \, ?, [ or ~ between quotes`
			}
			if j > 0 {
				out = append(out, "")
			}
			out[len(out)-1] += text
		}
	}
	return out, ""
}

// Judge gives the verdict on a line by the patterns.
func (p Patterns) Judge(line string) Verdict { return judge(line, p.rule) }

// evaluating are builtins that take texts for names of variables, whose subscripts they evaluate:
// with what is quoted there, too.
var evaluating = []string{"test", "[", "printf", "read", "unset", "let", "declare", "typeset", "export", "readonly", "local", "mapfile", "readarray", "wait", "getopts"}

func (p Patterns) rule(words []word) string {
	if slices.Contains(evaluating, words[0].text) {
		for _, w := range words[1:] {
			if at := strings.Index(w.text, "["); at >= 0 && strings.ContainsAny(w.text[at:], "$`") {
				return words[0].text + " would evaluate " + w.text
			}
		}
	}
	for _, one := range p.patterns {
		if one.matches(words) {
			return ""
		}
	}
	if p.readOnly {
		if reason := readOnly(words); reason != "" {
			return "the project's list does not allow it, and " + reason
		}
		return ""
	}
	return words[0].text + ", as it is called here, is not on the project's list of allowed commands"
}

func (p pattern) matches(words []word) bool {
	if len(words) < len(p.words) || len(words) > len(p.words) && !p.rest {
		return false
	}
	for i, w := range words {
		if !w.fixed || i < len(p.words) && !p.words[i].matches(w.text) {
			return false
		}
	}
	return true
}

// matches reports whether a word is what a pattern's word stands for. What stands for a * never
// leads out of its folder, and is never an option.
func (p piece) matches(text string) bool {
	if len(p) == 1 {
		return text == p[0]
	}
	whole := len(p) == 2 && p[0] == "" && p[1] == ""
	if p[0] == "" && strings.HasPrefix(text, "-") {
		return false
	}
	rest, begun := strings.CutPrefix(text, p[0])
	if !begun {
		return false
	}
	for i, part := range p[1:] {
		at := strings.Index(rest, part)
		if i == len(p)-2 {
			at = len(rest) - len(part)
		}
		if at < 0 || !strings.HasSuffix(rest[:at+len(part)], part) {
			return false
		}
		gap := rest[:at]
		if !whole && strings.Contains(gap, "/") {
			return false
		}
		rest = rest[at+len(part):]
	}
	return whole || !climbs(text)
}

// climbs reports whether a path has an element "..".
func climbs(path string) bool {
	for element := range strings.SplitSeq(path, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

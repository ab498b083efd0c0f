package pg

import (
	"bytes"
	"context"
	"math/bits"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	maxLineBytes = 400
	maxWords     = 10
	// nearLines is how far from a line the other words of a query may stand.
	nearLines = 3
	// fileMatches bounds what one file contributes.
	fileMatches = 500
	// windowBytes is about how much text an expression is matched against at once: while it is,
	// nothing can stop it.
	windowBytes = 64 << 10
)

// lineMatch is a line that matches; score is 0 for expressions.
type lineMatch struct {
	line  int // from 1
	score float64
}

// matcher finds the lines of a text, in order.
type matcher interface {
	match(ctx context.Context, path string, text []byte) []lineMatch
}

func newMatcher(q graph.TextQuery) (matcher, error) {
	pattern := strings.TrimSpace(q.Pattern)
	if q.Regexp {
		pattern = q.Pattern
	}
	if pattern == "" {
		return nil, domain.Invalid("pattern", "say what to search for")
	}
	if len(pattern) > 1000 {
		return nil, domain.Invalid("pattern", "at most 1000 bytes")
	}
	if q.Regexp {
		return newExpression(pattern)
	}
	return newWords(pattern), nil
}

// expression matches a regular expression; literal is in every match, where it is known.
type expression struct {
	re      *regexp.Regexp
	literal []byte
}

func newExpression(pattern string) (matcher, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl&^syntax.OneLine)
	if err != nil {
		return nil, domain.Invalid("pattern", "is not a regular expression (RE2): %v", err)
	}
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return nil, domain.Invalid("pattern", "is not a regular expression (RE2): %v", err)
	}
	return expression{re: re, literal: []byte(requiredLiteral(parsed.Simplify()))}, nil
}

// requiredLiteral gives the longest text that every match of re holds, "" for none known.
func requiredLiteral(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiteral(re.Sub[0])
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if text := requiredLiteral(sub); len(text) > len(best) {
				best = text
			}
		}
		return best
	}
	return ""
}

// match goes through a text window by window, so that it ends soon after ctx, and goes on after
// the line in which a match ends: a match of many lines would otherwise be looked for in each.
func (e expression) match(ctx context.Context, _ string, text []byte) []lineMatch {
	if !bytes.Contains(text, e.literal) {
		return nil
	}
	var found []lineMatch
	line, counted := 1, 0 // newlines before offset counted
	for at := 0; at <= len(text) && len(found) < fileMatches && ctx.Err() == nil; {
		window := lineEnd(text, min(at+windowBytes, len(text)))
		loc := e.re.FindIndex(text[at:window])
		if loc == nil {
			at = window + 1
			continue
		}
		start := at + loc[0]
		if start == len(text) && start > 0 && text[start-1] == '\n' {
			break // the nothing after the last line
		}
		line += bytes.Count(text[counted:start], []byte{'\n'})
		counted = start
		found = append(found, lineMatch{line: line})
		at = lineEnd(text, max(start, at+loc[1]-1)) + 1
	}
	return found
}

// lineEnd is the offset of the newline at or after one, or the end of text.
func lineEnd(text []byte, offset int) int {
	if next := bytes.IndexByte(text[offset:], '\n'); next >= 0 {
		return offset + next
	}
	return len(text)
}

// words matches lines near which all words stand, in any case.
type words struct{ list [][]byte }

func newWords(pattern string) matcher {
	var list [][]byte
	for i, part := range strings.Split(pattern, `"`) {
		fields := []string{strings.TrimSpace(part)} // in quotes: a phrase
		if i%2 == 0 {
			fields = strings.Fields(part)
		}
		for _, f := range fields {
			word := bytes.ToLower([]byte(f))
			if len(word) > 0 && len(list) < maxWords && !slices.ContainsFunc(list, func(w []byte) bool { return bytes.Equal(w, word) }) {
				list = append(list, word)
			}
		}
	}
	return words{list: list}
}

// marked is a line that holds some of the words.
type marked struct {
	line         int
	holds, whole uint16 // bit sets of words: held, and held as whole words
}

func (w words) match(_ context.Context, path string, text []byte) []lineMatch {
	lower := bytes.ToLower(text)
	for _, word := range w.list {
		if !bytes.Contains(lower, word) {
			return nil
		}
	}
	lines := w.mark(lower)
	all := uint16(1)<<len(w.list) - 1
	lowerPath := bytes.ToLower([]byte(path))
	base := 0.0
	for _, word := range w.list {
		if bytes.Contains(lowerPath, word) {
			base += 0.2 / float64(len(w.list))
		}
	}
	if graph.IsTest(path) {
		base -= 0.3
	}
	var found []lineMatch
	for i, l := range lines {
		near := l.holds
		for j := i - 1; j >= 0 && lines[j].line >= l.line-nearLines; j-- {
			near |= lines[j].holds
		}
		for j := i + 1; j < len(lines) && lines[j].line <= l.line+nearLines; j++ {
			near |= lines[j].holds
		}
		if near == all {
			found = append(found, lineMatch{line: l.line, score: base + w.score(l)})
		}
	}
	return spread(found, w.fullScore()+base)
}

// score is up to 1.5: the share of the words that the line itself holds, and half of the
// share that it holds as whole words.
func (w words) score(l marked) float64 {
	n := float64(len(w.list))
	return float64(bits.OnesCount16(l.holds))/n + 0.5*float64(bits.OnesCount16(l.whole))/n
}

// fullScore is the least score of a line that holds all words by itself.
func (w words) fullScore() float64 { return 1 }

// mark finds the lines that hold any of the words.
func (w words) mark(lower []byte) []marked {
	byLine := map[int]*marked{}
	for i, word := range w.list {
		line, counted := 1, 0
		for at := 0; ; {
			next := bytes.Index(lower[at:], word)
			if next < 0 {
				break
			}
			start := at + next
			line += bytes.Count(lower[counted:start], []byte{'\n'})
			counted, at = start, start+len(word)
			l := byLine[line]
			if l == nil {
				l = &marked{line: line}
				byLine[line] = l
			}
			l.holds |= 1 << i
			if isWhole(lower, start, start+len(word)) {
				l.whole |= 1 << i
			}
		}
	}
	lines := make([]marked, 0, len(byLine))
	for _, l := range byLine {
		lines = append(lines, *l)
	}
	slices.SortFunc(lines, func(a, b marked) int { return a.line - b.line })
	return lines
}

func isWhole(text []byte, start, end int) bool {
	before, _ := utf8.DecodeLastRune(text[:start])
	after, _ := utf8.DecodeRune(text[end:])
	return !isWordRune(before) && !isWordRune(after)
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// spread keeps every line of at least the full score, and of the others the best of each
// neighbourhood.
func spread(found []lineMatch, full float64) []lineMatch {
	best := slices.Clone(found)
	slices.SortStableFunc(best, func(a, b lineMatch) int { return compareScores(b.score, a.score) })
	var kept []lineMatch
	for _, m := range best {
		if len(kept) == fileMatches {
			break
		}
		near := m.score < full && slices.ContainsFunc(kept, func(k lineMatch) bool {
			return k.line-m.line <= nearLines && m.line-k.line <= nearLines
		})
		if !near {
			kept = append(kept, m)
		}
	}
	slices.SortFunc(kept, func(a, b lineMatch) int { return a.line - b.line })
	return kept
}

// lineIndex gives the lines of a text.
type lineIndex struct {
	raw    []byte
	starts []int
}

func indexLines(text []byte) lineIndex {
	index := lineIndex{raw: text}
	for at := 0; at < len(text); {
		index.starts = append(index.starts, at)
		next := bytes.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return index
}

func (x lineIndex) count() int { return len(x.starts) }

// text gives line n, cut at maxLineBytes between characters.
func (x lineIndex) text(n int) string {
	if n < 1 || n > len(x.starts) {
		return ""
	}
	end := len(x.raw)
	if n < len(x.starts) {
		end = x.starts[n]
	}
	line := bytes.TrimRight(x.raw[x.starts[n-1]:end], "\r\n")
	if len(line) > maxLineBytes {
		cut := maxLineBytes
		for cut > 0 && !utf8.RuneStart(line[cut]) {
			cut--
		}
		line = line[:cut]
	}
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

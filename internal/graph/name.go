package graph

import (
	"strings"
	"unicode"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Fold gives the form in which names are compared: lower case, letters and digits only.
// A name of neither, such as an operator, stays as it is.
func Fold(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	if b.Len() == 0 {
		return strings.ToLower(strings.TrimSpace(name))
	}
	return b.String()
}

// Words splits a name at case changes, separators and between letters and digits, in lower
// case: "parseHTTPHeader2" gives parse, http, header, 2.
func Words(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		if i > 0 && len(word) > 0 && startsWord(runes, i) {
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}

// startsWord reports whether the letter or digit at i begins a word after another one.
func startsWord(runes []rune, i int) bool {
	prev, r := runes[i-1], runes[i]
	switch {
	case unicode.IsDigit(prev) != unicode.IsDigit(r):
		return true
	case unicode.IsUpper(r) && !unicode.IsUpper(prev):
		return true
	default: // the last capital of a run belongs to the word it begins: HTTPServer
		return unicode.IsUpper(r) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
	}
}

// IsTest reports whether a path looks like that of a test or of test data: such files come
// last among equals.
func IsTest(path string) bool {
	path = strings.ToLower(path)
	base := path[strings.LastIndexByte(path, '/')+1:]
	stem, _, _ := strings.Cut(base, ".")
	if strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, "_spec") ||
		strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") {
		return true
	}
	for _, folder := range strings.Split(path, "/") {
		switch folder {
		case "test", "tests", "testdata", "__tests__", "spec", "fixtures":
			return base != folder
		}
	}
	return false
}

// Rank orders equally good hits, the lowest first: what is used before what tests it,
// class-like before functions before the rest, exported before private.
func Rank(path string, s domain.Symbol) int {
	rank := 0
	if IsTest(path) {
		rank += 8
	}
	switch {
	case s.Kind.Class():
	case s.Kind.Function():
		rank += 2
	default:
		rank += 4
	}
	if !s.Exported {
		rank++
	}
	return rank
}

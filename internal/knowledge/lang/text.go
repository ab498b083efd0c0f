package lang

import (
	"strings"
	"unicode/utf8"
)

// intern gives a copy of s that does not hold the whole source in memory, one per file.
func (w *walker) intern(s string) string {
	if s == "" {
		return ""
	}
	if kept, ok := w.interned[s]; ok {
		return kept
	}
	kept := strings.ToValidUTF8(strings.Clone(s), "\uFFFD")
	w.interned[kept] = kept
	return kept
}

// fold makes one line of s, each run of blanks one space, and stops after about limit bytes.
func fold(s string, limit int) string {
	s = cut(s, 8*limit) // what is beyond is not worth looking at
	if !strings.ContainsAny(s, "\n\t\r") && !strings.Contains(s, "  ") {
		return clean(strings.TrimSpace(s), limit)
	}
	var b strings.Builder
	b.Grow(min(len(s), limit+utf8.UTFMax))
	for field := range strings.FieldsSeq(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(field)
		if b.Len() > limit {
			break
		}
	}
	return clean(b.String(), limit)
}

// clean makes s valid UTF-8 of at most limit bytes.
func clean(s string, limit int) string {
	return cut(strings.ToValidUTF8(cut(s, limit), "\uFFFD"), limit)
}

// cut shortens s to at most limit bytes, between characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// words makes a set of the words of s.
func words(s string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(s) {
		set[word] = true
	}
	return set
}

// unquote takes the quotes of a string literal away, whatever they are.
func unquote(s string) string { return strings.Trim(s, "\"'`<>") }

// upperFirst reports whether s begins with a capital letter.
func upperFirst(s string) bool {
	if s == "" {
		return false
	}
	if s[0] < utf8.RuneSelf {
		return s[0] >= 'A' && s[0] <= 'Z'
	}
	r, _ := utf8.DecodeRuneInString(s)
	return isUpper(r)
}

// lastPart gives the last name of a qualified one, in any language's notation.
func lastPart(name string) string { return name[strings.LastIndexAny(name, ".:\\")+1:] }

package domain

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	plainLink = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()]*\)`)
	plainTag  = regexp.MustCompile(`(?i)</?(?:a|b|i|u|p|s|br|hr|em|strong|code|pre|span|div|img|svg|script|style|iframe|object|h[1-6]|ul|ol|li|table|t[rdh]|sub|sup|details|summary|input|form|button|link|meta)(?:\s[^<>]*)?/?>`)
	plainMark = regexp.MustCompile("^(?:[#>]+ |[-*+•] |[0-9]{1,2}[.)] )+")
)

// PlainLine gives text as one line without markup: what models write is shown as it is where
// titles and suggestions stand. White space becomes single spaces, characters that don't show
// are left out, and of Markdown and HTML the words are kept.
func PlainLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !seen(r):
			return -1
		}
		return r
	}, CleanText(text))
	for before := ""; before != text; { // what is left of one may be another
		before = text
		text = plainTag.ReplaceAllString(plainLink.ReplaceAllString(text, "$1"), "")
		text = strings.Join(strings.Fields(text), " ")
		text = strings.Trim(plainMark.ReplaceAllString(text, ""), "\"“”„ ")
		text = strings.ReplaceAll(strings.ReplaceAll(text, "**", ""), "`", "")
		for _, mark := range []string{"__", "*", "_"} { // within a name they stay
			if inner, ok := strings.CutPrefix(text, mark); ok && strings.HasSuffix(inner, mark) {
				text = strings.TrimSuffix(inner, mark)
			}
		}
	}
	return text
}

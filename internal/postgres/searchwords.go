package postgres

import (
	"strings"
	"unicode"
)

// searchWords reads what a person looks for: the query for websearch_to_tsquery, in words as
// plain_text of the migrations parts them, and those of them that must be there, in lower
// case. What signs hold together, such as net/http, belongs together as if it were in quotes.
func searchWords(typed string) (query string, wanted []string) {
	var terms []string
	for rest := strings.TrimSpace(typed); rest != ""; rest = strings.TrimSpace(rest) {
		term := ""
		minus := len(rest) > 1 && rest[0] == '-' && !parts(rune(rest[1])) || strings.HasPrefix(rest, `-"`)
		if minus {
			rest = rest[1:]
		}
		if strings.HasPrefix(rest, `"`) {
			term, rest, _ = strings.Cut(rest[1:], `"`)
		} else if end := strings.IndexFunc(rest, func(r rune) bool { return r == '"' || unicode.IsSpace(r) }); end >= 0 {
			term, rest = rest[:end], rest[end:]
		} else {
			term, rest = rest, ""
		}
		words := strings.FieldsFunc(term, parts)
		switch {
		case len(words) == 0:
		case minus:
			terms = append(terms, `-"`+strings.Join(words, " ")+`"`)
		case strings.EqualFold(term, "or"):
			terms = append(terms, "or")
		default:
			terms = append(terms, `"`+strings.Join(words, " ")+`"`)
			for _, w := range words {
				wanted = append(wanted, strings.ToLower(w))
			}
		}
	}
	return strings.Join(terms, " "), wanted
}

// parts reports whether a character stands between words.
func parts(r rune) bool {
	return unicode.IsSpace(r) || r <= unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

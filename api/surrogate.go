package api

import (
	"strconv"
	"unicode"
	"unicode/utf16"
)

// escapeLength is that of \u0041 and its like.
const escapeLength = 6

// halfLetter gives where a JSON text has an escape that is half of a character alone, -1 where it
// has none.
func halfLetter(doc []byte) int {
	for i := 0; i < len(doc); i++ {
		if doc[i] != '\\' { // which stands in strings alone
			continue
		}
		first, ok := escaped(doc[i:])
		switch {
		case !ok:
			i++ // and what it escapes
		case !utf16.IsSurrogate(first):
			i += escapeLength - 1
		default:
			second, _ := escaped(doc[i+escapeLength:])
			if utf16.DecodeRune(first, second) == unicode.ReplacementChar {
				return i
			}
			i += 2*escapeLength - 1
		}
	}
	return -1
}

// escaped reads \u0041 and its like at the beginning of a text.
func escaped(text []byte) (rune, bool) {
	if len(text) < escapeLength || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	value, err := strconv.ParseUint(string(text[2:escapeLength]), 16, 16)
	return rune(value), err == nil
}

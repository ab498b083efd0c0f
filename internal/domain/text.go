package domain

import "strings"

// maxTitleLength is the longest title, in characters.
const maxTitleLength = 60

// CleanText makes text storable: NUL and what is not UTF-8 become U+FFFD.
func CleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// TitleOf names a conversation after its first query: its first line, cut between words.
func TitleOf(query string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(query), "\n")
	line = strings.Join(strings.Fields(line), " ")
	runes := []rune(line)
	if len(runes) <= maxTitleLength {
		return line
	}
	cut := string(runes[:maxTitleLength])
	if space := strings.LastIndex(cut, " "); space > maxTitleLength/2 {
		cut = cut[:space]
	}
	return cut + "…"
}

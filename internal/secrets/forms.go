package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/harvest-engine/harvest/internal/domain"
)

// minLine is the shortest line of a value of several lines that is hidden by itself, in bytes.
// Shorter ones ("kind: Config") are what every other file has, too.
const minLine = 16

// forms gives the texts by which a value may appear, each once. Blanks at its ends may be
// lost on the way and tell nothing: what is between them is looked for.
func forms(value string) []string {
	value = strings.TrimSpace(value)
	list := slices.Concat(
		[]string{value, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value)))},
		jsonForms(value), urlForms(value), base64Forms(value), lineForms(value))
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(form string) bool { return len(form) < domain.MinSecretValue })
}

// jsonForms are the insides of JSON strings: as Go escapes, for pages and plainly; all ASCII;
// with escaped slashes; and as a string in a string.
func jsonForms(value string) []string {
	plain, pages := jsonText(value, false), jsonText(value, true)
	list := []string{plain, pages, asciiText(plain), asciiText(pages), strings.ReplaceAll(plain, "/", `\/`)}
	for _, text := range list[:4:4] {
		list = append(list, jsonText(text, false))
	}
	return list
}

func jsonText(value string, html bool) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(value) // a string always encodes
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(out.String(), "\n"), `"`), `"`)
}

// asciiText escapes what is not ASCII in the inside of a JSON string.
func asciiText(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r < 0x80 {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// unescaped are the characters that browsers leave alone in a component of a URL.
var unescaped = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")

// urlForms are the escaped forms of queries, of paths and of browsers, with digits of either
// case.
func urlForms(value string) []string {
	query, path := url.QueryEscape(value), url.PathEscape(value)
	spaced := strings.ReplaceAll(query, "+", "%20")
	list := []string{query, path, spaced, unescaped.Replace(spaced)}
	for _, form := range list[:4:4] {
		list = append(list, lowerEscapes(form))
	}
	return list
}

// lowerEscapes turns %2F into %2f.
func lowerEscapes(text string) string {
	out := []byte(text)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:i+3], strings.ToLower(text[i+1:i+3]))
			i += 2
		}
	}
	return string(out)
}

// The widths at which programs break base64 into lines: base64(1) and PEM.
var widths = []int{76, 64}

// base64Forms are the characters of base64 that a value alone determines, whatever stands
// before it and after it, for both alphabets and all three alignments; and broken into lines.
func base64Forms(value string) (list []string) {
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString(append(make([]byte, before), value...))
		first := (before*8 + 5) / 6 // before it are the characters with bits of something else
		last := (before + len(value)) * 8 / 6
		text = text[first:last]
		list = append(list, text, strings.NewReplacer("+", "-", "/", "_").Replace(text))
		for _, width := range widths {
			if before == 0 && len(text) > width {
				list = append(list, broken(text, width))
			}
		}
	}
	return list
}

// broken breaks a text into lines.
func broken(text string, width int) string {
	var lines []string
	for part := range slices.Chunk([]byte(text), width) {
		lines = append(lines, string(part))
	}
	return strings.Join(lines, "\n")
}

// lineForms are the lines of a value of several, of which a program may show some.
func lineForms(value string) (list []string) {
	if !strings.Contains(value, "\n") {
		return nil
	}
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); len(line) >= minLine {
			list = append(list, line, jsonText(line, false))
		}
	}
	return list
}

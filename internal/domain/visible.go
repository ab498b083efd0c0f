package domain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of an action's description, in bytes.
const (
	maxFieldShown  = 2000
	maxActionShown = 12_000
)

// DescribeAction renders a call for the person who decides it: the tool, and each field of
// the input on lines of its own. Characters that can't be seen, or that change how others
// are seen, are escaped, and what is left out is said. What the tool tells of the thing that
// the call is about follows in the same way.
func DescribeAction(tool string, input json.RawMessage, about ...Detail) string {
	var out strings.Builder
	out.WriteString("Run " + Visible(tool))
	value, err := exactly(input)
	fields, isObject := value.(map[string]any)
	switch {
	case err != nil || !isObject:
		out.WriteString(" with: " + shown(string(input)))
	case len(fields) == 0:
		out.WriteString(" without input")
	default:
		out.WriteString(" with:")
		for i, name := range slices.Sorted(maps.Keys(fields)) {
			if out.Len() > maxActionShown {
				fmt.Fprintf(&out, "\n[%d more fields are not shown]", len(fields)-i)
				break
			}
			out.WriteString("\n  " + shown(name) + ": " + shown(textOf(fields[name])))
		}
	}
	if len(about) > 0 {
		out.WriteString("\nThis is about:")
	}
	for _, d := range about {
		out.WriteString("\n  " + shown(d.Name) + ": " + shown(d.Value))
	}
	return out.String()
}

// textOf gives a text as it is, and everything else as JSON.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // it was read from JSON
	return strings.TrimSpace(out.String())
}

// shown cuts text where it is long, and says so.
func shown(text string) string {
	if len(text) <= maxFieldShown {
		return Visible(text)
	}
	cut := maxFieldShown
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s [cut: %d more bytes are not shown]", Visible(text[:cut]), len(text)-cut)
}

// Visible escapes what a reader would not see as it is: control characters, line breaks
// too, those that change the direction of text or have no width, and bytes that are no text.
// A backslash is doubled, so that no text looks like an escape.
func Visible(text string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case r == '\\':
			out.WriteString(`\\`)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case !seen(r):
			fmt.Fprintf(&out, `\u{%x}`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// VisibleFault escapes a message about what went wrong as Visible does. Such messages may be of
// several lines, where there are several causes or a program's words are told: in one line for
// people these are set apart by semicolons.
func VisibleFault(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, Visible(line))
		}
	}
	return strings.Join(lines, "; ")
}

// seen reports whether a character shows as itself. Besides what Unicode calls controls and
// formats, some letters and marks have no width or show nothing.
func seen(r rune) bool {
	switch {
	case r == ' ':
		return true
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return false
	case r == 0x2800: // a Braille pattern without dots
		return false
	}
	return unicode.IsGraphic(r) && !unicode.IsSpace(r)
}

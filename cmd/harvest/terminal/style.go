package terminal

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Style is an escape code of the terminal.
type Style string

// The styles in use.
const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Style renders text in a style on a fancy screen, and as it is on a plain one.
func (s *Screen) Style(style Style, text string) string {
	if !s.fancy || text == "" || style == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// mark gives a sign for a terminal and another for plain text.
func (s *Screen) mark(fancy, plain string) string {
	if s.fancy {
		return fancy
	}
	return plain
}

// clip shortens text without escape codes to a width, on one line.
func clip(text string, width int) string {
	text = strings.Join(strings.Fields(printable(text)), " ")
	if width < 1 {
		return ""
	}
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)
	return string(runes[:width-1]) + "…"
}

// printable drops what would move the cursor or change the terminal: texts come from
// models and repositories.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) {
			return r
		}
		return -1
	}, text)
}

// Printable gives a text of several lines without what would change the terminal.
func Printable(text string) string { return printable(text) }

// bar draws how much of total is done.
func (s *Screen) bar(done, total int64, width int) string {
	filled := int(min(done, total) * int64(width) / max(total, 1))
	return s.Style(Cyan, strings.Repeat("█", filled)) + s.Style(Dim, strings.Repeat("░", width-filled))
}

// count renders a number with separators: 12,345.
func count(n int64) string {
	digits := fmt.Sprint(n)
	var out strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			out.WriteByte(',')
		}
		out.WriteRune(d)
	}
	return out.String()
}

// megabytes renders a size: 3.1 MB.
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// seconds renders a time for people: 0.4 s, 12 s, 2 min 5 s.
func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// plural counts things: 1 file, 2 files.
func plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(n) + " " + thing + "s"
}

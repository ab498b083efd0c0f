package domain_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestPlainLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "",
		"  Where   is\tit?\r\n":              "Where is it?",
		"**Where** is `Serve`?":              "Where is Serve?",
		"- 1. Where is it?":                  "Where is it?",
		"## Storage":                         "Storage",
		"_Where is it?_":                     "Where is it?",
		"[Serve](javascript:alert(1)) it":    "[Serve](javascript:alert(1)) it",
		"See [Serve](https://example.com/a)": "See Serve",
		"![x](https://example.com/a.png) it": "x it",
		"<b>Where</b> is <script src=x>it?":  "Where is it?",
		"<b<b>>Where?":                       "Where?",
		"What is Map<String>?":               "What is Map<String>?",
		"Who calls my_func and *Store?":      "Who calls my_func and *Store?",
		"Wo\u202eher\u200b\x1b[31m?\x00":     "Woher[31m?\uFFFD",
		"\"Quoted\"":                         "Quoted",
		"Где это хранится?":                  "Где это хранится?",
	} {
		if got := domain.PlainLine(text); got != want {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
	}
}

func FuzzPlainLine(f *testing.F) {
	f.Add("**a** [b](c) <b>d</b>\x00")
	f.Fuzz(func(t *testing.T, text string) {
		got := domain.PlainLine(text)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\x00`") || domain.PlainLine(got) != got {
			t.Errorf("of %q: %q, and again %q", text, got, domain.PlainLine(got))
		}
	})
}

package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/library/pdf"
)

var day = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const sample = `# Résumé of the Überblick

A paragraph with **bold**, *italic*, ***both***, ~~gone~~, ` + "`code`" + ` and a [link](https://example.com/a)
that goes on; <https://example.com>. Ελληνικά, русский, 日本語 😀. <b>html</b>

- one
- two
  1. first
  2. second

     with a paragraph

- [x] done

> A quote
> of two lines

` + "```go\nfunc main() {\n\tprintln(\"a\")\n}\n```" + `

| name | what it is |
|---|---|
| a | ` + "`b`" + ` |
| long | text that is long enough to be broken into several lines of its cell, since it goes on and on |

---

![a picture](https://example.com/x.png)
[danger](javascript:alert(1))
`

func TestRender(t *testing.T) {
	t.Parallel()
	file, err := pdf.Render(context.Background(), pdf.Document{Title: "Überblick", Markdown: sample, At: day})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(file, []byte("%PDF-")) || !bytes.Contains(file, []byte("%%EOF")) || len(file) < 5000 {
		t.Fatalf("%d bytes that begin with %q", len(file), file[:min(len(file), 20)])
	}
	if !bytes.Contains(file, []byte("https://example.com/a")) || bytes.Contains(file, []byte("javascript:")) {
		t.Error("the links are not what they should be")
	}
}

// What is long or deep takes many pages, not for ever, and never panics.
func TestRenderAnything(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":       "",
		"one word":    strings.Repeat("x", 20_000),
		"one line":    strings.Repeat("para ", 100_000), // hours, where time grew with the square of it
		"one letter":  strings.Repeat("é", 100_000),
		"deep lists":  strings.Repeat("- ", 300) + "x",
		"deep quotes": strings.Repeat("> ", 300) + "x",
		"stars":       strings.Repeat("*a ", 2000),
		"columns":     "|" + strings.Repeat("a|", 200) + "\n|" + strings.Repeat("-|", 200) + "\n|" + strings.Repeat("b|", 200) + "\n",
		"a high row":  "|a|\n|-|\n|" + strings.Repeat("word ", 5000) + "|\n",
		"headings":    strings.Repeat("###### deep\n\n# high\n\n", 200),
		"odd bytes":   "a\x01b\u200b\uFFFD\u202e \xff",
		"long list":   strings.Repeat("1. an item with some words in it\n", 1500),
		"code":        "```\n" + strings.Repeat("\tline of code\n", 3000) + "```\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := pdf.Render(context.Background(), pdf.Document{Title: name, Markdown: text, At: day})
			if err != nil || !bytes.HasPrefix(file, []byte("%PDF-")) {
				t.Errorf("%d bytes, %v", len(file), err)
			}
		})
	}
}

// A rendering ends soon after its context does, wherever it is.
func TestRenderEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, errors.New("too slow"))
	defer cancel()
	for name, text := range map[string]string{
		"reading":    strings.Repeat("> ", 100_000),
		"paragraphs": strings.Repeat("some words of it\n\n", 100_000),
		"a line":     strings.Repeat("para ", 400_000),
		"code":       "```\n" + strings.Repeat("\tline of code\n", 150_000) + "```\n",
		"rows":       "|a|\n|-|\n" + strings.Repeat("|b|\n", 400_000),
	} {
		began := time.Now()
		if _, err := pdf.Render(ctx, pdf.Document{Title: name, Markdown: text, At: day}); err == nil || err.Error() != "too slow" {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s took %s", name, took)
		}
	}
}

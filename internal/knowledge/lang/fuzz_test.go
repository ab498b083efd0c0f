package lang_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/lang"
)

// FuzzExtract reads any bytes as each language: no panic, no hang, and facts that hold
// together. The first argument picks the language.
func FuzzExtract(f *testing.F) {
	names := sampleNames(f)
	for i, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), src)
		f.Add(uint8(i), src[:len(src)/2])
		f.Add(uint8(i), []byte(strings.Repeat("(", 300)+strings.Repeat("{[<", 50)))
		f.Add(uint8(i), []byte("\x00\xff\xfe\r\n\t'\"`/*"))
	}
	f.Fuzz(func(t *testing.T, pick uint8, src []byte) {
		name := names[int(pick)%len(names)]
		facts, err := lang.Extract(t.Context(), name, src)
		if err != nil {
			if code := domain.CodeOf(err); code != domain.CodeUnprocessable && code != domain.CodeTooLarge {
				t.Fatalf("%s: %v: %v", name, err, errors.Unwrap(errors.Unwrap(err)))
			}
			return
		}
		check(t, facts, strings.Count(string(src), "\n")+1)
	})
}

// check finds facts that no reader could use.
func check(t *testing.T, facts domain.FileFacts, lines int) {
	t.Helper()
	inside := func(line int) bool { return line >= 1 && line <= lines }
	for _, s := range facts.Symbols {
		if s.Name == "" || !inside(s.StartLine) || !inside(s.EndLine) || s.EndLine < s.StartLine || len(s.Signature) > 500 || len(s.Doc) > 2048 {
			t.Errorf("symbol out of bounds in %d lines: %+v", lines, s)
		}
		if !utf8.ValidString(s.Name) || !utf8.ValidString(s.Signature) || !utf8.ValidString(s.Doc) {
			t.Errorf("symbol is not UTF-8: %+v", s)
		}
	}
	for _, r := range facts.References {
		if r.Name == "" || r.From < -1 || r.From >= len(facts.Symbols) || !inside(r.Line) || len(r.RecvType) > 256 || len(r.Receiver) > 256 {
			t.Errorf("reference out of bounds in %d lines: %+v", lines, r)
		}
	}
	for _, i := range facts.Imports {
		if i.Target == "" || !inside(i.Line) {
			t.Errorf("import out of bounds in %d lines: %+v", lines, i)
		}
	}
}

func sampleNames(tb testing.TB) []string {
	tb.Helper()
	all, err := filepath.Glob("testdata/*/sample.*")
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, name := range all {
		if !strings.HasSuffix(name, ".golden") {
			names = append(names, name)
		}
	}
	return names
}

// Deep nesting of every kind ends in an answer, not in an overflow.
func TestDeepNesting(t *testing.T) {
	t.Parallel()
	openers := []string{"(", "{", "f(", "a.b(", "class A { ", "def f():\n "}
	for _, name := range sampleNames(t) {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			t.Parallel()
			for _, opener := range openers {
				src := []byte(strings.Repeat(opener, 2_000))
				if _, err := lang.Extract(t.Context(), name, src); err != nil && domain.CodeOf(err) != domain.CodeUnprocessable {
					t.Errorf("%q: %v", opener, err)
				}
			}
		})
	}
}

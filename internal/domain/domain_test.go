package domain_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestCursorRoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range []domain.Cursor{{}, {Seq: 7}, {Seq: 7, Offset: 120}} {
		got, err := domain.ParseCursor(c.String())
		if err != nil || got != c {
			t.Errorf("ParseCursor(%q) = %v, %v; want %v", c.String(), got, err, c)
		}
	}
	for _, bad := range []string{"x", "-1", "+1", "1.", ".1", "1.x", "1.-2", "1.2.3", "9223372036854775807", "1.9223372036854775807"} {
		if _, err := domain.ParseCursor(bad); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("ParseCursor(%q): error %v, want an invalid error", bad, err)
		}
	}
}

func TestParseCitations(t *testing.T) {
	t.Parallel()
	text := "See [a/b:v1.2.0:src/x y.go:42], [a/b:v1.2.0:src/x y.go:42] and [r:worktree:m.rs:3-9]; not [a:b] or [r:v:f:0]."
	got := domain.ParseCitations(text)
	want := []domain.Citation{
		{Repo: "a/b", Version: "v1.2.0", File: "src/x y.go", Line: 42, EndLine: 42},
		{Repo: "r", Version: "worktree", File: "m.rs", Line: 3, EndLine: 9},
	}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("citation %d = %v, want %v", i, got[i], want[i])
		}
	}
}

// Files are called what people call them: routes of web frameworks have brackets, and colons
// are rare but there.
func TestCitationsOfOddFiles(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{
		"app/[slug]/page.tsx":        "in [web:main:app/[slug]/page.tsx:3], see [x]",
		"app/[[...slug]]/[id]/p.tsx": "([web:main:app/[[...slug]]/[id]/p.tsx:3])",
		"a:b.py":                     "[web:main:a:b.py:3] and 4:5]",
		"app/(group)/page.tsx":       "[[web:main:app/(group)/page.tsx:3]]",
	} {
		want := []domain.Citation{{Repo: "web", Version: "main", File: file, Line: 3, EndLine: 3}}
		if got := domain.ParseCitations(text); !slices.Equal(got, want) {
			t.Errorf("%s gives %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"[web:main:a.go:3:14]", "[web:main:a.go:3, web:main:b.go:4]", "[web:main:a.go:3-5; web:main:b.go:4]", "[web:main:a]b.go:3]", "[web:main:a.go\n:3]"} {
		if got := domain.ParseCitations(text); len(got) != 0 {
			t.Errorf("%q gives %v, want none", text, got)
		}
	}
	two := domain.ParseCitations("[web:main:a[0:b.go:1] then [web:main:[id].ts:2-4]")
	if len(two) != 1 || two[0].File != "[id].ts" || two[0].EndLine != 4 {
		t.Errorf("after a bracket that is never closed: %v", two)
	}
}

func TestEventJSON(t *testing.T) {
	t.Parallel()
	cases := map[string]domain.Event{
		`{"type":"phase","label":"x"}`: {Type: domain.EventPhase, Payload: json.RawMessage(`{"label":"x"}`)},
		`{"type":"done"}`:              {Type: domain.EventDone, Payload: json.RawMessage(`{}`)},
		`{"type":"error"}`:             {Type: domain.EventError},
	}
	for want, event := range cases {
		if got := string(event.JSON()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestLocalNames(t *testing.T) {
	t.Parallel()
	got := domain.LocalNames([]domain.Symbol{
		{Name: "Close", Receiver: "A", StartLine: 3}, {Name: "Close", Receiver: "B", StartLine: 9},
		{Name: "init", StartLine: 20}, {Name: "init", StartLine: 30},
		{Name: "init", StartLine: 30}, {Name: "init", StartLine: 30},
	})
	want := []string{"A.Close", "B.Close", "init", "init@30", "init@30.2", "init@30.3"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("name %d = %q, want %q", i, got[i], want[i])
		}
	}
}

func FuzzParseCitations(f *testing.F) {
	f.Add("[a:b:c:1]")
	f.Add("[a:b:c:1-][[::]]")
	f.Add("[a:b:[[c]]:1][a:b:[:2]")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range domain.ParseCitations(text) {
			if c.Line < 1 || c.EndLine < c.Line || c.Repo == "" || c.Version == "" || c.File == "" {
				t.Errorf("impossible citation %+v from %q", c, text)
			}
		}
	})
}

package secrets_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/secrets"
)

// What may be the beginning of a text that is hidden is held, however the text comes in pieces.
func TestHeld(t *testing.T) {
	t.Parallel()
	s := (&secrets.Vault{}).Hide([]string{"correct horse", "correct horse battery", "short", "zwölf Boxkämpfer"})
	for text, want := range map[string]int{
		"":                            0,
		"nothing of it":               0,
		"it is c":                     1,
		"it is corr":                  4,
		"it is correct hors":          12,
		"it is correct horse":         13, // it may go on
		"it is correct horse battery": 0,
		"it is correct horses":        0,
		"zwölf Boxk":                  11,
		"Y29ycmVjdCBob3":              14, // base64
		"shor":                        0,  // too short to be hidden
	} {
		if got := s.Held(text); got != want {
			t.Errorf("of %q %d bytes are held, want %d", text, got, want)
		}
	}
	if got := s.Scrub("it is correct horse, short."); got != "it is [secret], short." {
		t.Errorf("scrubbed is %q", got)
	}
	if got := s.Held(strings.Repeat("c", 100)); got != 1 {
		t.Errorf("%d bytes are held", got)
	}
}

// What is before the bytes that are held can be scrubbed by itself, also where values overlap.
func TestHeldOverlaps(t *testing.T) {
	t.Parallel()
	s := (&secrets.Vault{}).Hide([]string{"correct horse", "horse battery", "aaaaaaaa"})
	for text, want := range map[string]int{
		"it is correct horse":         13, // "horse" may go on to a second one
		"it is correct horse battery": 0,
		"b aaaaaaaaaaa":               11, // any of these may be the beginning
		"b aaaaaaaaaaa c":             1,
	} {
		got := s.Held(text)
		if got != want {
			t.Errorf("of %q %d bytes are held, want %d", text, got, want)
		}
		cut := len(text) - got
		if parts := s.Scrub(text[:cut]) + s.Scrub(text[cut:]); parts != s.Scrub(text) {
			t.Errorf("in parts %q is %q", text, parts)
		}
	}
}

// However a text comes in pieces, what is let go is what is let go of it whole.
func TestHeldInPieces(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	word := func(most int) string {
		letters := make([]byte, 1+random.IntN(most))
		for i := range letters {
			letters[i] = "ab"[random.IntN(2)]
		}
		return string(letters)
	}
	for range 2000 {
		s := (&secrets.Vault{}).Hide([]string{word(14), word(14), word(20)})
		text, rest, let := "", "", ""
		for range 1 + random.IntN(12) {
			piece := word(12)
			text, rest = text+piece, rest+piece
			cut := len(rest) - s.Held(rest)
			let, rest = let+s.Scrub(rest[:cut]), rest[cut:]
		}
		if got, want := let+s.Scrub(rest), s.Scrub(text); got != want {
			t.Fatalf("%q becomes %q in pieces, and %q as a whole", text, got, want)
		}
	}
}

// Of a text whose beginning is missing, what may be the rest of a value is known.
func TestHalf(t *testing.T) {
	t.Parallel()
	s := (&secrets.Vault{}).Hide([]string{"correct horse", "zwölf Boxkämpfer"})
	for text, want := range map[string]int{
		"":                         0,
		"nothing of it":            0,
		"orrect horse it is":       12,
		"horse it is":              5,
		"rse it is":                0, // too short to tell
		"correct horse it is":      0, // whole: it is scrubbed
		"\xb6lf Boxk\xc3\xa4mpfer": 15,
		"ämpfer":                   7,
		"horse":                    5,
	} {
		if got := s.Half(text); got != want {
			t.Errorf("of %q %d bytes may be the end of a value, want %d", text, got, want)
		}
	}
	if got := (&secrets.Vault{}).Hide(nil).Half("any text"); got != 0 {
		t.Errorf("without values %d bytes are the end of one", got)
	}
}

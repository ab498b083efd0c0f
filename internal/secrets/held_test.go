package secrets_test

import (
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

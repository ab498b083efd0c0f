package domain_test

import (
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestVisibleFaultIsOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "one": "one", "one\ntwo": "one; two", " one \n\n\t two\x1b[2J\r\n": `one; two\u{1b}[2J`, `a\b`: `a\\b`,
	} {
		if got := domain.VisibleFault(text); got != want {
			t.Errorf("%q is shown as %q, not %q", text, got, want)
		}
	}
}

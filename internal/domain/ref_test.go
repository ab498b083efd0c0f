package domain_test

import (
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestCheckRef(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"main", "v1.2.0", "release/1.x", "refs/tags/v1", "a-b_c", "feature/ü"} {
		if err := domain.CheckRef("refs", ref); err != nil {
			t.Errorf("%q: %v", ref, err)
		}
	}
	for _, ref := range []string{"", "-x", "--all", "a b", "a..b", "a~1", "a^", "a:b", "a*", "a?", "a[", `a\b`, "a@{1}", "@", "a.lock", "a/", "/a", ".a", "a/.b", "a//b", "a\x00b", "a.", strings.Repeat("a", 256)} {
		if err := domain.CheckRef("refs", ref); domain.CodeOf(err) != domain.CodeInvalid {
			t.Errorf("%q was taken: %v", ref, err)
		}
	}
}

package embedded_test

import (
	"net/url"
	"testing"

	"github.com/harvest-engine/harvest/internal/embedded"
)

// A module that keeps the address elsewhere would leave a first fetch without its progress.
func TestTheModuleKnowsWhereToFetch(t *testing.T) {
	t.Parallel()
	if at, err := url.Parse(embedded.BinaryRepository()); err != nil || at.Scheme != "https" || at.Host == "" {
		t.Errorf("the module fetches from %v, %v", at, err)
	}
}

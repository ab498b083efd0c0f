package workflows_test

import (
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/workflows"
)

func TestIDsOfAnyName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"team/app": "watch/team/app",
		"50%":      "watch/50%",
		"ünï/x":    "watch/~%C3%BCn%C3%AF/x",
		"日%本":      "watch/~%E6%97%A5%25%E6%9C%AC",
	} {
		if got := workflows.WatchScheduleID(name); got != want {
			t.Errorf("the watch of %q is %q, want %q", name, got, want)
		}
	}
	if got := workflows.IngestVersionWorkflowID("7", "zweig-ü"); got != "ingest/7/~zweig-%C3%BC" {
		t.Errorf("the ID of a version is %q", got)
	}
}

// IDs are sent in headers, which hold printable ASCII, and the server takes 1000 bytes.
func TestIDsFitIntoHeaders(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range []string{
		"a", "ü", "%C3%BC", "\u007f", "a b", "\xff\xfe",
		strings.Repeat("ü", 250), strings.Repeat("ü", 249) + "ä", strings.Repeat("x", 900), strings.Repeat("x", 901),
	} {
		id := workflows.WatchScheduleID(name)
		if len(id) > 600 {
			t.Errorf("the ID of %.20q has %d bytes", name, len(id))
		}
		if strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("the ID of %.20q holds more than printable ASCII: %q", name, id)
		}
		if other, taken := seen[id]; taken {
			t.Errorf("%.20q and %.20q have one ID", name, other)
		}
		seen[id] = name
	}
}

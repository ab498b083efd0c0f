package shellpolicy_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/shellpolicy"
)

// bypass is a line that must ask, and why somebody would try it.
type bypass struct{ trick, line string }

func bypasses(t testing.TB) (list []bypass) {
	t.Helper()
	for _, entry := range entries(t, "testdata/asks.txt") {
		trick, line, found := strings.Cut(entry, " :: ")
		if !found {
			t.Fatalf("an entry without a trick: %q", entry)
		}
		if line == "go-long" {
			line = "ls " + strings.Repeat("a ", 4096)
		}
		if quoted, found := strings.CutPrefix(line, "go "); found {
			var err error
			if line, err = strconv.Unquote(quoted); err != nil {
				t.Fatalf("%s: %v", entry, err)
			}
		}
		list = append(list, bypass{trick, line})
	}
	return list
}

func entries(t testing.TB, name string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if line != "" && !strings.HasPrefix(line, "# ") {
			list = append(list, line)
		}
	}
	return list
}

func TestBypassesAsk(t *testing.T) {
	t.Parallel()
	list := bypasses(t)
	if len(list) < 200 {
		t.Errorf("only %d attempts", len(list))
	}
	tricks, lines := map[string]bool{}, map[string]bool{}
	for _, b := range list {
		v := shellpolicy.Judge(b.line)
		if v.Passes {
			t.Errorf("passes, though it %s: %q", b.trick, b.line)
		} else if v.Reason == "" {
			t.Errorf("no reason is given for %q", b.line)
		}
		if lines[b.line] {
			t.Errorf("twice: %q", b.line)
		}
		tricks[b.trick], lines[b.line] = true, true
	}
	if len(tricks) < 200 {
		t.Errorf("only %d tricks", len(tricks))
	}
}

func TestDailyLinesPass(t *testing.T) {
	t.Parallel()
	list := entries(t, "testdata/passes.txt")
	if len(list) < 150 {
		t.Errorf("only %d lines", len(list))
	}
	for _, line := range list {
		if v := shellpolicy.Judge(line); !v.Passes {
			t.Errorf("asks: %s\n\t%s", line, v.Reason)
		}
	}
}

// The zero verdict asks.
func TestVerdictZero(t *testing.T) {
	t.Parallel()
	if (shellpolicy.Verdict{}).Passes {
		t.Error("a verdict that nobody gave passes")
	}
}

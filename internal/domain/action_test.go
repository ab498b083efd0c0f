package domain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestActionHash(t *testing.T) {
	t.Parallel()
	base := domain.ActionHash("drop", json.RawMessage(`{"a":1.10,"b":"<x>"}`))
	if same := domain.ActionHash("drop", json.RawMessage("{ \"b\" : \"\\u003cx>\",\n\"a\":1.10}")); same != base || len(base) != 64 {
		t.Errorf("the same input has the hashes %s and %s", base, same)
	}
	for _, other := range []struct{ tool, input string }{
		{"Drop", `{"a":1.10,"b":"<x>"}`}, {"drop", `{"a":1.1,"b":"<x>"}`}, {"drop", `{"a":1.10,"b":"<x> "}`}, {"drop", `{"a":1.10}`}, {"drop", `[`},
	} {
		if domain.ActionHash(other.tool, json.RawMessage(other.input)) == base {
			t.Errorf("%s %s has the hash of another call", other.tool, other.input)
		}
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain é 世 👍":        "plain é 世 👍",
		"a\nb\tc\r\x00\x1b[": `a\nb\tc\u{d}\u{0}\u{1b}[`,
		"\u202etxt.exe":      `\u{202e}txt.exe`,     // right to left
		"a\u200bb\u2066c":    `a\u{200b}b\u{2066}c`, // no width, isolate
		"x\u00a0y\u3000z":    `x\u{a0}y\u{3000}z`,   // blanks that are none
		"\u3164\u115f\ufe0f": `\u{3164}\u{115f}\u{fe0f}`,
		"\U000e0041":         `\u{e0041}`, // a tag
		"\xff\xfe":           `\xff\xfe`,
		`C:\new`:             `C:\\new`,
		"\ufffd":             "\ufffd",
		"\u2028\u2029\ufeff": `\u{2028}\u{2029}\u{feff}`,
	} {
		if got := domain.Visible(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}

func TestDescribeAction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ input, want string }{
		{`{}`, "Run drop without input"},
		{`{"b":{"x":[1,"<"]},"a":"one\ntwo","c":1.50}`, "Run drop with:\n  a: one\\ntwo\n  b: {\"x\":[1,\"<\"]}\n  c: 1.50"},
		{"{\"a\u202e\":null}", "Run drop with:\n  a\\u{202e}: null"},
		{`["x"]`, `Run drop with: ["x"]`},
		{"nonsense\x00", `Run drop with: nonsense\u{0}`},
	} {
		if got := domain.DescribeAction("drop", json.RawMessage(c.input)); got != c.want {
			t.Errorf("%s is described as\n%s\nwant\n%s", c.input, got, c.want)
		}
	}
	long := domain.DescribeAction("drop", json.RawMessage(`{"a":"`+strings.Repeat("é", 2000)+`x"}`))
	if !strings.HasSuffix(long, "é [cut: 2001 more bytes are not shown]") {
		t.Errorf("a cut is shown as …%s", long[len(long)-60:])
	}
	fields := map[string]string{}
	for _, name := range strings.Fields(strings.Repeat("x ", 30)) {
		fields[strings.Repeat(name, len(fields)+1)] = strings.Repeat("y", 1500)
	}
	many, _ := json.Marshal(fields)
	if got := domain.DescribeAction("drop", many); !strings.Contains(got, "more fields are not shown]") || len(got) > 20_000 {
		t.Errorf("many fields are described in %d bytes, ending …%s", len(got), got[len(got)-60:])
	}
}

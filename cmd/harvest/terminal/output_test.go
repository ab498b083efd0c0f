package terminal_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
)

func TestOutputOfOthersIsHarmless(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"plain\ttext\r\nwith ümläuts\n", "plain\ttext\r\nwith ümläuts\n"},
		{"\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"},
		{"\x1b[2J\x1b[H\x1b[6nclear", "clear"},
		{"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"},
		{"\x1bP1$r\x1b\\\x1b_x\x1b\\a", "a"},
		{"\x1bc\x1b(0\x1b=a", "a"},
		{"bell\a back\b null\x00 del\x7f", "bell back null del"},
		{"\u009b2Jc1", "2Jc1"},
		{"\x1b[1\nbroken off", "\nbroken off"},
		{"\xffbytes\xfe", "\xffbytes\xfe"},
		{"\x1b]never" + strings.Repeat(".", 5000), "]never" + strings.Repeat(".", 5000)},
	} {
		for _, size := range []int{1, 3, len(c[0])} { // however it comes in pieces
			var out bytes.Buffer
			o := terminal.NewOutput(&out)
			for rest := []byte(c[0]); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				if _, err := o.Write(rest[:min(size, len(rest))]); err != nil {
					t.Fatal(err)
				}
			}
			if out.String() != c[1] {
				t.Errorf("%q in pieces of %d is %q", c[0], size, out.String())
			}
		}
	}
}

func TestOutputLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := terminal.NewOutput(&out)
	_, _ = o.Write([]byte("\x1b[31mred"))
	o.EndLine()
	o.EndLine()
	o.Close()
	if out.String() != "\x1b[31mred\n\x1b[0m" {
		t.Errorf("%q", out.String())
	}
}

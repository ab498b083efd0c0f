package shellpolicy_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/harvest-engine/harvest/internal/shellpolicy"
)

// around are ways to write a line that mean the same: blanks and comments.
var around = []func(line string) string{
	func(line string) string { return " " + line },
	func(line string) string { return "\t" + line },
	func(line string) string { return line + " " },
	func(line string) string { return line + "\t \t" },
	func(line string) string { return line + " #" },
	func(line string) string { return line + " # only reads" },
	func(line string) string { return "  " + line + "  # it's \"fine\" `really` $(yes)" },
}

// No line that asks begins to pass by blanks and comments around it, and none that passes asks.
func sameAround(t *testing.T, line string) {
	t.Helper()
	plain := shellpolicy.Judge(line)
	for _, write := range around {
		v := shellpolicy.Judge(write(line))
		if v.Passes && !plain.Passes {
			t.Errorf("asks as %q, and passes as %q", line, write(line))
		}
	}
}

// worse are endings that no line may have and pass.
var worse = []string{"; rm x", "&& rm x", "|| rm x", "| sh", "\nrm x", "> out", "$(rm x)", "`rm x`", "&", "<(rm x)"}

func neverWorse(t *testing.T, line string) {
	t.Helper()
	for _, end := range worse {
		if v := shellpolicy.Judge(line + end); v.Passes && shellpolicy.Judge(line).Passes && !strings.Contains(line, "#") {
			t.Errorf("%q passes", line+end)
		}
	}
}

func TestBlanksAndCommentsChangeNothing(t *testing.T) {
	t.Parallel()
	for _, b := range bypasses(t) {
		sameAround(t, b.line)
	}
	for _, line := range entries(t, "testdata/passes.txt") {
		sameAround(t, line)
		neverWorse(t, line)
		if strings.HasSuffix(line, "\\") {
			t.Errorf("a line that ends with a backslash passes: %q", line)
		}
		for _, write := range around {
			if v := shellpolicy.Judge(write(line)); !v.Passes {
				t.Errorf("passes as %q, and asks as %q: %s", line, write(line), v.Reason)
			}
		}
	}
}

// Each line that passes asks with any bypass behind it.
func TestPassingLinesDoNotShield(t *testing.T) {
	t.Parallel()
	harmless := entries(t, "testdata/passes.txt")
	for i, b := range bypasses(t) {
		if strings.TrimSpace(b.line) == "" || strings.HasPrefix(b.line, "#") || strings.HasPrefix(b.line, "cd ") {
			continue // nothing is added by it
		}
		line := harmless[i%len(harmless)]
		if strings.Contains(line, "#") {
			line = "ls"
		}
		for _, between := range []string{"; ", " && ", " || ", " | "} {
			if v := shellpolicy.Judge(line + between + b.line); v.Passes {
				t.Errorf("passes: %q, though it %s", line+between+b.line, b.trick)
			}
		}
	}
}

// strange names the first part of a line's syntax tree that is none of those that a line of
// commands that only read is made of; "" for none.
func strange(line string) (what string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return "what is no line of bash"
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if node != nil && !plain(node) {
			what = fmt.Sprintf("a %T", node)
		}
		return what == ""
	})
	return what
}

// plain reports whether a node is of a kind, and in a form, by which nothing is written or run but
// the commands whose names stand there.
func plain(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.File, *syntax.Comment, *syntax.CallExpr, *syntax.Word, *syntax.Lit:
		return true
	case *syntax.Stmt:
		return !n.Background && !n.Coprocess && !n.Negated && !n.Disown && n.Cmd != nil
	case *syntax.BinaryCmd:
		return slices.Contains([]syntax.BinCmdOperator{syntax.AndStmt, syntax.OrStmt, syntax.Pipe, syntax.PipeAll}, n.Op)
	case *syntax.SglQuoted:
		return !n.Dollar
	case *syntax.DblQuoted:
		return !n.Dollar
	case *syntax.ParamExp:
		return reflect.DeepEqual(*n, syntax.ParamExp{Dollar: n.Dollar, Rbrace: n.Rbrace, Short: n.Short, Param: n.Param})
	case *syntax.Assign:
		return n.Value != nil && n.Value.Lit() != "" && !n.Append && n.Index == nil && n.Array == nil
	case *syntax.Redirect:
		to := n.Word.Lit()
		return n.Hdoc == nil && (to == "/dev/null" || n.Op == syntax.DplOut && (to == "1" || to == "2"))
	}
	return false
}

func FuzzJudge(f *testing.F) {
	for _, b := range bypasses(f) {
		f.Add(b.line)
	}
	for _, line := range entries(f, "testdata/passes.txt") {
		f.Add(line)
	}
	patterns, err := shellpolicy.Compile([]string{"git status", "make **", "docker restart *", shellpolicy.ReadOnly})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string) {
		v := shellpolicy.Judge(line)
		if v.Passes != (v.Reason == "") {
			t.Errorf("%q: %+v", line, v)
		}
		if v.Passes && strings.ContainsAny(line, "\n\r\x00") {
			t.Errorf("%q passes", line)
		}
		if what := strange(line); v.Passes && what != "" {
			t.Errorf("%q passes with %s", line, what)
		}
		if anything, err := shellpolicy.Compile([]string{"ls **", "cat **", "echo **"}); err != nil || anything.Judge(line).Passes && strange(line) != "" {
			t.Errorf("%q is allowed, %v", line, err)
		}
		if v.Passes && !patterns.Judge(line).Passes {
			t.Errorf("%q only reads, and asks where what only reads is allowed", line)
		}
		_, _ = shellpolicy.Compile([]string{line}) // must not panic
		sameAround(t, line)
		neverWorse(t, line)
	})
}

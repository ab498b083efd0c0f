package gotypes_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go/ast"
	"go/printer"

	"github.com/harvest-engine/harvest/internal/knowledge/gotypes"
)

func TestStrip(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"package a // x\n\nfunc f() {\n\tg()\n}\n\nvar x = 1\n":                                                   "package a \n\nfunc f() \n\n\n\nvar x = 1\n",
		"package a\nfunc f(x struct{ a int }) interface{ M() } { return \"}\" }\ntype T int\n":                    "package a\nfunc f(x struct{ a int }) interface{ M() } \ntype T int\n",
		"package a\nfunc f()\nfunc g() { x := '}'; _ = `}\n` }\n":                                                 "package a\nfunc f()\nfunc g() \n\n",
		"package a\nvar f = func() { g() }\n":                                                                     "package a\nvar f = func() {}\n",
		"package a\nvar (\n\ta = []struct{ n int }{{1}, {2}}\n\tb struct{ x int }\n\tc = map[int]T{1: {\n}}\n)\n": "package a\nvar (\n\ta = []struct{ n int }{}\n\tb struct{ x int }\n\tc = map[int]T{\n}\n)\n",
		"package a\nvar d = [...]int{1, 2}\nvar e = &T{1}\ntype T struct{ n int }\n":                              "package a\nvar d = [...]int{1, 2}\nvar e = &T{}\ntype T struct{ n int }\n",
		"package a\nfunc f() { /* } */ // }\n}\n/* c\n */ type T = []int\n":                                       "package a\nfunc f() \n\n\n type T = []int\n",
		"package a\nfunc f() {\n":                 "package a\nfunc f() {\n",
		"package a\nvar s = \"x\n\nfunc f() {}\n": "package a\nvar s = \"x\n\nfunc f() {}\n",
	}
	for src, want := range cases {
		if got := string(gotypes.Strip([]byte(src))); got != want {
			t.Errorf("Strip(%q) = %q, want %q", src, got, want)
		}
	}
}

// TestStripDeclaresTheSame holds against the parser on the standard library: without bodies
// both say the same at the same lines.
func TestStripDeclaresTheSame(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"net/http", "go/types", "encoding/json", "reflect", "strings"} {
		names, err := filepath.Glob(filepath.Join(runtime.GOROOT(), "src", dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range names {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			stripped := gotypes.Strip(src)
			if strings.Count(string(stripped), "\n") != strings.Count(string(src), "\n") {
				t.Errorf("%s has other lines", name)
			}
			if want, got := declared(t, src), declared(t, stripped); got != want {
				t.Errorf("%s declares otherwise", name)
			}
		}
	}
}

// declared prints a source without bodies, comments and the elements of values.
func declared(t *testing.T, src []byte) string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			d.Body = nil
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				ast.Inspect(d, emptyValues)
			}
		}
	}
	var b strings.Builder
	if err := printer.Fprint(&b, set, file); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), "")
}

func emptyValues(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CompositeLit:
		if array, ok := n.Type.(*ast.ArrayType); ok {
			if _, counted := array.Len.(*ast.Ellipsis); counted {
				return false
			}
		}
		n.Elts = nil
	case *ast.FuncLit:
		n.Body.List = nil
	}
	return true
}

func FuzzStrip(f *testing.F) {
	f.Add([]byte("package a\nfunc f() { }"))
	f.Add([]byte("func ("))
	f.Add([]byte("func '\\"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if got := gotypes.Strip(src); strings.Count(string(got), "\n") != strings.Count(string(src), "\n") {
			t.Errorf("Strip(%q) has other lines", src)
		}
	})
}

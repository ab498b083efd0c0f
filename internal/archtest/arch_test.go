package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is a parsed Go file of the project's module.
type source struct {
	path   string // slash-separated, relative to the module's root
	folder string
	test   bool
	fset   *token.FileSet
	file   *ast.File
}

// sources parses every Go file of the module, leaving out generated ones, testdata and
// nested modules.
func sources(t *testing.T) []source {
	t.Helper()
	root := filepath.Join("..", "..")
	var found []source
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(path, rel, entry.Name())
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(file) {
			rel = filepath.ToSlash(rel)
			found = append(found, source{rel, filepath.ToSlash(filepath.Dir(rel)), strings.HasSuffix(rel, "_test.go"), fset, file})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 20 {
		t.Fatalf("found only %d Go files: the walk is wrong", len(found))
	}
	return found
}

func skipFolder(path, rel, name string) error {
	if rel == "." {
		return nil
	}
	if name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

func within(folder, room string) bool {
	return room == "" || folder == room || strings.HasPrefix(folder, room+"/")
}

func ruleFor(folder string) (rule, bool) {
	var best rule
	for _, r := range rules {
		if within(folder, r.room) && len(r.room) > len(best.room) {
			best = r
		}
	}
	return best, best.room != ""
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		r, ok := ruleFor(s.folder)
		switch {
		case s.test: // tests reach for what they test
		case s.folder == "internal/archtest":
		case !ok:
			t.Errorf("%s: no rule covers this folder; add one to rules_test.go", s.path)
		default:
			checkImports(t, s, r)
		}
	}
}

func checkImports(t *testing.T, s source, r rule) {
	t.Helper()
	for _, spec := range s.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if !allowed(s.folder, r, path) {
			t.Errorf("%s imports %s, which is closed to %s", s.path, path, r.room)
		}
	}
}

func allowed(folder string, r rule, path string) bool {
	if own, ok := strings.CutPrefix(path, module); ok {
		if within(own, "internal/embedded") || within(own, "internal/testkit") {
			return within(folder, "cmd") || within(folder, "internal/bench") || within(folder, "internal/embedded") || within(folder, "internal/testkit")
		}
		return slices.ContainsFunc(r.own, func(open string) bool {
			return own == open || !r.exactOwn && within(own, open)
		}) || !r.exactOwn && within(own, r.room)
	}
	first, _, _ := strings.Cut(path, "/")
	if !strings.Contains(first, ".") {
		return !slices.Contains(r.stdlib, path)
	}
	return slices.ContainsFunc(r.others, func(open string) bool { return open == "*" || within(path, open) })
}

func TestOnlyCommandsReadTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || slices.ContainsFunc(mayReadEnvironment, func(room string) bool { return within(s.folder, room) }) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains(environment[pkg.Name], sel.Sel.Name) {
				t.Errorf("%s reads %s.%s; take it as a setting", s.fset.Position(sel.Pos()), pkg.Name, sel.Sel.Name)
			}
			return true
		})
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		if lines := s.fset.File(s.file.Pos()).LineCount(); lines > maxFileLines {
			t.Errorf("%s has %d lines, more than %d: split it", s.path, lines, maxFileLines)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; lines > maxFuncLines {
				t.Errorf("%s: %s has %d lines, more than %d: split it", s.path, f.Name.Name, lines, maxFuncLines)
			}
		}
	}
}

func TestEveryPackageHasADocComment(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if !s.test {
			documented[s.folder] = documented[s.folder] || s.file.Doc.Text() != ""
		}
	}
	for folder, ok := range documented {
		if !ok {
			t.Errorf("%s: no file of this package has a package comment", folder)
		}
	}
}

func TestLaterIsNotWrittenDown(t *testing.T) {
	t.Parallel()
	marks := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"}
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, mark := range marks {
				if strings.Contains(group.Text(), mark) {
					t.Errorf("%s: a comment says %s: do it, or leave it out", s.fset.Position(group.Pos()), mark)
				}
			}
		}
	}
}

package gotypes

import (
	"go/ast"
	"go/build"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

// standard gives the packages of the standard library, read from GOROOT.
type standard struct {
	root    string
	program *Program
	loaded  map[string]*types.Package // nil: not there, or being loaded
}

func newStandard(goroot string, p *Program) *standard {
	s := &standard{program: p, loaded: map[string]*types.Package{}}
	if goroot != "" {
		s.root = filepath.Join(goroot, "src")
	}
	return s
}

// load gives the declarations of a package of the standard library.
func (s *standard) load(path string) (pkg *types.Package, err error) {
	first, _, _ := strings.Cut(path, "/")
	if s.root == "" || path == "C" || strings.Contains(path, "..") || strings.HasPrefix(path, "/") ||
		strings.Contains(first, ".") && !strings.HasPrefix(path, "golang.org/x/") {
		return nil, errUnknown
	}
	if known, ok := s.loaded[path]; ok {
		if known == nil {
			return nil, errUnknown
		}
		return known, nil
	}
	if s.loaded[path] = s.program.recall(path); s.loaded[path] != nil {
		return s.loaded[path], nil
	}
	defer func() {
		if recover() != nil {
			pkg, err = nil, errUnknown
		}
	}()
	trees := s.parse(filepath.Join(s.root, filepath.FromSlash(path)))
	if len(trees) == 0 {
		return nil, errUnknown
	}
	pkg = checkFiles(s.program.fset, path, trees, standardImporter{s}, nil)
	s.loaded[path], s.program.known[path] = pkg, pkg
	s.program.keep(path, pkg)
	return pkg, nil
}

// parse reads the files of a folder that belong to a build for linux on amd64.
func (s *standard) parse(dir string) []*ast.File {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	ctxt := build.Default
	ctxt.GOOS, ctxt.GOARCH, ctxt.CgoEnabled, ctxt.Compiler = "linux", "amd64", true, "gc"
	var trees []*ast.File
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if ok, err := ctxt.MatchFile(dir, name); err != nil || !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if tree := parseFile(s.program.fset, filepath.Join(dir, name), Strip(text)); tree != nil {
			dropBodies(tree)
			trees = append(trees, tree)
		}
	}
	return trees
}

// standardImporter gives the packages that the standard library itself imports.
type standardImporter struct{ s *standard }

// Import implements types.Importer.
func (i standardImporter) Import(path string) (*types.Package, error) {
	return i.ImportFrom(path, "", 0)
}

// ImportFrom looks in the library's vendor folder too.
func (i standardImporter) ImportFrom(path, _ string, _ types.ImportMode) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if strings.HasPrefix(path, "golang.org/x/") {
		path = "vendor/" + path
	}
	return i.s.load(path)
}

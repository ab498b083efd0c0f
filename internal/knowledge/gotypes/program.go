package gotypes

import (
	"context"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// Source is what is known of a Go file of the repository without reading it.
type Source struct {
	Path       string
	Package    string   // its package clause
	Surface    string   // a hash of the file without bodies of functions
	Constraint string   // of its go:build line; "" for none
	Imports    []string // import paths
}

// Module is a go.mod file.
type Module struct {
	Dir  string // its folder; "" is the repository's root
	Path string // the module's path
}

// Config says what a Program is made of.
type Config struct {
	GOROOT  string // "" for none: calls into and types of the standard library are unknown then
	Modules []Module
	Sources []Source
	// Read gives the contents of files of the repository. A path that can't be read is absent.
	Read func(ctx context.Context, paths []string) (map[string][]byte, error)
	// Cache is where declarations are kept for other programs; nil: they are not.
	Cache *Cache
}

// Program is the Go code of a version. It is not safe for concurrent use.
type Program struct {
	cfg       Config
	modules   []Module // the longest paths first
	dirs      map[string]*folder
	packages  []*Package
	fset      *token.FileSet
	std       *standard
	closures  map[*Package][]*Package
	byPath    map[string]*Package       // those that can be imported
	known     map[string]*types.Package // by path: what was imported, and what that mentions
	found     map[string]*declared      // by path; see kept
	contracts map[*Package][]contract
}

// folder is the packages of one folder.
type folder struct {
	main, tests, external *Package // nil where there is none
}

// Package is files that are checked together: a package, its tests inside, or its tests
// outside.
type Package struct {
	Dir   string
	Name  string
	Files []string // those whose contents are judged, in order

	folder  *folder
	sources []Source // of Files
	around  []Source // files of the package of which only declarations count
	types   *types.Package
	imports []*Package // see Program.imports
	listed  bool       // imports is filled in
	tried   bool       // it was imported: types is all that there will be

	imported bool   // another package imports it
	view     string // see Program.View
}

// path is what the type checker calls the package. It is none that can be imported, so that
// it is not taken for one of the standard library.
func (p *Package) path() string {
	if p == p.folder.external {
		return ":" + p.Dir + "_test"
	}
	return ":" + p.Dir
}

// programCache bounds what a program without a cache of others keeps, in bytes.
const programCache = 16 << 20

// New plans the packages of a repository.
func New(cfg Config) *Program {
	if cfg.Cache == nil {
		cfg.Cache = NewCache(programCache)
	}
	p := &Program{
		cfg: cfg, dirs: map[string]*folder{}, fset: token.NewFileSet(), closures: map[*Package][]*Package{}, contracts: map[*Package][]contract{},
		byPath: map[string]*Package{}, known: map[string]*types.Package{}, found: map[string]*declared{},
	}
	p.std = newStandard(cfg.GOROOT, p)
	p.modules = slices.Clone(cfg.Modules)
	slices.SortStableFunc(p.modules, func(a, b Module) int { return len(b.Path) - len(a.Path) })
	byDir := map[string][]Source{}
	for _, s := range cfg.Sources {
		if matches(path.Base(s.Path), s.Constraint) {
			byDir[dirOf(s.Path)] = append(byDir[dirOf(s.Path)], s)
		}
	}
	for dir, sources := range byDir {
		slices.SortFunc(sources, func(a, b Source) int { return strings.Compare(a.Path, b.Path) })
		f := newFolder(dir, sources)
		if p.dirs[dir] = f; f.main != nil {
			p.byPath[f.main.path()] = f.main
		}
	}
	p.order()
	return p
}

// newFolder sorts the files of a folder into packages. Of several packages the one with most
// files counts: the others do not compile together with it.
func newFolder(dir string, sources []Source) *folder {
	count := map[string]int{}
	for _, s := range sources {
		count[strings.TrimSuffix(s.Package, "_test")]++
	}
	name := ""
	for pkg, n := range count {
		if n > count[name] || n == count[name] && pkg < name {
			name = pkg
		}
	}
	f := &folder{}
	main, tests, external := &Package{}, &Package{}, &Package{}
	for _, s := range sources {
		test := strings.HasSuffix(s.Path, "_test.go")
		switch {
		case s.Package == name && !test:
			main.take(s)
		case s.Package == name:
			tests.take(s)
		case s.Package == name+"_test" && test:
			external.take(s)
		}
	}
	tests.around = main.sources
	for _, pkg := range []*Package{main, tests, external} {
		pkg.Dir, pkg.folder, pkg.Name = dir, f, name
	}
	external.Name = name + "_test"
	if len(main.Files) > 0 {
		f.main = main
	}
	if len(tests.Files) > 0 {
		f.tests = tests
	}
	if len(external.Files) > 0 {
		f.external = external
	}
	return f
}

func (p *Package) take(s Source) {
	p.Files = append(p.Files, s.Path)
	p.sources = append(p.sources, s)
}

// Packages gives all packages; each stands after those that it imports.
func (p *Program) Packages() []*Package { return p.packages }

// order lists the packages in order of their imports.
func (p *Program) order() {
	seen := map[*Package]bool{}
	var visit func(pkg *Package)
	visit = func(pkg *Package) {
		if pkg == nil || seen[pkg] {
			return
		}
		seen[pkg] = true
		for _, dep := range p.imports(pkg) {
			dep.imported = true
			visit(dep)
		}
		p.packages = append(p.packages, pkg)
	}
	dirs := make([]string, 0, len(p.dirs))
	for dir := range p.dirs {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		visit(p.dirs[dir].main)
	}
	for _, dir := range dirs {
		visit(p.dirs[dir].tests)
		visit(p.dirs[dir].external)
	}
}

// imports gives the packages of the repository that a package needs first: what it imports,
// and for tests the package that they are of.
func (p *Program) imports(pkg *Package) []*Package {
	if pkg.listed {
		return pkg.imports
	}
	var deps []*Package
	seen := map[*Package]bool{nil: true}
	add := func(dep *Package) {
		if !seen[dep] {
			seen[dep] = true
			deps = append(deps, dep)
		}
	}
	for _, s := range append(slices.Clone(pkg.around), pkg.sources...) {
		for _, target := range s.Imports {
			add(p.find(pkg, target))
		}
	}
	pkg.imports, pkg.listed = deps, true
	return deps
}

// find gives the package of the repository that an import in pkg names; nil for none.
func (p *Program) find(pkg *Package, target string) *Package {
	f := p.folderOf(pkg.Dir, target)
	switch {
	case f == nil:
		return nil
	case f == pkg.folder && pkg == f.external && f.tests != nil:
		return f.tests // what tests inside declare, tests outside see
	case f.main != nil && f.main.Name == "main" && f != pkg.folder:
		return nil
	}
	return f.main
}

// folderOf finds the folder of an import path: below a vendor folder above, or in a module.
func (p *Program) folderOf(from, target string) *folder {
	for dir := from; ; dir = dirOf(dir) {
		if f := p.dirs[path.Join(dir, "vendor", target)]; f != nil {
			return f
		}
		if dir == "" {
			break
		}
	}
	for _, m := range p.modules {
		rest, ok := strings.CutPrefix(target, m.Path)
		if m.Path == "std" { // the standard library calls its packages without its own name
			rest, ok = "/"+target, true
		}
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		dir := path.Join(m.Dir, strings.TrimPrefix(rest, "/"))
		if dir == "." {
			dir = ""
		}
		if f := p.dirs[dir]; f != nil {
			return f
		}
	}
	return nil
}

func dirOf(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

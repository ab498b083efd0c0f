package gotypes

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
)

// maxPackage bounds the sources of a package that is checked, in bytes.
const maxPackage = 24 << 20

// Check type-checks a package and gives what is known of its files, by path. A file that
// does not parse is absent; of one with errors the broken parts are left out.
func (p *Program) Check(ctx context.Context, pkg *Package) (map[string]*Answers, error) {
	if p.cyclic(pkg) {
		return nil, nil
	}
	files, err := p.parse(ctx, pkg)
	if err != nil || files == nil {
		return nil, err
	}
	info := &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	checked, err := p.run(ctx, pkg, files, info)
	if err != nil || checked == nil {
		return nil, err
	}
	if !pkg.tried {
		pkg.types, pkg.tried = checked, true
	}
	answers := make(map[string]*Answers, len(pkg.Files))
	for _, f := range files {
		if f.judged {
			answers[f.path] = p.answer(f, info)
		}
	}
	p.implementations(pkg, checked, answers)
	return answers, nil
}

// parsed is a file of a package about to be checked.
type parsed struct {
	path   string
	ast    *ast.File
	judged bool // its bodies are checked
}

// parse reads the files of a package; nil where they are too large.
func (p *Program) parse(ctx context.Context, pkg *Package) ([]parsed, error) {
	var paths []string
	for _, s := range pkg.around {
		paths = append(paths, s.Path)
	}
	around := len(paths)
	paths = append(paths, pkg.Files...)
	texts, err := p.cfg.Read(ctx, paths)
	if err != nil {
		return nil, fmt.Errorf("read package %s: %w", pkg.Dir, err)
	}
	size := 0
	var files []parsed
	for i, name := range paths {
		text, ok := texts[name]
		if size += len(text); size > maxPackage {
			return nil, nil
		}
		if !ok {
			continue
		}
		tree := parseFile(p.fset, name, text)
		if tree == nil {
			continue
		}
		if i < around {
			dropBodies(tree)
		}
		files = append(files, parsed{name, tree, i >= around})
	}
	return files, nil
}

// parseFile parses a source as far as it goes; nil where not even the package is named, or
// where the parser itself fails.
func parseFile(fset *token.FileSet, name string, text []byte) (tree *ast.File) {
	defer func() {
		if recover() != nil {
			tree = nil
		}
	}()
	tree, _ = parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if tree == nil || tree.Name == nil || tree.Name.Name == "" || tooDeep(tree) {
		return nil
	}
	return tree
}

// deepest bounds how far the nodes of a source are nested: the type checker goes down by
// recursion, and a stack that is used up ends the process.
const deepest = 5000

func tooDeep(tree *ast.File) bool {
	depth, most := 0, 0
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil {
			depth--
			return true
		}
		depth++
		most = max(most, depth)
		return true
	})
	return most > deepest
}

func dropBodies(tree *ast.File) {
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}

// run checks files as a package. A fault of the type checker leaves the package unknown.
func (p *Program) run(ctx context.Context, pkg *Package, files []parsed, info *types.Info) (checked *types.Package, err error) {
	defer func() {
		if r := recover(); r != nil {
			checked = nil
		}
	}()
	trees := make([]*ast.File, len(files))
	for i := range files {
		trees[i] = files[i].ast
	}
	importer := &importing{ctx: ctx, program: p, from: pkg}
	checked = checkFiles(p.fset, path.Join(pkg.Dir, pkg.Name), trees, importer, info)
	if importer.err != nil {
		return nil, importer.err
	}
	return checked, nil
}

// checkFiles runs the type checker. Without info bodies of functions are not looked at.
func checkFiles(fset *token.FileSet, name string, trees []*ast.File, importer types.ImporterFrom, info *types.Info) *types.Package {
	conf := types.Config{
		Importer: importer, FakeImportC: true, IgnoreFuncBodies: info == nil, DisableUnusedImportCheck: true,
		Error: func(error) {}, // what has errors is left out
		Sizes: types.SizesFor("gc", "amd64"),
	}
	checked, _ := conf.Check(name, fset, trees, info)
	return checked
}

// importing gives the packages that a package imports.
type importing struct {
	ctx     context.Context
	program *Program
	from    *Package
	err     error // ctx's, or of reading: ends the check
}

var errUnknown = errors.New("the package is not known")

// Import implements types.Importer; the type checker calls ImportFrom instead.
func (i *importing) Import(path string) (*types.Package, error) { return i.ImportFrom(path, "", 0) }

// ImportFrom gives a package of the repository or of the standard library. An error makes
// the type checker pass over everything that has to do with the package.
func (i *importing) ImportFrom(path, _ string, _ types.ImportMode) (*types.Package, error) {
	if err := i.ctx.Err(); err != nil {
		i.err = err
	}
	if i.err != nil {
		return nil, i.err
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	dep := i.program.find(i.from, path)
	if dep == nil {
		return i.program.std.load(path)
	}
	if !dep.tried && !i.program.cyclic(dep) {
		if err := i.program.declare(i.ctx, dep); err != nil {
			i.err = err
			return nil, err
		}
	}
	if dep.types == nil {
		return nil, errUnknown
	}
	return dep.types, nil
}

// declare checks the declarations of a package, so that it can be imported.
func (p *Program) declare(ctx context.Context, pkg *Package) error {
	pkg.tried = true
	files, err := p.parse(ctx, pkg)
	if err != nil {
		return err
	}
	for _, f := range files {
		dropBodies(f.ast)
	}
	pkg.types, err = p.run(ctx, pkg, files, nil)
	return err
}

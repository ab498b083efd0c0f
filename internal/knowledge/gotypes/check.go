package gotypes

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// maxPackage bounds the sources of a package that is checked, in bytes.
const maxPackage = 24 << 20

// Check type-checks files of a package and gives what is known of them, by path. A file that
// does not parse is absent; of one with errors the broken parts are left out.
func (p *Program) Check(ctx context.Context, pkg *Package, wanted []string) (map[string]*Answers, error) {
	if p.cyclic(pkg) {
		return nil, nil
	}
	answers, whole, err := p.check(ctx, pkg, wanted)
	if err != nil || whole || len(wanted) < 2 {
		return answers, err
	}
	// What is said of a file must not hang on which others are asked for: one at a time.
	answers = map[string]*Answers{}
	for _, file := range wanted {
		some, _, err := p.check(ctx, pkg, []string{file})
		if err != nil {
			return nil, err
		}
		maps.Copy(answers, some)
	}
	return answers, nil
}

// check is one run of the type checker; whole is false where it gave up.
func (p *Program) check(ctx context.Context, pkg *Package, wanted []string) (answers map[string]*Answers, whole bool, err error) {
	files, err := p.parse(ctx, pkg, wanted)
	if err != nil || files == nil {
		return nil, true, err
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	checked, err := p.run(ctx, pkg, files, info)
	if err != nil || checked == nil {
		return nil, false, err
	}
	p.settle(pkg, checked)
	answers = make(map[string]*Answers, len(wanted))
	for _, f := range files {
		if f.judged {
			answers[f.path] = p.answer(f, info)
		}
	}
	if err := p.implementations(ctx, pkg, checked, answers); err != nil {
		return nil, false, err
	}
	return answers, true, nil
}

// parsed is a file of a package about to be checked.
type parsed struct {
	path   string
	ast    *ast.File
	judged bool // its bodies are checked
}

// parse reads the files of a package, those that are not wanted without bodies; nil where
// they are too large.
func (p *Program) parse(ctx context.Context, pkg *Package, wanted []string) ([]parsed, error) {
	var paths []string
	for _, s := range pkg.around {
		paths = append(paths, s.Path)
	}
	paths = append(paths, pkg.Files...)
	texts, err := p.cfg.Read(ctx, paths)
	if err != nil {
		return nil, fmt.Errorf("read package %s: %w", pkg.Dir, err)
	}
	size := 0
	var files []parsed
	for _, name := range paths {
		text, ok := texts[name]
		if size += len(text); size > maxPackage {
			return nil, nil
		}
		if !ok {
			continue
		}
		judged := slices.Contains(wanted, name)
		if !judged {
			text = Strip(text)
		}
		tree := parseFile(p.fset, name, text)
		if tree == nil {
			continue
		}
		if !judged {
			dropBodies(tree)
		}
		files = append(files, parsed{name, tree, judged})
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
	checked = checkFiles(p.fset, pkg.path(), trees, importer, info)
	if importer.err != nil {
		return nil, importer.err
	}
	return checked, nil
}

// maxFaults bounds the errors of a package that is checked: some take the type checker as
// long as going through all names of another package.
const maxFaults = 1000

// checkFiles runs the type checker. Without info bodies of functions are not looked at.
func checkFiles(fset *token.FileSet, name string, trees []*ast.File, importer types.ImporterFrom, info *types.Info) *types.Package {
	faults := 0
	conf := types.Config{
		Importer: importer, FakeImportC: true, IgnoreFuncBodies: info == nil, DisableUnusedImportCheck: true,
		Sizes: types.SizesFor("gc", "amd64"),
		Error: func(error) { // what has errors is left out
			if faults++; faults > maxFaults {
				panic(errUnknown)
			}
		},
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
	t, err := i.program.importable(i.ctx, dep)
	if err != nil {
		i.err = err
		return nil, err
	}
	if t == nil {
		return nil, errUnknown
	}
	return t, nil
}

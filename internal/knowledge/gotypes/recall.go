package gotypes

import (
	"bytes"
	"context"
	"go/types"

	"golang.org/x/tools/go/gcexportdata"
)

// Types of one package must be the same ones wherever they are met, and what was kept of a
// package mentions those of others. So a package is recalled only where all that it needs is
// there already or can be recalled too; else it is declared anew from its sources, and so is
// each package that needs it.

// recall gives a package as its declarations were kept; nil where they can't be recalled.
func (p *Program) recall(path string) *types.Package {
	if t := p.known[path]; t != nil && t.Complete() {
		return t
	}
	d := p.kept(path)
	if d == nil {
		return nil
	}
	t, err := gcexportdata.Read(bytes.NewReader(d.data), p.fset, p.known, path)
	if err != nil {
		return nil
	}
	return t
}

// kept gives the declarations of a package that can be recalled. What is found, or is not,
// holds for as long as the program.
func (p *Program) kept(path string) *declared {
	if d, asked := p.found[path]; asked {
		return d
	}
	p.found[path] = nil
	d := p.cfg.Cache.get(p.keyOf(path))
	if d == nil {
		return nil
	}
	for _, need := range d.needs {
		if t := p.known[need]; (t == nil || !t.Complete()) && p.kept(need) == nil {
			return nil
		}
	}
	p.found[path] = d
	return d
}

// keyOf gives the key under which declarations are kept: of a package of the repository its
// view, which is "" for one that is in a cycle.
func (p *Program) keyOf(path string) string {
	if pkg := p.byPath[path]; pkg != nil {
		return p.View(pkg)
	}
	return "std " + path
}

// keep keeps what a package declares, and reports whether it could.
func (p *Program) keep(path string, checked *types.Package) bool {
	d := export(p.fset, checked, p.known)
	if d == nil {
		return false
	}
	d.key = p.keyOf(path)
	if p.byPath[path] != nil {
		d.contracts = p.contractsIn(checked, true)
		for i := range d.contracts {
			d.contracts[i].typ = nil // it would hold the whole program
		}
	}
	p.cfg.Cache.put(d)
	return true
}

// importable gives a package with its declarations, so that others can import it; nil where
// there are none.
func (p *Program) importable(ctx context.Context, pkg *Package) (*types.Package, error) {
	if pkg.tried || p.cyclic(pkg) {
		return pkg.types, nil
	}
	pkg.tried = true
	main := pkg == pkg.folder.main
	if main {
		if pkg.types = p.recall(pkg.path()); pkg.types != nil {
			return pkg.types, nil
		}
	}
	files, err := p.parse(ctx, pkg, nil)
	if err != nil || files == nil {
		return nil, err
	}
	if pkg.types, err = p.run(ctx, pkg, files, nil); err != nil || pkg.types == nil || !main {
		return pkg.types, err
	}
	p.known[pkg.path()] = pkg.types
	p.keep(pkg.path(), pkg.types)
	return pkg.types, nil
}

// settle makes a package that was checked with its functions ready to be imported: by what
// it declares, without what stands inside of its functions, which nobody needs any more.
func (p *Program) settle(pkg *Package, checked *types.Package) {
	switch {
	case pkg.tried:
		return
	case pkg == pkg.folder.main && pkg.imported:
		if p.kept(pkg.path()) != nil {
			return
		}
		delete(p.found, pkg.path())
		if p.keep(pkg.path(), checked) {
			return
		}
		p.known[pkg.path()] = checked
	case pkg != pkg.folder.tests || pkg.folder.external == nil:
		return // nobody imports it
	}
	pkg.types, pkg.tried = checked, true
}

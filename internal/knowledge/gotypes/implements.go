package gotypes

import (
	"context"
	"go/types"
	"slices"
)

// implementations finds which interfaces the types of a package have the methods of: those
// of the package itself, and the exported ones of the repository's packages that it imports,
// directly or not.
func (p *Program) implementations(ctx context.Context, pkg *Package, checked *types.Package, answers map[string]*Answers) error {
	contracts, err := p.contractsFor(ctx, pkg, checked)
	if err != nil || len(contracts) == 0 {
		return err
	}
	scope := checked.Scope()
	for _, name := range scope.Names() {
		obj, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || obj.IsAlias() {
			continue
		}
		symbol, ok := p.symbolOf(obj)
		a := answers[symbol.Path]
		if !ok || a == nil {
			continue
		}
		named, ok := obj.Type().(*types.Named)
		if !ok || types.IsInterface(named) || named.TypeParams().Len() > 0 {
			continue
		}
		found, err := p.implemented(ctx, symbol, named, contracts)
		if err != nil {
			return err
		}
		a.Implementations = append(a.Implementations, found...)
	}
	return nil
}

// contract is an interface with its methods' names.
type contract struct {
	symbol  Symbol
	methods []string
	typ     *types.Interface // nil: that of from is to be asked for
	from    *Package
}

func (p *Program) implemented(ctx context.Context, symbol Symbol, named *types.Named, contracts []contract) ([]Implementation, error) {
	pointer := types.NewPointer(named)
	set := types.NewMethodSet(pointer)
	if set.Len() == 0 {
		return nil, nil
	}
	has := make(map[string]bool, set.Len())
	for m := range set.Methods() {
		has[m.Obj().Name()] = true
	}
	var found []Implementation
	for _, c := range contracts {
		if slices.ContainsFunc(c.methods, func(name string) bool { return !has[name] }) {
			continue
		}
		typ, err := p.typeOf(ctx, c)
		if err != nil {
			return nil, err
		}
		if typ != nil && types.Implements(pointer, typ) {
			found = append(found, Implementation{symbol, c.symbol})
		}
	}
	return found, nil
}

// typeOf gives the type of a contract; nil where its package is not known.
func (p *Program) typeOf(ctx context.Context, c contract) (*types.Interface, error) {
	if c.typ != nil {
		return c.typ, nil
	}
	t, err := p.importable(ctx, c.from)
	if err != nil || t == nil {
		return nil, err
	}
	obj := t.Scope().Lookup(c.symbol.Name)
	if obj == nil {
		return nil, nil
	}
	typ, _ := obj.Type().Underlying().(*types.Interface)
	return typ, nil
}

// contractsFor gives the interfaces that a package can name, in a fixed order.
func (p *Program) contractsFor(ctx context.Context, pkg *Package, checked *types.Package) ([]contract, error) {
	all := p.contractsIn(checked, false)
	for _, dep := range p.below(pkg) {
		some, known := p.contracts[dep]
		if !known {
			var err error
			if some, err = p.contractsOf(ctx, dep); err != nil {
				return nil, err
			}
			p.contracts[dep] = some
		}
		all = append(all, some...)
	}
	return all, nil
}

// contractsOf gives the exported interfaces of a package; where they were kept the package
// itself need not be recalled.
func (p *Program) contractsOf(ctx context.Context, pkg *Package) ([]contract, error) {
	if pkg == pkg.folder.main {
		if d := p.kept(pkg.path()); d != nil {
			all := slices.Clone(d.contracts)
			for i := range all {
				all[i].from = pkg
			}
			return all, nil
		}
	}
	t, err := p.importable(ctx, pkg)
	if err != nil || t == nil {
		return nil, err
	}
	return p.contractsIn(t, true), nil
}

// contractsIn gives the interfaces that a package declares.
func (p *Program) contractsIn(t *types.Package, exported bool) []contract {
	var all []contract
	for _, name := range t.Scope().Names() {
		obj := t.Scope().Lookup(name)
		if exported && !obj.Exported() {
			continue
		}
		if c, ok := p.contractOf(obj); ok {
			all = append(all, c)
		}
	}
	return all
}

func (p *Program) contractOf(obj types.Object) (contract, bool) {
	name, ok := obj.(*types.TypeName)
	if !ok || name.IsAlias() {
		return contract{}, false
	}
	named, ok := name.Type().(*types.Named)
	if !ok || named.TypeParams().Len() > 0 {
		return contract{}, false
	}
	typ, ok := named.Underlying().(*types.Interface)
	if !ok || typ.NumMethods() == 0 || !typ.IsMethodSet() {
		return contract{}, false
	}
	symbol, ok := p.symbolOf(name)
	c := contract{symbol: symbol, typ: typ}
	for m := range typ.Methods() {
		c.methods = append(c.methods, m.Name())
	}
	return c, ok
}

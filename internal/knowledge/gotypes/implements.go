package gotypes

import (
	"go/types"
	"slices"
)

// implementations finds which interfaces the types of a package have the methods of: those
// of the package itself and of the repository's packages that it imports, directly or not.
func (p *Program) implementations(pkg *Package, checked *types.Package, answers map[string]*Answers) {
	interfaces := p.interfacesFrom(pkg, checked)
	if len(interfaces) == 0 {
		return
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
		a.Implementations = append(a.Implementations, implemented(symbol, named, interfaces)...)
	}
}

// contract is an interface with its methods' names.
type contract struct {
	symbol  Symbol
	typ     *types.Interface
	methods []string
}

func implemented(symbol Symbol, named *types.Named, interfaces []contract) []Implementation {
	pointer := types.NewPointer(named)
	set := types.NewMethodSet(pointer)
	if set.Len() == 0 {
		return nil
	}
	has := make(map[string]bool, set.Len())
	for m := range set.Methods() {
		has[m.Obj().Name()] = true
	}
	var found []Implementation
	for _, i := range interfaces {
		if !slices.ContainsFunc(i.methods, func(name string) bool { return !has[name] }) && types.Implements(pointer, i.typ) {
			found = append(found, Implementation{symbol, i.symbol})
		}
	}
	return found
}

// interfacesFrom gives the interfaces that a package can name, in a fixed order.
func (p *Program) interfacesFrom(pkg *Package, checked *types.Package) []contract {
	all := slices.Clone(p.contractsOf(checked))
	for _, dep := range p.closure(pkg) {
		if dep.types != nil && dep.types != checked {
			all = append(all, p.contractsOf(dep.types)...)
		}
	}
	return all
}

// contractsOf gives the interfaces of one package.
func (p *Program) contractsOf(t *types.Package) []contract {
	if known, ok := p.contracts[t]; ok {
		return known
	}
	var all []contract
	for _, name := range t.Scope().Names() {
		if c, ok := p.contractOf(t.Scope().Lookup(name)); ok {
			all = append(all, c)
		}
	}
	p.contracts[t] = all
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

package resolve

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// maxReexports bounds how many modules hand a name on.
const maxReexports = 6

// path finds what a dotted name means in a file, inside the type in (nil for none).
func (v *view) path(f *file, in *class, dotted string) target {
	dotted = strings.TrimPrefix(dottedName(dotted), ".")
	first, rest, _ := strings.Cut(dotted, ".")
	if first == "" {
		return target{}
	}
	t := v.lookup(f, in, first)
	for rest != "" {
		if !t.found() {
			return target{external: t.external}
		}
		first, rest, _ = strings.Cut(rest, ".")
		t = v.inside(t, first)
	}
	return t
}

// dottedName writes the separators of all languages as dots.
func dottedName(name string) string {
	if !strings.ContainsAny(name, ":\\#") {
		return name
	}
	return strings.NewReplacer("::", ".", "\\", ".", "#", ".").Replace(name)
}

// lookup finds what a single name means in a file, inside the type in.
func (v *view) lookup(f *file, in *class, name string) target {
	if in != nil {
		if syms := v.nestedType(in, name); len(syms) > 0 {
			return target{syms: syms}
		}
		if t := v.implied(in, name); t.found() {
			return t
		}
	}
	if v.traits.declaresModules {
		if m := f.family.rules.child(v.w, f.module, name); m != nil {
			return target{module: m, syms: v.beside(f.module, name, 0)}
		}
	}
	if syms := f.top[name]; len(syms) > 0 {
		return target{syms: syms}
	}
	if t, ok := f.names[name]; ok {
		return v.settle(t, 0)
	}
	if syms := v.ofModule(f, name); len(syms) > 0 {
		return target{syms: syms}
	}
	for _, m := range f.open {
		if t := v.inModule(m, name, 1); t.found() {
			return t
		}
	}
	return f.family.rules.global(v, f, in, name)
}

// ofModule finds a name among those of the file's module. Where that is the whole repository
// the definitions of the nearest folder count, if they are of one file.
func (v *view) ofModule(f *file, name string) []sym {
	syms := f.module.top[name]
	if len(syms) < 2 || !v.traits.flat {
		return v.best(syms)
	}
	if c := v.classOf(syms[:1]); c != nil && len(c.syms) > 1 {
		return c.syms // a type that is reopened
	}
	var nearest []sym
	least, again := 0, false // again: another file of that folder has one too
	for _, s := range syms {
		switch d := distance(f.dir, s.file.dir); {
		case nearest == nil || d < least:
			nearest, least, again = []sym{s}, d, false
		case d == least && s.file == nearest[0].file:
			nearest = append(nearest, s)
		case d == least:
			again = true
		}
	}
	if again {
		return nil
	}
	return nearest
}

// implied finds a member or a field of the type around, or of one around that, where the
// language lets it be named alone.
func (v *view) implied(in *class, name string) target {
	if !v.traits.implicitThis {
		return target{}
	}
	for c := in; c != nil; c = outer(c.file, c) {
		if field, ok := v.field(c, name); ok {
			return target{field: &field}
		}
		if syms := v.member(c, name); len(syms) > 0 {
			return target{syms: syms}
		}
	}
	return target{}
}

// nestedType finds a type inside a type, or inside one that this one stands in.
func (v *view) nestedType(in *class, name string) []sym {
	for prefix := in.name; prefix != ""; {
		if c := v.classIn(in, prefix+"."+name); c != nil && len(c.syms) > 0 {
			return c.syms
		}
		if lastOf(prefix) == name && in.file.classes[prefix] != nil {
			return in.file.classes[prefix].syms
		}
		i := strings.LastIndexByte(prefix, '.')
		if i < 0 {
			return nil
		}
		prefix = prefix[:i]
	}
	return nil
}

// inside finds a name in what another name means.
func (v *view) inside(t target, name string) target {
	if t.module != nil {
		if found := v.inModule(t.module, name, 0); found.found() || found.external {
			return found
		}
		syms := v.f.family.rules.main(v, t.module, "")
		if len(syms) == 0 {
			return target{}
		}
		t = target{syms: syms}
	}
	if c := v.classOf(t.syms); c != nil {
		if syms := c.file.nested[c.name+"."+name]; len(syms) > 0 {
			return target{syms: syms}
		}
		if below := v.classIn(c, c.name+"."+name); below != nil {
			return target{syms: below.syms}
		}
		return target{syms: v.member(c, name)}
	}
	if val := v.valueOf(t); val.class != nil {
		return target{syms: v.member(val.class, name), external: val.external}
	}
	return target{external: t.external}
}

// inModule finds a name in a module: what it defines, what it hands on, a module below it.
func (v *view) inModule(m *module, name string, depth int) target {
	if v.traits.declaresModules {
		if below := v.f.family.rules.child(v.w, m, name); below != nil {
			return target{module: below, syms: v.beside(m, name, depth)}
		}
	}
	if syms := v.best(m.top[name]); len(syms) > 0 {
		return target{syms: syms}
	}
	if v.traits.reexports && depth < maxReexports {
		if t := v.handedOn(m, name, depth); t.found() || t.external {
			return t
		}
	}
	if below := v.f.family.rules.child(v.w, m, name); below != nil {
		return target{module: below}
	}
	return target{}
}

// beside gives the functions that a module has besides a module of the same name: they are
// names of another kind.
func (v *view) beside(m *module, name string, depth int) []sym {
	syms := functionsOnly(v.best(m.top[name]))
	if len(syms) == 0 && depth < maxReexports {
		syms = functionsOnly(v.handedOn(m, name, depth).syms)
	}
	return syms
}

// settle looks an imported name up in the module that it comes from.
func (v *view) settle(t target, depth int) target {
	if t.later == nil {
		return t
	}
	if depth > maxReexports || v.hops > maxReexports {
		return target{}
	}
	v.hops++
	defer func() { v.hops-- }()
	first, rest, _ := strings.Cut(t.later.name, ".")
	found := v.inModule(t.later.module, first, depth+1)
	for rest != "" && found.found() {
		first, rest, _ = strings.Cut(rest, ".")
		found = v.inside(found, first)
	}
	if found.found() || found.external {
		return found
	}
	switch main := v.f.family.rules.main(v, t.later.module, t.later.alias); {
	case t.later.name == "default":
		found.syms = main
	case len(main) > 0 && rest == "": // a member of the object that the module is
		found = v.inside(target{syms: main}, first)
	}
	return found
}

func (v *view) handedOn(m *module, name string, depth int) target {
	for _, f := range m.files {
		for _, e := range f.facts.Exports {
			if e.As != name || e.Name == name {
				continue
			}
			if syms := f.top[e.Name]; len(syms) > 0 {
				return target{syms: syms}
			}
			if t, ok := f.names[e.Name]; ok {
				return v.settle(t, depth+1)
			}
		}
	}
	for _, f := range m.files {
		if t, ok := f.names[name]; ok {
			if t = v.settle(t, depth+1); t.found() || t.external {
				return t
			}
		}
	}
	for _, f := range m.files {
		for _, open := range f.open {
			if open == m {
				continue
			}
			if t := v.inModule(open, name, depth+1); t.found() {
				return t
			}
		}
	}
	return target{}
}

// best leaves, of several definitions of one name in a module, those that count: files for
// other platforms and tests give way to others.
func (v *view) best(syms []sym) []sym {
	if len(syms) < 2 {
		return syms
	}
	rank := func(s sym) int {
		r := v.f.family.rules.rank(s.file)
		if s.file == v.f {
			r -= 100
		}
		return r
	}
	least := rank(syms[0])
	for _, s := range syms[1:] {
		least = min(least, rank(s))
	}
	var kept []sym
	for _, s := range syms {
		if rank(s) == least {
			kept = append(kept, s)
		}
	}
	return kept
}

// classIn finds a type by its dotted name where another one is defined: in its file or, where
// types have several definitions, in its module.
func (v *view) classIn(beside *class, name string) *class {
	if c := beside.file.classes[name]; c != nil || !v.traits.reopens {
		return c
	}
	for _, c := range beside.file.family.types[lastOf(name)] {
		if c.name == name && c.module == beside.module {
			return c
		}
	}
	return nil
}

// enclosing gives the type that the symbol of index i stands in: the symbol itself where it
// is a type, else the nearest one around it.
func (v *view) enclosing(i int) *class {
	if i < 0 {
		return nil
	}
	s := &v.f.facts.Symbols[i]
	if typeLike(s.Kind) {
		return v.f.classes[s.QualifiedName()]
	}
	for name := s.Receiver; name != ""; {
		if !v.f.inFunction(name) {
			if c := v.w.ownerOf(v.f, name); c != nil {
				return c
			}
		}
		at := strings.LastIndexByte(name, '.')
		if at < 0 {
			break
		}
		name = name[:at]
	}
	return nil
}

// localFunction finds a function nested in the symbol of index i, or in a function or a
// module written around it.
func (v *view) localFunction(i int, name string) []sym {
	if i < 0 {
		return nil
	}
	for prefix := v.f.facts.Symbols[i].QualifiedName(); prefix != ""; {
		if v.f.inFunction(prefix) || v.f.isModule(prefix) {
			for _, s := range v.f.nested[prefix+"."+name] {
				if k := s.symbol().Kind; k.Function() || typeLike(k) {
					return []sym{s}
				}
			}
		}
		at := strings.LastIndexByte(prefix, '.')
		if at < 0 {
			return nil
		}
		prefix = prefix[:at]
	}
	return nil
}

// isModule reports whether a name is that of a module written in the file.
func (f *file) isModule(name string) bool {
	for _, s := range f.nested[name] {
		if s.symbol().Kind == domain.KindModule {
			return true
		}
	}
	return false
}

// functions leaves what can be called: functions, and types for their constructors.
func functions(syms []sym) []sym {
	var kept []sym
	for _, s := range syms {
		if k := s.symbol().Kind; k.Function() || typeLike(k) && k != domain.KindModule {
			kept = append(kept, s)
		}
	}
	return kept
}

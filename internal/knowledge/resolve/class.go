package resolve

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// class is a type of the repository: one definition, or several that the language makes one
// (partial classes, a class reopened, methods in other files).
type class struct {
	name    string // dotted where nested
	syms    []sym
	module  *module
	file    *file // of the first definition
	members map[string][]sym
	fields  map[string]typed
	bases   []typed
	foreign []conformance // supertypes that other files declare
}

// conformance is a supertype with the file that declares it.
type conformance struct {
	file *file
	base domain.TypeRef
}

// typed is a type as written, with the file whose names it is written in, and the type
// around it.
type typed struct {
	text string
	file *file
	in   *class
}

func (c *class) kind() domain.SymbolKind {
	if len(c.syms) == 0 {
		return ""
	}
	return c.syms[0].symbol().Kind
}

// typeLike reports whether a symbol of that kind can be the type of something.
func typeLike(k domain.SymbolKind) bool {
	return k.Class() || k == domain.KindType || k == domain.KindModule
}

// collectClasses notes the types that a file defines.
func (w *World) collectClasses(f *file) {
	for i := range f.facts.Symbols {
		s := &f.facts.Symbols[i]
		if !typeLike(s.Kind) {
			continue
		}
		at := sym{f, i}
		c := w.merged(f, s.QualifiedName())
		if c == nil {
			c = newClass(s.QualifiedName(), f)
			f.family.types[s.Name] = append(f.family.types[s.Name], c)
		}
		c.syms = append(c.syms, at)
		if f.classes[c.name] == nil {
			f.classes[c.name] = c
		}
		for _, b := range s.Bases {
			if b.Kind != domain.EdgeUses {
				c.bases = append(c.bases, typed{b.Name, f, c})
			}
		}
		for _, field := range s.Fields {
			if _, again := c.fields[field.Name]; !again {
				c.fields[field.Name] = typed{field.Type, f, c}
			}
		}
		if s.Kind == domain.KindType && s.Type != "" {
			c.bases = append(c.bases, typed{s.Type, f, c})
		}
	}
}

// collectConformances gives types the supertypes that a file of another type declares.
func (w *World) collectConformances(f *file) {
	for _, c := range f.facts.Conformances {
		if owner := w.ownerOf(f, dottedName(c.Type)); owner != nil {
			owner.bases = append(owner.bases, typed{c.Base.Name, f, nil})
			owner.foreign = append(owner.foreign, conformance{f, c.Base})
		}
	}
}

func newClass(name string, f *file) *class {
	return &class{name: name, module: f.module, file: f, members: map[string][]sym{}, fields: map[string]typed{}}
}

// merged gives the type that another definition of that name adds to: one of the same file,
// or of the same module where the language allows that.
func (w *World) merged(f *file, name string) *class {
	if c := f.classes[name]; c != nil {
		return c
	}
	if !f.family.rules.traits(f.facts.Language).reopens {
		return nil
	}
	for _, c := range f.family.types[lastOf(name)] {
		if c.name == name && c.module == f.module {
			return c
		}
	}
	return nil
}

// collectMembers gives the symbols of a file that belong to a type to it.
func (w *World) collectMembers(f *file) {
	for i := range f.facts.Symbols {
		s := &f.facts.Symbols[i]
		if s.Receiver == "" || f.inFunction(s.Receiver) {
			continue
		}
		at := sym{f, i}
		c := w.ownerOf(f, s.Receiver)
		if c == nil {
			c = newClass(s.Receiver, f) // its definition is in no file that was read
			f.classes[s.Receiver] = c
		}
		c.members[s.Name] = append(c.members[s.Name], at)
		f.family.methods[s.Name] = append(f.family.methods[s.Name], at)
	}
}

// inFunction reports whether the symbols below that name are local to a function.
func (f *file) inFunction(name string) bool {
	for _, s := range f.nested[name] {
		if s.symbol().Kind.Function() {
			return true
		}
	}
	return false
}

// ownerOf finds the type that a symbol's Receiver names.
func (w *World) ownerOf(f *file, receiver string) *class {
	if c := f.classes[receiver]; c != nil {
		return c
	}
	for _, other := range f.module.files {
		if c := other.classes[receiver]; c != nil && len(c.syms) > 0 {
			return c
		}
	}
	if f.family.rules.traits(f.facts.Language).strictOwners {
		return nil
	}
	view := w.view(f)
	if c := view.typeNamed(receiver, nil); c != nil {
		return c
	}
	if list := f.family.types[lastOf(receiver)]; len(list) == 1 {
		return list[0]
	}
	return nil
}

// maxBases bounds how many supertypes are looked at for a member.
const maxBases = 40

// member finds a member of a type, in itself or in the nearest supertype that has it.
func (v *view) member(c *class, name string) []sym {
	var found []sym
	v.climb(c, func(c *class) bool {
		found = c.members[name]
		return len(found) > 0
	})
	return found
}

// field finds the type of a field.
func (v *view) field(c *class, name string) (typed, bool) {
	var found typed
	ok := false
	v.climb(c, func(c *class) bool {
		found, ok = c.fields[name]
		return ok
	})
	return found, ok
}

// climb visits a type and its supertypes, nearest first, until visit is satisfied.
func (v *view) climb(c *class, visit func(*class) bool) {
	queue, seen := []*class{c}, map[*class]bool{c: true}
	for i := 0; i < len(queue) && i < maxBases; i++ {
		if visit(queue[i]) {
			return
		}
		for _, b := range v.basesOf(queue[i]) {
			if !seen[b] {
				seen[b] = true
				queue = append(queue, b)
			}
		}
	}
}

// basesOf gives the supertypes of a type that the repository has.
func (v *view) basesOf(c *class) []*class {
	if known, ok := v.bases[c]; ok {
		return known
	}
	v.bases[c] = nil // a type that is its own supertype ends here
	var bases []*class
	for _, b := range c.bases {
		if found := v.evaluate(b).class; found != nil && found != c {
			bases = append(bases, found)
		}
	}
	v.bases[c] = bases
	return bases
}

// lastOf is the last part of a dotted name.
func lastOf(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

package resolve

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// view answers questions asked from one file. It remembers answers, and is used by one
// goroutine.
type view struct {
	w      *World
	f      *file
	traits traits
	memo   map[typed]value
	bases  map[*class][]*class
	given  map[place][]sym
	depth  int
	hops   int // imported names that are being looked up, one for the other
}

func (w *World) view(f *file) *view {
	return &view{w: w, f: f, traits: f.family.rules.traits(f.facts.Language), memo: map[typed]value{}, bases: map[*class][]*class{}, given: map[place][]sym{}}
}

// value is what an expression is known to be.
type value struct {
	class    *class
	text     string // its type as written, for elements and type arguments; "" unknown
	file     *file  // whose names text is written in
	in       *class // the type around text
	static   bool   // the class itself, not an object of it
	module   *module
	external bool   // something outside of the repository: its members are not ours
	generic  *value // whose type parameters text is written with; nil for none
}

// maxDepth bounds how far a chain of types leads to other chains.
const maxDepth = 12

// evaluate gives the value of a type as written, or of a chain; see domain.Reference.
func (v *view) evaluate(t typed) value {
	if known, ok := v.memo[t]; ok {
		return known
	}
	if v.depth >= maxDepth || t.text == "" {
		return value{}
	}
	v.depth++
	v.memo[t] = value{} // ends what leads back to itself
	root, steps, _ := strings.Cut(t.text, "!")
	val := v.root(typed{root, t.file, t.in})
	for steps != "" && (val.class != nil || val.text != "" || val.module != nil) {
		var s string
		s, steps, _ = strings.Cut(steps, "!")
		val = v.step(val, s)
	}
	if steps != "" {
		val = value{external: val.external}
	}
	v.depth--
	v.memo[t] = val
	return val
}

// root gives the value of a chain's first part: a type, a variable, or a call by name.
func (v *view) root(t typed) value {
	if call, ok := strings.CutSuffix(t.text, "()"); ok {
		return v.called(typed{call, t.file, t.in})
	}
	if val := v.typeValue(t); val.class != nil || val.external {
		return val
	}
	if found := v.path(t.file, t.in, t.text); found.found() || found.external {
		return v.valueOf(found)
	}
	return value{text: t.text, file: t.file, in: t.in}
}

// called gives the result of a call by name. Of a variable's method it is what the variable's
// type arguments make it; a name alone may be a method of the type around, whatever fields it
// has.
func (v *view) called(t typed) value {
	at := strings.LastIndexByte(t.text, '.')
	if at > 0 {
		if of := v.valueOf(v.path(t.file, t.in, t.text[:at])); of.class != nil && !of.static {
			return v.step(of, t.text[at+1:]+"()")
		}
	} else if v.traits.implicitThis {
		for c := t.in; c != nil; c = outer(c.file, c) {
			if syms := functionsOnly(v.member(c, t.text)); len(syms) > 0 {
				return v.result(target{syms: syms})
			}
		}
	}
	return v.result(v.path(t.file, t.in, t.text))
}

// typeValue gives the value of an object whose type is written as t.
func (v *view) typeValue(t typed) value {
	bare := v.plain(t.text)
	val := value{text: t.text, file: t.file, in: t.in}
	if bare == "" {
		return val
	}
	if v.traits.self[bare] && t.in != nil {
		val.class = t.in
		return val
	}
	if c := v.ownWrapper(t); c != nil {
		val.class = c
		return val
	}
	if v.traits.builtin[bare] {
		val.external = true
		return val
	}
	found := v.path(t.file, t.in, bare)
	if found.module != nil && len(found.syms) == 0 {
		found.syms = v.f.family.rules.main(v, found.module, bare)
	}
	if c := v.classOf(found.syms); c != nil {
		val.class = c
		return val
	}
	val.external = found.external
	if !val.external && found.module == nil && len(found.syms) == 0 && !v.traits.strictTypes && !strings.ContainsAny(bare, ".:\\") {
		val.class = v.onlyType(bare)
	}
	return val
}

// ownWrapper gives the type of the repository that has the name of a wrapper: its members are
// its own, not those of what it wraps.
func (v *view) ownWrapper(t typed) *class {
	text := v.traits.trim(t.text)
	i := strings.IndexByte(text, v.traits.open)
	if i <= 0 || !v.traits.wrappers[lastPart(text[:i])] {
		return nil
	}
	return v.classOf(v.path(t.file, t.in, text[:i]).syms)
}

// onlyType gives the one type of that name in the repository.
func (v *view) onlyType(name string) *class {
	if list := v.f.family.types[name]; len(list) == 1 && len(list[0].syms) > 0 && list[0].name == name {
		return list[0]
	}
	return nil
}

// classOf gives the type that symbols define.
func (v *view) classOf(syms []sym) *class {
	for _, s := range syms {
		if symbol := s.symbol(); typeLike(symbol.Kind) {
			if c := s.file.classes[symbol.QualifiedName()]; c != nil {
				return c
			}
			for _, c := range s.file.family.types[symbol.Name] {
				for _, def := range c.syms {
					if def == s {
						return c
					}
				}
			}
		}
	}
	return nil
}

// typeNamed finds the type that a name as written means in v's file.
func (v *view) typeNamed(name string, in *class) *class {
	return v.typeValue(typed{name, v.f, in}).class
}

// result gives the value of a call of what was found: an object of a class, or what the
// function is declared to give.
func (v *view) result(t target) value {
	if c := v.classOf(t.syms); c != nil {
		return value{class: c, text: c.name, file: c.file}
	}
	for _, s := range t.syms {
		if symbol := s.symbol(); symbol.Kind.Function() && symbol.Type != "" {
			return v.evaluate(typed{symbol.Type, s.file, v.ownerClass(s)})
		}
	}
	return value{external: t.external}
}

// valueOf gives the value of a name: a type itself, a module, or a variable.
func (v *view) valueOf(t target) value {
	if t.field != nil {
		return v.evaluate(*t.field)
	}
	if c := v.classOf(t.syms); c != nil {
		return value{class: c, text: c.name, file: c.file, static: true}
	}
	for _, s := range t.syms {
		if c := s.file.classes[s.symbol().QualifiedName()]; c != nil && !s.symbol().Kind.Function() {
			return value{class: c, text: c.name, file: c.file} // an object that is written out
		}
		if symbol := s.symbol(); symbol.Kind == domain.KindConstant && symbol.Type != "" {
			return v.evaluate(typed{symbol.Type, s.file, v.ownerClass(s)})
		}
	}
	return value{module: t.module, external: t.external}
}

// ownerClass gives the type that a symbol belongs to.
func (v *view) ownerClass(s sym) *class {
	receiver := s.symbol().Receiver
	if receiver == "" || s.file.inFunction(receiver) {
		return nil
	}
	return v.w.ownerOf(s.file, receiver)
}

// step takes one step of a chain from a value.
func (v *view) step(val value, s string) value {
	if s == "[]" {
		return v.element(val)
	}
	name, call := strings.CutSuffix(s, "()")
	if val.module != nil {
		t := v.inModule(val.module, name, 0)
		if call {
			return v.result(t)
		}
		return v.valueOf(t)
	}
	if val.class == nil {
		switch {
		case call && v.traits.keeps[name]:
			return val
		case call && v.traits.through[name]:
			return v.argument(val)
		}
		return value{external: val.external}
	}
	if !call {
		if field, ok := v.field(val.class, name); ok {
			return v.argumentOf(v.evaluate(field), val)
		}
	}
	for _, m := range v.member(val.class, name) {
		symbol := m.symbol()
		if typeLike(symbol.Kind) {
			if c := v.classOf([]sym{m}); c != nil {
				return value{class: c, text: c.name, file: c.file, static: !call}
			}
		}
		if symbol.Type != "" {
			owner := v.ownerClass(m)
			if v.traits.self[v.plain(symbol.Type)] {
				owner = val.class // a method that gives "self" gives the type it was called on
			}
			return v.argumentOf(v.evaluate(typed{symbol.Type, m.file, owner}), val)
		}
	}
	if call {
		if field, ok := v.field(val.class, name); ok && field.text != "" {
			return value{}
		}
		if v.traits.through[name] {
			return val
		}
	}
	return value{}
}

// element gives the value of an element of a container.
func (v *view) element(val value) value {
	elem := v.traits.element(val.text)
	if val.class != nil && v.traits.iterator != "" {
		for _, m := range v.member(val.class, v.traits.iterator) {
			if args := v.traits.arguments(m.symbol().Type); len(args) > 0 {
				return v.argumentOf(v.evaluate(typed{args[0], m.file, v.ownerClass(m)}), val)
			}
		}
	}
	if elem == "" {
		if val.class == nil {
			return value{external: val.external}
		}
		return value{}
	}
	return v.fill(v.evaluate(typed{elem, val.file, val.in}), val)
}

// argument gives the value of what a wrapper wraps: its first type argument.
func (v *view) argument(val value) value {
	args := v.traits.arguments(val.text)
	if len(args) == 0 {
		return value{external: val.external}
	}
	return v.fill(v.evaluate(typed{args[0], val.file, val.in}), val)
}

// plain strips a type of what does not matter to whose members it has.
func (v *view) plain(text string) string { return v.traits.plain(text) }

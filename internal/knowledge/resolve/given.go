package resolve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Bounds of calls of values: a name that is given functions in more places, or a field that
// is given more of them, tells nothing.
const (
	maxGivenPlaces = 3000
	maxGiven       = 64
)

// givenAt is a function that a file gives to a variable or a field.
type givenAt struct {
	file *file
	*domain.Given
}

// place is a variable of a package, or a field of a type.
type place struct {
	variable sym
	class    *class
	field    string
}

func (p place) found() bool { return p.class != nil || p.variable.file != nil }

// held reports whether what is called surely is a variable of a package or a field, and not a
// function or a method.
func (r *resolver) held(ref *domain.Reference) bool { return r.calledPlace(ref).found() }

// callValue notes the calls of all functions that are seen to be given to what is called.
func (r *resolver) callValue(ref *domain.Reference) {
	for _, to := range r.givenTo(r.calledPlace(ref)) {
		r.edge(ref.From, to, domain.EdgeCalls, ref.Line, domain.HowScoped)
	}
}

// calledPlace gives the variable or the field that a call calls.
func (r *resolver) calledPlace(ref *domain.Reference) place {
	in := r.enclosing(ref.From)
	if chain, ok := strings.CutPrefix(ref.RecvType, "="); ok {
		return r.placeOf(typed{chain, r.f, in})
	}
	if ref.Receiver == "" {
		if ref.Local {
			return place{}
		}
		return r.placeOf(typed{ref.Name, r.f, in})
	}
	if ref.RecvType != "" {
		if val := r.evaluate(typed{ref.RecvType, r.f, in}); val.class != nil {
			return r.fieldPlace(val.class, ref.Name)
		}
	}
	if ref.Local || !isPath(ref.Receiver) {
		return place{}
	}
	return r.placeOf(typed{ref.Receiver + "." + ref.Name, r.f, in})
}

// placeOf gives the variable or field that a chain or a dotted name leads to.
func (v *view) placeOf(t typed) place {
	for strings.HasSuffix(t.text, "![]") {
		t.text = strings.TrimSuffix(t.text, "![]")
	}
	if at := strings.LastIndexByte(t.text, '!'); at >= 0 {
		if val := v.evaluate(typed{t.text[:at], t.file, t.in}); val.class != nil {
			return v.fieldPlace(val.class, t.text[at+1:])
		}
		return place{}
	}
	for _, s := range v.path(t.file, t.in, t.text).syms {
		if s.symbol().Kind == domain.KindConstant {
			return place{variable: s}
		}
	}
	if at := strings.LastIndexByte(t.text, '.'); at >= 0 { // a field of a variable of a package
		if val := v.valueOf(v.path(t.file, t.in, t.text[:at])); val.class != nil && !val.static {
			return v.fieldPlace(val.class, t.text[at+1:])
		}
	}
	return place{}
}

// fieldPlace gives the field of a type, as a place of the type that declares it; none where a
// method has that name.
func (v *view) fieldPlace(c *class, name string) place {
	var at place
	v.climb(c, func(c *class) bool {
		if len(c.members[name]) > 0 {
			return true
		}
		if _, ok := c.fields[name]; ok {
			at = place{class: c, field: name}
		}
		return at.found()
	})
	return at
}

// givenTo gives the functions that a place is given, in a fixed order; none where there are
// too many to mean anything.
func (v *view) givenTo(at place) []sym {
	if !at.found() {
		return nil
	}
	if known, ok := v.given[at]; ok {
		return known
	}
	name := at.field
	if name == "" {
		name = at.variable.symbol().Name
	}
	places := v.f.family.givens[name]
	if len(places) > maxGivenPlaces {
		places = nil
	}
	var all []sym
	for _, g := range places {
		owner := typed{g.Name, g.file, nil}
		if g.Owner != "" {
			owner.text = g.Owner + "!" + g.Name
		}
		if v.placeOf(owner) != at {
			continue
		}
		for _, s := range v.functionOf(g, at) {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	if len(all) > maxGiven {
		all = nil
	}
	slices.SortFunc(all, func(a, b sym) int {
		return cmp.Or(strings.Compare(a.file.path, b.file.path), cmp.Compare(a.i, b.i))
	})
	v.given[at] = all
	return all
}

// functionOf gives the function that is given.
func (v *view) functionOf(g givenAt, to place) []sym {
	if g.Value == domain.LiteralFunction {
		if to.variable.file == nil {
			return nil
		}
		return []sym{to.variable}
	}
	if at := strings.LastIndexByte(g.Value, '!'); at >= 0 {
		val := v.evaluate(typed{g.Value[:at], g.file, nil})
		if val.class == nil {
			return nil
		}
		return functionsOnly(v.best(v.member(val.class, g.Value[at+1:])))
	}
	syms := functionsOnly(v.best(v.path(g.file, nil, g.Value).syms))
	return syms[:min(len(syms), 1)]
}

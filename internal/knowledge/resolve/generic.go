package resolve

import "strings"

// parameter is a type parameter of a type.
type parameter struct{ name, bound string }

// parametersOf reads the type parameters of a type from its signature.
func (v *view) parametersOf(c *class) []parameter {
	if len(c.syms) == 0 {
		return nil
	}
	s := c.syms[0].symbol()
	_, rest, ok := strings.Cut(s.Signature, s.Name+string(v.traits.open))
	if !ok {
		return nil
	}
	end, depth := -1, 1
	for i := 0; i < len(rest) && end < 0; i++ {
		switch rest[i] {
		case v.traits.open:
			depth++
		case v.traits.shut:
			if depth--; depth == 0 {
				end = i
			}
		}
	}
	if end < 0 {
		return nil
	}
	var all []parameter
	for _, p := range splitArguments(rest[:end]) {
		if strings.HasPrefix(p, "'") || strings.HasPrefix(p, "const ") { // of Rust: no types
			continue
		}
		p, _, _ = strings.Cut(p, " = ")
		name, bound, _ := strings.Cut(p, " ")
		bound = strings.TrimPrefix(bound, "extends ")
		all = append(all, parameter{strings.TrimSuffix(name, ":"), strings.TrimPrefix(bound, ": ")})
	}
	return all
}

// argumentOf puts the type argument of a generic type in the place of its parameter: of a
// Pool[*Item], Get() of type T is an *Item. Where no argument is known its bound is.
func (v *view) argumentOf(val, generic value) value {
	if val.class != nil || val.external || val.text == "" || generic.class == nil {
		return val
	}
	bare, args := v.plain(val.text), v.traits.arguments(generic.text)
	for i, p := range v.parametersOf(generic.class) {
		switch {
		case p.name != bare:
		case i < len(args):
			return v.fill(v.evaluate(typed{args[i], generic.file, generic.in}), generic)
		case p.bound != "":
			return v.evaluate(typed{p.bound, generic.class.file, generic.class})
		}
	}
	if len(args) == 1 && len(bare) <= 2 {
		return v.evaluate(typed{args[0], generic.file, generic.in})
	}
	val.generic = &generic
	return val
}

// fill is argumentOf for a part of a type that is written with parameters.
func (v *view) fill(part, whole value) value {
	if whole.generic == nil {
		return part
	}
	return v.argumentOf(part, *whole.generic)
}

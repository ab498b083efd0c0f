package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// maxGivens bounds how many functions of a file are noted as given: tables of more are data.
const maxGivens = 500

// holder is a variable or a field that may be given functions.
type holder struct {
	owner string // the type whose field it is, or a chain; "" for a variable of the package
	name  string
}

// goGive notes the functions that an expression gives to a holder: itself, or the elements of
// a container that is written out.
func goGive(w *walker, to holder, n int) { goGiveAt(w, to, n, maxSteps) }

func goGiveAt(w *walker, to holder, n, steps int) {
	if to.name == "" || steps == 0 {
		return
	}
	switch w.Kind(n) {
	case "identifier":
		if name := w.Content(n); !w.isLocal(name) && !w.g.builtins[name] && name != "true" && name != "false" && name != "_" {
			w.given(to, name)
		}
	case "selector_expression":
		w.given(to, goFunctionValue(w, n))
	case "func_literal":
		if to.owner == "" {
			w.given(to, domain.LiteralFunction)
		}
	case "parenthesized_expression", "index_expression", "type_instantiation_expression", "literal_element":
		goGiveAt(w, to, w.First(n), steps-1) // index: of a generic function
	case "composite_literal":
		if goHolds(w, n) {
			goGiveElements(w, to, w.Field(n, "body"), steps-1)
		}
	case "call_expression":
		if w.Content(w.Field(n, "function")) == "append" {
			for i, arg := range w.named(w.Field(n, "arguments")) {
				if i > 0 {
					goGiveAt(w, to, arg, steps-1)
				}
			}
		}
	}
}

// goHolds reports whether a composite literal is of a slice, an array or a map by its type as
// written.
func goHolds(w *walker, n int) bool {
	k := w.Kind(w.Field(n, "type"))
	return k == "slice_type" || k == "map_type" || k == "array_type" || k == "implicit_length_array_type"
}

func goGiveElements(w *walker, to holder, body, steps int) {
	for c := range w.Children(body) {
		if w.Kind(c) == "keyed_element" {
			c = w.Field(c, "value")
		}
		if w.Kind(c) == "literal_element" && w.Kind(w.First(c)) != "func_literal" {
			goGiveAt(w, to, c, steps)
		}
	}
}

// goFunctionValue gives x.f in a value's place as a chain, where it may be a function: of a
// package, or a method of a type or of a value.
func goFunctionValue(w *walker, n int) string {
	operand, field := w.Field(n, "operand"), w.Content(w.Field(n, "field"))
	switch w.Kind(operand) {
	case "identifier":
		name := w.Content(operand)
		if b, ok := w.lookup(name); ok {
			return step(b.typ, field)
		}
		return member(name, field)
	case "parenthesized_expression": // (*T).f
		if inner := w.First(operand); w.Kind(inner) == "unary_expression" {
			return step(goBareType(w.Content(w.Field(inner, "operand"))), field)
		}
	}
	return step(goTypeOf(w, operand, maxSteps), field)
}

// given notes one function. What the file itself knows to be none is left out.
func (w *walker) given(to holder, value string) {
	if value == "" || len(w.facts.Givens) >= maxGivens || len(to.owner)+len(value) > maxChain {
		return
	}
	if typ, known := w.fieldTypes[to.owner+"."+to.name]; known && !goMayHoldFunction(typ) {
		return
	}
	g := domain.Given{Owner: w.intern(to.owner), Name: w.intern(to.name), Value: w.intern(value)}
	if !w.gave[g] {
		w.gave[g] = true
		w.facts.Givens = append(w.facts.Givens, g)
	}
}

// goMayHoldFunction reports whether a field of that type may be called, or its elements.
func goMayHoldFunction(typ string) bool {
	for typ != "" {
		switch {
		case strings.HasPrefix(typ, "[]"):
			typ = typ[2:]
		case strings.HasPrefix(typ, "map["):
			_, typ = goMapTypes(typ)
		default:
			return typ[0] != '*' && typ[0] != '<' && !strings.HasPrefix(typ, "chan ") && !goPlainTypes[typ]
		}
	}
	return false
}

var goPlainTypes = words(`any bool byte complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string
	uint uint8 uint16 uint32 uint64 uintptr time.Duration time.Time`)

// goHolder gives what the left side of an assignment is, where it may hold functions: a field,
// a variable of a package, or an element of one.
func goHolder(w *walker, n int) holder {
	switch w.Kind(n) {
	case "index_expression":
		if n = w.Field(n, "operand"); w.Kind(n) != "index_expression" {
			return goHolder(w, n)
		}
	case "identifier":
		if name := w.Content(n); name != "_" && !w.isLocal(name) {
			return holder{name: name}
		}
	case "selector_expression":
		operand, field := w.Field(n, "operand"), w.Content(w.Field(n, "field"))
		if w.Kind(operand) == "identifier" {
			if _, ok := w.lookup(w.Content(operand)); !ok {
				return holder{name: member(w.Content(operand), field)} // of another package, or a variable of this one
			}
		}
		if owner := goTypeOf(w, operand, maxSteps); owner != "" {
			return holder{goOwner(owner), field}
		}
	}
	return holder{}
}

// goOwner takes what does not matter to whose field is meant from a type.
func goOwner(typ string) string {
	if strings.ContainsAny(typ, "!") {
		return typ
	}
	return goBareType(typ)
}

func goAssignment(w *walker, n int) {
	left, right := w.named(w.Field(n, "left")), w.named(w.Field(n, "right"))
	w.inside(n)
	if len(left) != len(right) {
		return
	}
	for i := range left {
		if to := goHolder(w, left[i]); to.name != "" {
			goGive(w, to, right[i])
		}
	}
}

// goLiteralType gives the type of a literal value, which those inside of containers leave out.
func goLiteralType(w *walker, n, steps int) string {
	if steps == 0 {
		return ""
	}
	switch up := w.Parent(n); w.Kind(up) {
	case "composite_literal":
		return goTypeText(w, w.Field(up, "type"))
	case "literal_element", "keyed_element":
		body := w.Parent(up)
		if w.Kind(up) == "literal_element" && w.Kind(body) == "keyed_element" {
			body = w.Parent(body)
		}
		if typ := goLiteralType(w, body, steps-1); strings.HasPrefix(typ, "[") || strings.HasPrefix(typ, "map[") {
			return strings.TrimPrefix(goElement(typ), "*")
		}
	}
	return ""
}

// goOrigin gives the field or variable that a function in a local variable comes from, as a
// chain; "" for none.
func goOrigin(w *walker, n int) string {
	for steps := 0; steps < maxSteps && (w.Kind(n) == "parenthesized_expression" || w.Kind(n) == "index_expression"); steps++ {
		n = w.First(n)
	}
	switch w.Kind(n) {
	case "identifier":
		name := w.Content(n)
		b, bound := w.lookup(name)
		switch {
		case b.local:
			return b.origin
		case bound: // a variable of the package
			return name
		}
	case "selector_expression":
		operand, field := w.Field(n, "operand"), w.Content(w.Field(n, "field"))
		if w.Kind(operand) == "identifier" {
			if _, ok := w.lookup(w.Content(operand)); !ok {
				return member(w.Content(operand), field)
			}
		}
		return step(goTypeOf(w, operand, maxSteps), field)
	}
	return ""
}

// bindFrom binds a local variable with what it takes its function from.
func (w *walker) bindFrom(name, typ, origin string) {
	if len(origin) > maxChain {
		origin = ""
	}
	w.bind(name, binding{typ: typ, local: true, origin: origin})
}

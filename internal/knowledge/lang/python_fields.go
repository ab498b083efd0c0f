package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// pyFields finds the attributes of a class whose type its text tells: annotated or
// assigned in its body, assigned to self in a method, or a property.
func pyFields(w *walker, body int, self string) []domain.Field {
	set := newFieldSet()
	was := w.self
	w.self = self
	defer func() { w.self = was }()
	for c := range w.Children(body) {
		switch inner := w.First(c); w.Kind(c) {
		case "expression_statement":
			if left := w.Field(inner, "left"); w.Kind(inner) == "assignment" && w.Kind(left) == "identifier" {
				set.add(w, w.Content(left), pyAssignedType(w, inner))
			}
		case "function_definition":
			pySelfFields(w, c, set)
		case "decorated_definition":
			def := w.Field(c, "definition")
			if w.Kind(def) != "function_definition" {
				continue
			}
			if pyHasDecorator(w, c, "property", "cached_property") {
				set.add(w, w.Content(w.Field(def, "name")), pyTypeText(w, w.Field(def, "return_type")))
			} else if !pyHasDecorator(w, c, "staticmethod", "classmethod") {
				pySelfFields(w, def, set)
			}
		}
	}
	return set.fields
}

// pySelfFields reads the assignments to self of one method, in order, with its parameters
// and locals bound.
func pySelfFields(w *walker, method int, set *fieldSet) {
	w.push()
	defer w.pop()
	params := w.Field(method, "parameters")
	pyBindParams(w, params, true)
	self := w.Content(w.First(params))
	body := w.Field(method, "body")
	for n := body; n >= 0 && n < w.End(body); n++ {
		if w.Kind(n) != "assignment" {
			continue
		}
		switch left := w.Field(n, "left"); w.Kind(left) {
		case "identifier":
			pyBindAssignment(w, n)
		case "attribute":
			if w.Content(w.Field(left, "object")) == self {
				set.add(w, w.Content(w.Field(left, "attribute")), pyAssignedType(w, n))
			}
		}
	}
}

// pyAssignedType gives the type that an assignment declares or else that of its value.
func pyAssignedType(w *walker, n int) string {
	if typ := pyTypeText(w, w.Field(n, "type")); typ != "" {
		return typ
	}
	return pyTypeOf(w, w.Field(n, "right"), maxSteps)
}

// pyBindAssignment binds the names on the left of an assignment.
func pyBindAssignment(w *walker, n int) {
	left, right := w.Field(n, "left"), w.Field(n, "right")
	switch w.Kind(left) {
	case "identifier":
		typ := pyAssignedType(w, n)
		if w.Kind(right) == "none" && typ == "" {
			if b, _ := w.lookup(w.Content(left)); b.typ != "" {
				return // set to nothing: it is still what it was declared to be
			}
		}
		pyBind(w, left, typ)
	case "pattern_list", "tuple_pattern", "list_pattern":
		pyBindPattern(w, left, "")
		values := w.named(right)
		for i, name := range w.named(left) {
			if w.Kind(right) == "expression_list" && i < len(values) {
				pyBindPattern(w, name, pyTypeOf(w, values[i], maxSteps))
			}
		}
	}
}

// pyBind binds a name that is assigned to: a local, unless declared global.
func pyBind(w *walker, n int, typ string) {
	name := w.Content(n)
	local := len(w.scopes) > 1
	if b, ok := w.scopes[len(w.scopes)-1][name]; ok && !b.local {
		local = false
	}
	w.bind(name, binding{typ: typ, local: local})
}

// pyBindPattern binds every name of a pattern; typ is for a lone one.
func pyBindPattern(w *walker, n int, typ string) {
	if w.Kind(n) == "identifier" {
		pyBind(w, n, typ)
		return
	}
	for c := n; c >= 0 && c < w.End(n); c++ {
		switch w.Kind(c) {
		case "attribute", "subscript":
			c = w.End(c) - 1
		case "identifier":
			pyBind(w, c, "")
		}
	}
}

func pyAssignment(w *walker, n int) {
	left, right := w.Field(n, "left"), w.Field(n, "right")
	symbol := -1
	if w.Kind(left) == "identifier" {
		symbol = pyConstant(w, n, w.Content(left), right)
	} else {
		w.visit(left)
	}
	w.within(symbol, func() {
		w.visit(w.Field(n, "type"))
		w.visit(right)
	})
	if w.self == "" || w.owner != w.self {
		pyBindAssignment(w, n)
	}
}

// pyConstant notes a module's variable, or the constant or enum member of a class.
func pyConstant(w *walker, n int, name string, right int) int {
	inClass := w.self != "" && w.owner == w.self
	if w.owner != "" && !inClass || inClass && name != strings.ToUpper(name) {
		return -1
	}
	key := dotted(w.owner, name)
	if w.seen[key] {
		return -1
	}
	w.seen[key] = true
	d := definition{
		kind: domain.KindConstant, name: name, owner: w.owner, node: n,
		typ: pyAssignedType(w, n), exported: pyExported(name), doc: pyDocAfter(w, n),
	}
	if inClass && w.kindOf(w.symbol) == domain.KindEnum {
		d.typ = w.self
	}
	switch w.Kind(right) {
	case "lambda":
		d.kind = domain.KindFunction
	case "call":
		if lastPart(w.Content(w.Field(right, "function"))) == "NewType" {
			d.kind, d.typ = domain.KindType, ""
		}
	}
	if lastPart(w.Content(w.Field(n, "type"))) == "TypeAlias" {
		d.kind, d.typ = domain.KindType, pyTypeText(w, right)
	}
	return w.define(d)
}

// pyDocAfter gives the string statement that follows an assignment, as documentation
// tools read it.
func pyDocAfter(w *walker, n int) string {
	statement := w.Parent(n)
	next := w.End(statement)
	if w.Kind(statement) != "expression_statement" || next >= w.End(w.Parent(statement)) {
		return ""
	}
	text := w.First(next)
	if w.Kind(next) != "expression_statement" || w.Kind(text) != "string" || w.End(next) != w.End(text) {
		return ""
	}
	return cleanDoc(w.Content(w.Child(text, "string_content")))
}

func pyWalrus(w *walker, n int) {
	w.visit(w.Field(n, "value"))
	pyBind(w, w.Field(n, "name"), pyTypeOf(w, w.Field(n, "value"), maxSteps))
}

func pyGlobal(w *walker, n int) {
	for c := range w.Children(n) {
		if w.Kind(c) == "identifier" {
			b, _ := w.lookup(w.Content(c))
			w.bind(w.Content(c), binding{typ: b.typ})
		}
	}
}

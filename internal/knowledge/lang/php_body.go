package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// phpContainers knows none: types have no arguments.
var phpContainers = containers{open: '<', shut: '>'}

var phpTypes = typer{containers: &phpContainers}

func init() { phpTypes.of = phpTypeOf }

func phpType(w *walker, n int) string {
	switch w.Kind(n) {
	case "optional_type", "named_type":
		return phpType(w, w.First(n))
	case "union_type", "intersection_type":
		only := ""
		for c := range w.Children(n) {
			typ := phpType(w, c)
			if typ == "" || typ == "null" || !w.Named(c) {
				continue
			}
			if only != "" {
				return ""
			}
			only = typ
		}
		return only
	}
	switch text := fold(w.Content(n), maxChain); text {
	case "self", "static":
		return w.self
	case "parent":
		return w.super
	case "void", "mixed", "null", "never":
		return ""
	default:
		return text
	}
}

// phpTypeUse notes a class that a name stands for.
func phpTypeUse(w *walker, n int) {
	switch w.Kind(n) {
	case "name", "qualified_name":
		w.uses(n, strings.TrimPrefix(w.Content(n), "\\"))
	default:
		w.visit(n)
	}
}

func phpParameter(w *walker, n int) {
	w.others(n, "name")
	typ := phpType(w, w.Field(n, "type"))
	if w.Kind(n) == "variadic_parameter" && typ != "" {
		typ += "[]"
	}
	w.bindLocal(w.Content(w.Field(n, "name")), typ)
}

func phpForEach(w *walker, n int) {
	over := w.First(n)
	w.visit(over)
	body := w.Field(n, "body")
	element := phpContainers.element(phpTypeOf(w, over, maxSteps))
	for c := w.End(over); c < w.End(n) && c != body; c = w.End(c) {
		switch w.Kind(c) {
		case "variable_name":
			w.bindLocal(w.Content(c), element)
		case "pair":
			w.bindLocal(w.Content(w.First(c)), "")
			w.bindLocal(w.Content(w.Last(c)), element)
		}
	}
	w.visit(body)
}

func phpCatch(w *walker, n int) {
	types, typ := w.Field(n, "type"), ""
	if w.First(types) == w.Last(types) {
		typ = phpType(w, w.First(types))
	}
	w.visit(types)
	w.bindLocal(w.Content(w.Field(n, "name")), typ)
	w.visit(w.Field(n, "body"))
}

func phpAssignment(w *walker, n int) {
	left, right := w.Field(n, "left"), w.Field(n, "right")
	w.visit(left)
	w.visit(right)
	if w.Kind(left) == "variable_name" {
		w.bind(w.Content(left), binding{typ: phpTypeOf(w, right, maxSteps), local: w.symbol >= 0})
	}
}

func phpCall(w *walker, n int) {
	function, list := w.Field(n, "function"), w.Field(n, "arguments")
	c := call{node: n, receiver: none, args: w.arguments(list, "variadic_unpacking")}
	switch w.Kind(function) {
	case "name":
		c.name = w.Content(function)
		if c.name == "define" {
			phpDefine(w, n, list)
		}
		if w.g.builtins[c.name] {
			c.name = ""
		}
	case "qualified_name":
		text := w.Content(function)
		c.name = lastPart(text)
		c.before = strings.TrimSuffix(text[:len(text)-len(c.name)], "\\")
	case "variable_name":
		c.name = w.Content(function)
	default:
		w.visit(function)
	}
	w.calls(c)
	w.visit(list)
}

// phpDefine notes the constant of define('NAME', value).
func phpDefine(w *walker, n, list int) {
	if name := w.First(w.First(list)); w.Kind(name) == "string" {
		w.define(definition{kind: domain.KindConstant, name: unquote(w.Content(name)), node: n, exported: true})
	}
}

func phpMemberCall(w *walker, n int) {
	object, name, list := w.Field(n, "object"), w.Field(n, "name"), w.Field(n, "arguments")
	c := call{node: name, receiver: object, recvType: phpTypeOf(w, object, maxSteps), args: w.arguments(list, "variadic_unpacking")}
	if w.Kind(name) == "name" {
		c.name = w.Content(name)
		w.calls(c)
	} else {
		w.visit(name)
	}
	w.visit(object)
	w.visit(list)
}

func phpScopedCall(w *walker, n int) {
	scope, name, list := w.Field(n, "scope"), w.Field(n, "name"), w.Field(n, "arguments")
	c := call{node: name, receiver: scope, args: w.arguments(list, "variadic_unpacking"), recvType: phpScope(w, scope)}
	if w.Kind(name) == "name" {
		c.name = w.Content(name)
		w.calls(c)
	}
	phpTypeUse(w, scope)
	w.visit(list)
}

// phpScope gives the type before ::.
func phpScope(w *walker, n int) string {
	switch w.Kind(n) {
	case "relative_scope":
		if w.Content(n) == "parent" {
			return w.super
		}
		return w.self
	case "name", "qualified_name":
		return strings.TrimPrefix(w.Content(n), "\\")
	}
	return phpTypeOf(w, n, maxSteps)
}

func phpNew(w *walker, n int) {
	class, list := w.First(n), w.Child(n, "arguments")
	c := call{node: n, receiver: none, args: w.arguments(list, "variadic_unpacking")}
	switch w.Kind(class) {
	case "name", "qualified_name":
		text := strings.TrimPrefix(w.Content(class), "\\")
		c.name = lastPart(text)
		c.before = strings.TrimSuffix(strings.TrimSuffix(text, c.name), "\\")
		if c.name == "self" || c.name == "static" {
			c.name = lastPart(w.self)
		}
		w.calls(c)
	case "anonymous_class":
		phpAnonymous(w, class)
		return
	default:
		w.visit(class)
	}
	w.visit(list)
}

// phpAnonymous walks a class without a name: its methods belong to what encloses it, and
// this is, for us, its first base.
func phpAnonymous(w *walker, n int) {
	body := w.Field(n, "body")
	bases := phpBases(w, n, body)
	for _, b := range bases {
		w.uses(n, b.Name)
	}
	w.visit(w.Child(n, "arguments"))
	self := ""
	if len(bases) > 0 {
		self = bases[0].Name
	}
	for _, f := range phpFields(w, body, self) {
		key := self + "." + f.Name
		if _, known := w.fieldTypes[key]; !known {
			w.fieldTypes[key] = f.Type
			defer delete(w.fieldTypes, key)
		}
	}
	owner := w.owner
	w.typed(self, bases, func() {
		w.belonging(owner, func() { w.inside(body) })
	})
}

// phpBinary walks both sides; what stands after instanceof is a class.
func phpBinary(w *walker, n int) {
	w.visit(w.Field(n, "left"))
	right := w.Field(n, "right")
	if w.Content(w.Field(n, "operator")) == "instanceof" {
		phpTypeUse(w, right)
		return
	}
	w.visit(right)
}

func phpAttribute(w *walker, n int) {
	phpTypeUse(w, w.First(n))
	w.visit(w.Field(n, "parameters"))
}

var phpLiterals = map[string]string{
	"string": "string", "encapsed_string": "string", "heredoc": "string", "integer": "int", "float": "float", "boolean": "bool", "array_creation_expression": "array",
}

// phpTypeOf gives the type of an expression as far as the file tells, as a chain.
func phpTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "variable_name":
		if w.Content(n) == "$this" {
			return w.self
		}
		b, _ := w.lookup(w.Content(n))
		return b.typ
	case "member_access_expression", "nullsafe_member_access_expression":
		return w.fieldOf(phpTypeOf(w, w.Field(n, "object"), steps), w.Content(w.Field(n, "name")))
	case "member_call_expression", "nullsafe_member_call_expression":
		return step(phpTypeOf(w, w.Field(n, "object"), steps), w.Content(w.Field(n, "name"))+"()")
	case "scoped_call_expression":
		return step(phpScope(w, w.Field(n, "scope")), w.Content(w.Field(n, "name"))+"()")
	case "scoped_property_access_expression":
		return w.fieldOf(phpScope(w, w.Field(n, "scope")), strings.TrimPrefix(w.Content(w.Field(n, "name")), "$"))
	case "class_constant_access_expression":
		if w.Content(w.Last(n)) == "class" {
			return phpScope(w, w.First(n))
		}
		return w.fieldOf(phpScope(w, w.First(n)), w.Content(w.Last(n)))
	case "object_creation_expression":
		if class := w.First(n); w.Kind(class) != "anonymous_class" {
			return phpType(w, class)
		}
		return w.Content(w.First(w.Child(w.First(n), "base_clause")))
	case "function_call_expression":
		function := w.Field(n, "function")
		if k := w.Kind(function); (k == "name" || k == "qualified_name") && !w.g.builtins[w.Content(function)] {
			return w.Content(function) + "()"
		}
	case "parenthesized_expression", "clone_expression":
		return phpTypeOf(w, w.First(n), steps)
	case "subscript_expression":
		return phpContainers.element(phpTypeOf(w, w.First(n), steps))
	case "assignment_expression":
		return phpTypeOf(w, w.Field(n, "right"), steps)
	case "conditional_expression":
		return phpTypeOf(w, w.Field(n, "body"), steps)
	case "binary_expression":
		if w.Content(w.Field(n, "operator")) != "??" {
			return ""
		}
		if typ := phpTypeOf(w, w.Field(n, "left"), steps); typ != "" {
			return typ
		}
		return phpTypeOf(w, w.Field(n, "right"), steps)
	}
	return phpLiterals[w.Kind(n)]
}

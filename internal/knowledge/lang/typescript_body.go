package lang

import "strings"

var tsContainers = containers{
	open: '<', shut: '>',
	first: words(`Array ReadonlyArray Set ReadonlySet Iterable Iterator IterableIterator AsyncIterable AsyncIterator Generator
		AsyncGenerator Observable QueryList`),
	last:    words("Map ReadonlyMap WeakMap Record"),
	through: words("Promise PromiseLike Readonly Partial Required NonNullable Awaited"),
	picks:   words("get find at pop shift"),
	keeps:   words("filter slice concat reverse sort values"),
}

// tsTypeText gives a type as written: without undefined and null, of a function type the
// keyword only, of a type parameter its bound, and nothing for types without a name.
func tsTypeText(w *walker, n int) string {
	switch w.Kind(n) {
	case "", "object_type", "conditional_type", "type_query", "intersection_type", "literal_type", "tuple_type", "type_predicate_annotation", "asserts_annotation":
		return ""
	case "function_type", "constructor_type":
		return "func"
	case "type_annotation", "parenthesized_type", "readonly_type":
		return tsTypeText(w, w.First(n))
	case "this_type":
		return w.self
	case "union_type":
		return tsUnionText(w, n)
	case "type_identifier":
		if b, ok := w.lookup(w.Content(n)); ok && b.typeParam {
			return w.argument(w.Content(n), b)
		}
	}
	text := tsContainers.plain(fold(w.Content(n), maxChain))
	switch text {
	case "any", "unknown", "void", "never", "undefined", "null":
		return ""
	}
	if b, ok := w.lookup(text); ok && b.typeParam {
		return w.argument(text, b) // of a Promise<T>, say
	}
	return text
}

// tsUnionText gives the one type of a union that is not undefined or null, if it is alone.
func tsUnionText(w *walker, n int) string {
	only := ""
	for c := n + 1; c < w.End(n); c = w.End(c) {
		if w.Kind(c) == "union_type" {
			c = c + 1 // unions nest to the left
		}
		if !w.Named(c) {
			continue
		}
		if text := w.Content(c); text == "null" || text == "undefined" {
			continue
		}
		text := tsTypeText(w, c)
		if only != "" && (!upperFirst(only) || !upperFirst(text) || strings.ContainsAny(only+text, "<([{")) {
			return ""
		}
		if only != "" {
			text = only + " | " + text
		}
		only = text
	}
	return only
}

// tsBindParameters binds the parameters of a function.
func tsBindParameters(w *walker, n int) {
	hint := w.hints[n]
	if single := w.Field(n, "parameter"); single >= 0 {
		w.bindLocal(w.Content(single), hint)
		return
	}
	for c := range w.Children(w.Field(n, "parameters")) {
		if !w.Named(c) || w.Kind(c) == "comment" {
			continue
		}
		name, typ := c, ""
		switch w.Kind(c) {
		case "required_parameter", "optional_parameter":
			name, typ = w.Field(c, "pattern"), tsFieldType(w, c)
		case "assignment_pattern":
			name, typ = w.Field(c, "left"), tsTypeOf(w, w.Field(c, "right"), maxSteps)
		}
		if w.Kind(name) == "rest_pattern" {
			name = w.First(name)
		}
		if typ == "" {
			typ = hint
		}
		hint = ""
		tsBindPattern(w, name, typ, true)
	}
}

// tsBindPattern binds the names of a pattern that takes a value of type typ apart.
func tsBindPattern(w *walker, n int, typ string, local bool) {
	switch w.Kind(n) {
	case "identifier", "shorthand_property_identifier_pattern":
		w.bind(w.Content(n), binding{typ: typ, local: local})
		return
	case "array_pattern":
		for c := range w.Children(n) {
			if w.Named(c) {
				tsBindPattern(w, c, tsContainers.element(typ), local)
			}
		}
		return
	case "assignment_pattern", "object_assignment_pattern":
		tsBindPattern(w, w.Field(n, "left"), typ, local)
		return
	case "rest_pattern":
		tsBindPattern(w, w.First(n), "", local)
		return
	}
	for c := range w.Children(n) {
		switch w.Kind(c) {
		case "shorthand_property_identifier_pattern":
			w.bind(w.Content(c), binding{typ: w.fieldOf(typ, w.Content(c)), local: local})
		case "object_assignment_pattern":
			tsBindPattern(w, w.Field(c, "left"), w.fieldOf(typ, w.Content(w.Field(c, "left"))), local)
		case "pair_pattern":
			tsBindPattern(w, w.Field(c, "value"), w.fieldOf(typ, w.Content(w.Field(c, "key"))), local)
		case "rest_pattern":
			tsBindPattern(w, w.First(c), "", local)
		}
	}
}

// tsPatternDefaults gives the pattern where it holds expressions to walk.
func tsPatternDefaults(w *walker, name int) int {
	if w.Kind(name) == "identifier" {
		return none
	}
	return name
}

func tsForIn(w *walker, n int) {
	w.push()
	right := w.Field(n, "right")
	w.visit(right)
	typ := ""
	if w.Content(w.Field(n, "operator")) == "of" {
		typ = tsContainers.element(tsTypeOf(w, right, maxSteps))
	}
	tsBindPattern(w, w.Field(n, "left"), typ, true)
	w.visit(w.Field(n, "body"))
	w.pop()
}

// tsIf walks the branch of "if (x instanceof T)" with x as a T.
func tsIf(w *walker, n int) {
	condition := w.Field(n, "condition")
	w.visit(condition)
	test := w.First(condition)
	name := w.Content(w.Field(test, "left"))
	was, bound := w.lookup(name)
	narrow := w.Kind(test) == "binary_expression" && bound && w.Content(w.Field(test, "operator")) == "instanceof"
	w.push()
	if narrow {
		w.bind(name, binding{typ: fold(w.Content(w.Field(test, "right")), maxChain), local: was.local})
	}
	w.visit(w.Field(n, "consequence"))
	w.pop()
	w.visit(w.Field(n, "alternative"))
}

func tsCatch(w *walker, n int) {
	w.push()
	tsBindPattern(w, w.Field(n, "parameter"), "", true)
	w.others(n, "parameter")
	w.pop()
}

func tsCall(w *walker, n int) {
	function, list := w.Field(n, "function"), w.Field(n, "arguments")
	for k := w.Kind(function); k == "non_null_expression" || k == "instantiation_expression" || k == "await_expression"; k = w.Kind(function) {
		function = w.First(function)
	}
	c := call{node: n, receiver: none, args: w.arguments(list, "spread_element")}
	if w.Kind(list) == "template_string" {
		c.args = -1
	}
	switch w.Kind(function) {
	case "identifier":
		if c.name = w.Content(function); w.g.builtins[c.name] && !w.isLocal(c.name) {
			c.name = ""
		}
		if module := tsRequired(w, n); module != "" {
			w.importing(n, module, "", "")
		}
	case "super":
		c.name = lastPart(w.super)
	case "import":
		w.importing(n, unquote(w.Content(w.First(list))), "", "")
	case "member_expression":
		name := w.Field(function, "property")
		c.node, c.name, c.receiver = name, w.Content(name), w.Field(function, "object")
		c.recvType = tsReceiverType(w, c.receiver)
		tsHintCallback(w, c, list)
		w.visit(c.receiver)
	default:
		w.visit(function)
	}
	w.calls(c)
	w.visit(w.Field(n, "type_arguments"))
	w.visit(list)
}

var (
	tsEachMethods   = words("map forEach filter find findIndex findLast some every flatMap sort subscribe")
	tsReduceMethods = words("reduce reduceRight")
)

// tsHintCallback tells a callback what the elements of the container are that it is
// called with.
func tsHintCallback(w *walker, c call, list int) {
	callback := w.First(list)
	if k := w.Kind(callback); k != "arrow_function" && k != "function_expression" {
		return
	}
	switch {
	case tsEachMethods[c.name]:
		w.hints[callback] = tsContainers.element(c.recvType)
	case c.name == "then":
		w.hints[callback] = c.recvType
	case tsReduceMethods[c.name]:
		w.hints[callback] = tsTypeOf(w, w.Last(list), maxSteps)
	}
}

func tsNew(w *walker, n int) {
	constructor, list := w.Field(n, "constructor"), w.Field(n, "arguments")
	c := call{node: n, receiver: none, args: w.arguments(list, "spread_element")}
	switch w.Kind(constructor) {
	case "identifier":
		c.name = w.Content(constructor)
	case "member_expression":
		c.name, c.receiver = w.Content(w.Field(constructor, "property")), w.Field(constructor, "object")
	case "this": // in a static method
		c.name = lastPart(w.self)
	default:
		w.visit(constructor)
	}
	if !w.g.builtins[c.name] {
		w.calls(c)
	}
	w.visit(w.Field(n, "type_arguments"))
	w.visit(list)
}

// tsElement notes the use of a component: rendering it calls it.
func tsElement(w *walker, n int) {
	name := w.Field(n, "name")
	c := call{node: n, receiver: none, args: -1}
	switch {
	case w.Kind(name) == "identifier" && upperFirst(w.Content(name)):
		c.name = w.Content(name)
	case w.Kind(name) == "member_expression":
		c.name, c.receiver = w.Content(w.Field(name, "property")), w.Field(name, "object")
	}
	w.calls(c)
	w.others(n, "name")
}

// tsReceiverType is tsTypeOf, but nothing for a lone name that is not bound: it may be a
// module or a class.
func tsReceiverType(w *walker, n int) string {
	if w.Kind(n) == "identifier" {
		b, _ := w.lookup(w.Content(n))
		return b.typ
	}
	return tsTypeOf(w, n, maxSteps)
}

// tsTypeOf gives the type of an expression as far as the file tells, as a chain.
func tsTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier":
		if b, ok := w.lookup(w.Content(n)); ok {
			return b.typ
		}
		return w.Content(n)
	case "this":
		return w.self
	case "super":
		return w.super
	case "member_expression":
		return tsMember(w, n, steps, "")
	case "call_expression":
		return tsCallType(w, n, steps)
	case "new_expression":
		if w.Kind(w.Field(n, "constructor")) == "this" {
			return w.self
		}
		return tsContainers.plain(fold(w.Content(w.Field(n, "constructor"))+w.Content(w.Field(n, "type_arguments")), maxChain))
	case "await_expression", "parenthesized_expression", "non_null_expression", "satisfies_expression":
		return tsTypeOf(w, w.First(n), steps)
	case "as_expression":
		if typ := tsTypeText(w, w.Last(n)); typ != "" && w.Last(n) != w.First(n) {
			return typ
		}
		return tsTypeOf(w, w.First(n), steps)
	case "subscript_expression":
		return tsContainers.element(tsTypeOf(w, w.Field(n, "object"), steps))
	case "ternary_expression":
		return tsTypeOf(w, w.Field(n, "consequence"), steps)
	case "assignment_expression":
		return tsTypeOf(w, w.Field(n, "right"), steps)
	case "binary_expression":
		switch w.Content(w.Field(n, "operator")) {
		case "??", "||":
			if typ := tsTypeOf(w, w.Field(n, "left"), steps); typ != "" {
				return typ
			}
			return tsTypeOf(w, w.Field(n, "right"), steps)
		case "&&":
			return tsTypeOf(w, w.Field(n, "right"), steps)
		}
		return ""
	}
	return tsLiterals[w.Kind(n)]
}

var tsLiterals = map[string]string{
	"string": "string", "template_string": "string", "number": "number", "true": "boolean", "false": "boolean", "regex": "RegExp", "array": "Array",
}

// tsMember gives the type of object.property, or with suffix "()" of its call.
func tsMember(w *walker, n, steps int, suffix string) string {
	object, name := w.Field(n, "object"), w.Content(w.Field(n, "property"))
	if w.Kind(object) == "identifier" {
		b, ok := w.lookup(w.Content(object))
		if !ok {
			return member(w.Content(object), name+suffix)
		}
		if suffix != "" {
			if typ, known := tsContainers.call(b.typ, name); known {
				return typ
			}
		}
		return w.fieldOf(b.typ, name+suffix)
	}
	base := tsTypeOf(w, object, steps)
	if suffix != "" {
		if typ, known := tsContainers.call(base, name); known {
			return typ
		}
	}
	if w.Kind(object) == "member_expression" && !strings.ContainsAny(base, "!(") {
		if _, bound := w.lookup(leading(w.Content(object))); !bound && w.Content(w.Field(object, "object")) != "this" {
			return member(base, name+suffix)
		}
	}
	return w.fieldOf(base, name+suffix)
}

func tsCallType(w *walker, n, steps int) string {
	function := w.Field(n, "function")
	switch w.Kind(function) {
	case "identifier":
		name := w.Content(function)
		if w.isLocal(name) || w.g.builtins[name] {
			return ""
		}
		return name + "()"
	case "member_expression":
		return tsMember(w, function, steps, "()")
	}
	return ""
}

package lang

import "strings"

// goTypeSwitch binds the switch's name to the type of each case that has only one.
func goTypeSwitch(w *walker, n int) {
	w.push()
	w.visit(w.Field(n, "initializer"))
	w.visit(w.Field(n, "value"))
	alias := w.Content(w.First(w.Field(n, "alias")))
	for c := range w.Children(n) {
		kind := w.Kind(c)
		if kind != "type_case" && kind != "default_case" {
			continue
		}
		w.push()
		typ, types := "", 0
		for t := range w.Children(c) {
			if w.FieldName(t) == "type" && w.Named(t) {
				typ = goTypeText(w, t)
				types++
			}
		}
		if types != 1 {
			typ = ""
		}
		w.bindLocal(alias, typ)
		w.inside(c)
		w.pop()
	}
	w.pop()
}

func goShortVar(w *walker, n int) {
	left, right := w.Field(n, "left"), w.Field(n, "right")
	w.visit(right)
	values := w.named(right)
	for i, name := range w.named(left) {
		origin := ""
		if i < len(values) {
			origin = goOrigin(w, values[i])
		}
		w.bindFrom(w.Content(name), goValueAt(w, values, i), origin)
	}
}

func goReceive(w *walker, n int) {
	right := w.Field(n, "right")
	w.visit(right)
	for i, name := range w.named(w.Field(n, "left")) {
		typ := ""
		if i == 0 {
			typ = goTypeOf(w, right, maxSteps)
		}
		w.bindLocal(w.Content(name), typ)
	}
}

func goRange(w *walker, n int) {
	right := w.Field(n, "right")
	w.visit(right)
	over, from := goTypeOf(w, right, maxSteps), goOrigin(w, right)
	for i, name := range w.named(w.Field(n, "left")) {
		typ, origin := "", ""
		switch {
		case i == 1:
			typ, origin = goElement(over), from
		case strings.HasPrefix(over, "chan ") || strings.HasPrefix(over, "<-chan "):
			typ = goElement(over)
		case strings.HasPrefix(over, "map["):
			typ, _ = goMapTypes(over)
		}
		w.bindFrom(w.Content(name), typ, origin)
	}
}

// goKeyed walks the value of a keyed element; a key that is one word names a field.
func goKeyed(w *walker, n int) {
	key, value := w.Field(n, "key"), w.Field(n, "value")
	if w.Kind(w.First(key)) != "identifier" {
		w.visit(key)
	} else if owner := goBareType(goLiteralType(w, w.Parent(n), maxSteps)); owner != "" {
		goGive(w, holder{owner, w.Content(key)}, value)
	}
	w.visit(value)
}

// goSelector walks the operand: the field's name is no type.
func goSelector(w *walker, n int) { w.visit(w.Field(n, "operand")) }

func goCall(w *walker, n int) {
	function, list := w.Field(n, "function"), w.Field(n, "arguments")
	c := call{node: n, receiver: none, args: w.arguments(list, "variadic_argument")}
	target := function
	for w.Kind(target) == "parenthesized_expression" || w.Kind(target) == "index_expression" || w.Kind(target) == "type_instantiation_expression" {
		target = w.First(target)
	}
	switch w.Kind(target) {
	case "identifier", "type_identifier":
		c.name = w.Content(target)
		if w.g.builtins[c.name] && !w.isLocal(c.name) {
			c.name = ""
		}
		if b, _ := w.lookup(c.name); b.local && b.origin != "" {
			c.recvType = "=" + b.origin
		}
	case "qualified_type":
		c.name, c.receiver = w.Content(w.Field(target, "name")), w.Field(target, "package")
	case "selector_expression":
		field := w.Field(target, "field")
		c.node, c.name, c.receiver = field, w.Content(field), w.Field(target, "operand")
		c.recvType = goReceiverType(w, c.receiver)
	}
	w.calls(c)
	w.visit(function)
	w.visit(w.Field(n, "type_arguments"))
	w.visit(list)
}

// goConversion reads x[y](z), which the grammar takes for a conversion to a generic type. It is
// more often a call of a generic function, or of an element of a container.
func goConversion(w *walker, n int) {
	typ := w.Field(n, "type")
	if w.Kind(typ) != "generic_type" {
		w.inside(n)
		return
	}
	name := w.Field(typ, "type")
	c := call{node: name, name: w.Content(name), receiver: none, args: 1}
	if w.Kind(name) == "qualified_type" {
		c.node = w.Field(name, "name")
		c.name, c.receiver = w.Content(c.node), w.Field(name, "package")
		if b, ok := w.lookup(w.Content(c.receiver)); ok {
			c.recvType = b.typ
		}
	}
	if b, _ := w.lookup(c.name); b.local && b.origin != "" && c.receiver < 0 {
		c.recvType = "=" + b.origin
	}
	w.calls(c)
	w.visit(w.Field(typ, "type_arguments"))
	w.visit(w.Field(n, "operand"))
}

// goReceiverType is goTypeOf, but nothing for a lone name that is not bound: it may be a
// package.
func goReceiverType(w *walker, n int) string {
	if w.Kind(n) == "identifier" {
		b, _ := w.lookup(w.Content(n))
		return b.typ
	}
	return goTypeOf(w, n, maxSteps)
}

// goTypeOf gives the type of an expression as far as the file tells, as a chain.
func goTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier":
		name := w.Content(n)
		if b, ok := w.lookup(name); ok {
			return b.typ
		}
		return name
	case "selector_expression":
		return goMember(w, n, steps, "")
	case "call_expression":
		return goCallType(w, n, steps)
	case "composite_literal", "type_assertion_expression", "type_conversion_expression":
		return goTypeText(w, w.Field(n, "type"))
	case "unary_expression":
		typ := goTypeOf(w, w.Field(n, "operand"), steps)
		switch w.Content(w.Field(n, "operator")) {
		case "<-":
			return goElement(typ)
		case "*":
			return strings.TrimPrefix(typ, "*")
		case "&":
			return typ
		}
		return ""
	case "parenthesized_expression":
		return goTypeOf(w, w.First(n), steps)
	case "index_expression":
		return goElement(goTypeOf(w, w.Field(n, "operand"), steps))
	case "slice_expression":
		return goTypeOf(w, w.Field(n, "operand"), steps)
	}
	return ""
}

// goMember gives the type of operand.field, or with suffix "()" of its call.
func goMember(w *walker, n, steps int, suffix string) string {
	operand, field := w.Field(n, "operand"), w.Content(w.Field(n, "field"))
	if w.Kind(operand) == "identifier" {
		name := w.Content(operand)
		if b, ok := w.lookup(name); ok {
			return w.fieldOf(b.typ, field+suffix)
		}
		return member(name, field+suffix)
	}
	return w.fieldOf(goTypeOf(w, operand, steps), field+suffix)
}

func goCallType(w *walker, n, steps int) string {
	function := w.Field(n, "function")
	if w.Kind(function) == "index_expression" || w.Kind(function) == "type_instantiation_expression" {
		function = w.First(function)
	}
	switch w.Kind(function) {
	case "identifier":
		name := w.Content(function)
		switch name {
		case "new", "make":
			return goTypeText(w, w.First(w.Field(n, "arguments")))
		case "append":
			return goTypeOf(w, w.First(w.Field(n, "arguments")), steps)
		}
		if w.isLocal(name) || w.g.builtins[name] {
			return ""
		}
		return name + "()"
	case "selector_expression":
		return goMember(w, function, steps, "()")
	case "parenthesized_expression": // a conversion such as (*T)(x)
		if inner := w.First(function); w.Kind(inner) == "unary_expression" {
			return w.Content(w.Field(inner, "operand"))
		}
	}
	return ""
}

// goTypeText gives a type as written; of a function type the keyword only, of a type
// parameter its bound, and nothing for types without a name.
func goTypeText(w *walker, n int) string {
	switch w.Kind(n) {
	case "", "struct_type", "interface_type":
		return ""
	case "function_type":
		return "func"
	case "type_identifier":
		if b, ok := w.lookup(w.Content(n)); ok && b.typeParam {
			return b.typ
		}
	case "parenthesized_type":
		return goTypeText(w, w.First(n))
	}
	return fold(w.Content(n), maxChain)
}

// goElement gives the type of an element of a container type.
func goElement(typ string) string {
	switch {
	case typ == "" || typ == "string":
		return ""
	case strings.HasPrefix(typ, "map["):
		if _, value := goMapTypes(typ); value != "" {
			return value
		}
	case strings.HasPrefix(typ, "chan ") || strings.HasPrefix(typ, "<-chan "):
		return typ[strings.Index(typ, "chan ")+len("chan "):]
	case strings.HasPrefix(typ, "["):
		if i := strings.IndexByte(typ, ']'); i > 0 && !strings.Contains(typ, "!") {
			return typ[i+1:]
		}
	}
	return step(typ, "[]")
}

// goMapTypes splits "map[K]V".
func goMapTypes(typ string) (key, value string) {
	if strings.Contains(typ, "!") {
		return "", ""
	}
	depth := 0
	for i := len("map["); i < len(typ); i++ {
		switch typ[i] {
		case '[':
			depth++
		case ']':
			if depth == 0 {
				return typ[len("map["):i], typ[i+1:]
			}
			depth--
		}
	}
	return "", ""
}

// goBareType takes pointers and type arguments away: "*pkg.List[T]" is "pkg.List".
func goBareType(typ string) string {
	typ = strings.TrimLeft(typ, "*~( ")
	if i := strings.IndexAny(typ, "[) "); i > 0 {
		typ = typ[:i]
	}
	return typ
}

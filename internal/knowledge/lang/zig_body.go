package lang

import "strings"

var zigContainers = containers{
	open: '(', shut: ')',
	first: words("ArrayList ArrayListUnmanaged BoundedArray SinglyLinkedList MultiArrayList PriorityQueue"),
	last:  words("AutoHashMap StringHashMap AutoArrayHashMap"),
	picks: words("pop getLast popOrNull get"),
}

var zigTypes = typer{containers: &zigContainers, names: words("identifier"), paths: words("field_expression")}

func init() { zigTypes.of = zigTypeOf }

// zigType gives a type as it matters to calls: without pointers, errors and optionals.
func zigType(w *walker, n int) string {
	switch w.Kind(n) {
	case "", "builtin_type", "anytype":
		return ""
	case "pointer_type", "nullable_type":
		return zigType(w, w.Last(n))
	case "error_union_type":
		return zigType(w, w.Field(n, "ok"))
	case "slice_type", "array_type":
		if inner := zigType(w, w.Last(n)); inner != "" {
			return inner + "[]"
		}
		return ""
	case "function_signature":
		return "func"
	case "builtin_function":
		b, _ := w.lookup(w.Content(n))
		return b.typ // @This()
	case "identifier":
		if b, ok := w.lookup(w.Content(n)); ok && b.typeParam {
			return b.typ
		}
	}
	text := fold(w.Content(n), maxChain)
	if w.Kind(n) == "call_expression" && !strings.ContainsAny(text, " {") {
		return text // ArrayList(T)
	}
	if strings.ContainsAny(text, " {(") {
		return ""
	}
	return text
}

func zigElement(typ string) string {
	if rest, ok := strings.CutSuffix(typ, "[]"); ok {
		return rest
	}
	if name, args := splitType(typ, '(', ')'); len(args) > 0 && zigContainers.first[lastPart(name)] {
		return args[0]
	}
	return step(typ, "[]")
}

// zigPayload binds what stands between bars: the elements of a loop, or the value of an
// optional.
func zigPayload(w *walker, n int) {
	w.push()
	value := w.Field(n, "condition")
	if value < 0 {
		value = w.First(n)
	}
	typ := ""
	switch w.Kind(n) {
	case "for_statement":
		typ = zigElement(zigTypeOf(w, value, maxSteps))
	case "if_statement", "if_expression", "while_statement":
		typ = zigTypeOf(w, value, maxSteps)
	}
	for c := range w.Children(n) {
		if w.Kind(c) != "payload" {
			w.visit(c)
			continue
		}
		for name := range w.Children(c) {
			if w.Kind(name) == "identifier" {
				w.bindLocal(w.Content(name), typ)
				typ = ""
			}
		}
	}
	w.pop()
}

func zigCall(w *walker, n int) {
	function := w.Field(n, "function")
	c := call{node: n, receiver: none}
	for a := range w.Children(n) {
		if a != function && w.Named(a) && w.Kind(a) != "comment" {
			c.args++
		}
	}
	switch w.Kind(function) {
	case "identifier":
		c.name = w.Content(function)
	case "field_expression":
		c.node, c.receiver = w.Field(function, "member"), w.Field(function, "object")
		c.name = w.Content(c.node)
		if c.receiver < 0 {
			c.name = "" // .init(…), of a type that stands elsewhere
		}
		c.recvType = zigTypes.receiver(w, c.receiver)
		w.visit(c.receiver)
	default:
		w.visit(function)
	}
	w.calls(c)
	for a := range w.Children(n) {
		if a != function {
			w.visit(a)
		}
	}
}

// zigTypeOf gives the type of an expression as far as the file tells, as a chain.
func zigTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier":
		return zigTypes.name(w, w.Content(n))
	case "field_expression":
		object, member := w.Field(n, "object"), w.Content(w.Field(n, "member"))
		if object < 0 {
			return ""
		}
		base := zigTypeOf(w, object, steps)
		if member == "items" && strings.HasSuffix(base, ")") && !strings.HasSuffix(base, "()") {
			return zigElement(base) + "[]" // of an ArrayList
		}
		return zigTypes.access(w, object, base, member)
	case "call_expression":
		return zigCallType(w, n, steps)
	case "try_expression", "catch_expression", "dereference_expression", "unary_expression", "parenthesized_expression", "null_coercion_expression", "binary_expression":
		if w.Kind(n) == "binary_expression" && w.Content(w.Field(n, "operator")) != "orelse" {
			return ""
		}
		return zigTypeOf(w, w.First(n), steps)
	case "index_expression":
		return zigElement(zigTypeOf(w, w.First(n), steps))
	case "struct_initializer":
		return zigType(w, w.First(n))
	case "string":
		return "u8[]"
	}
	return ""
}

func zigCallType(w *walker, n, steps int) string {
	function := w.Field(n, "function")
	switch w.Kind(function) {
	case "identifier":
		name := w.Content(function)
		if w.isLocal(name) {
			return ""
		}
		return name + "()"
	case "field_expression":
		object, name := w.Field(function, "object"), w.Content(w.Field(function, "member"))
		if object < 0 {
			return ""
		}
		typ := zigTypeOf(w, object, steps)
		if (name == "init" || strings.HasPrefix(name, "init")) && upperFirst(lastPart(typ)) && !strings.Contains(typ, "!") {
			return strings.TrimSuffix(typ, "()") // by convention
		}
		return zigTypes.access(w, object, typ, name+"()")
	}
	return ""
}

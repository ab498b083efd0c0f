package lang

import "strings"

var pyContainers = containers{
	open: '[', shut: ']',
	first: words(`list List set Set frozenset FrozenSet Sequence MutableSequence Iterable Iterator Collection deque Deque
		tuple Tuple Generator AsyncIterator AsyncIterable AsyncGenerator KeysView ValuesView`),
	last:    words("dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict"),
	through: words("Optional ClassVar Final Annotated Type type Awaitable Required NotRequired"),
}

// pyTypeText gives an annotation as written, without what may be None around it.
func pyTypeText(w *walker, n int) string {
	if n < 0 {
		return ""
	}
	text := strings.Trim(fold(w.Content(n), 2*maxChain), "\"'")
	if strings.Contains(text, "|") && !strings.Contains(text, "[") {
		kept := ""
		for part := range strings.SplitSeq(text, "|") {
			if part = strings.TrimSpace(part); part == "None" {
				continue
			} else if kept != "" {
				kept += " | "
			}
			kept += part
		}
		text = kept
	}
	if name, args := splitType(text, '[', ']'); lastPart(name) == "Union" && len(args) == 2 {
		if args[0] == "None" {
			text = args[1]
		} else if args[1] == "None" {
			text = args[0]
		}
	}
	text = strings.Trim(pyContainers.plain(strings.TrimSuffix(text, " | None")), "\"'")
	switch text {
	case "None", "Any":
		return ""
	case "Self":
		return w.self
	}
	return text
}

// pyTypeUse notes the types that an annotation names.
func pyTypeUse(w *walker, n int) {
	for c := n; c < w.End(n); c++ {
		switch w.Kind(c) {
		case "attribute", "member_type":
			w.uses(c, w.Content(c))
			c = w.End(c) - 1
		case "identifier":
			if w.Content(c) == "Literal" {
				c = w.End(w.Parent(c)) - 1
				continue
			}
			w.uses(c, w.Content(c))
		case "string_content":
			text := strings.TrimSpace(w.Content(c))
			if name := leading(text); name == text || strings.HasPrefix(text[len(name):], "[") {
				w.uses(c, name)
			}
		}
	}
}

func pyClassPattern(w *walker, n int) {
	w.uses(n, w.Content(w.First(n)))
	w.others(n)
}

func pyFor(w *walker, n int) {
	left, right := w.Field(n, "left"), w.Field(n, "right")
	w.visit(right)
	over, names := pyTypeOf(w, right, maxSteps), w.named(left)
	pyBindPattern(w, left, pyContainers.key(over))
	if len(names) == 2 && w.Kind(right) == "call" {
		pyBindPair(w, names, right)
	}
	w.others(n, "left", "right")
}

// pyBindPair binds "for i, x in enumerate(xs)" and "for k, v in m.items()".
func pyBindPair(w *walker, names []int, over int) {
	function := w.Field(over, "function")
	switch {
	case w.Content(function) == "enumerate":
		list := pyTypeOf(w, w.First(w.Field(over, "arguments")), maxSteps)
		pyBindPattern(w, names[1], pyContainers.key(list))
	case w.Content(w.Field(function, "attribute")) == "items":
		of := pyTypeOf(w, w.Field(function, "object"), maxSteps)
		pyBindPattern(w, names[0], pyContainers.key(of))
		pyBindPattern(w, names[1], pyContainers.element(of))
	}
}

// pyComprehension walks the clauses, which bind names, before the body that uses them.
func pyComprehension(w *walker, n int) {
	w.push()
	w.others(n, "body")
	w.visit(w.Field(n, "body"))
	w.pop()
}

func pyLambda(w *walker, n int) {
	w.push()
	pyBindParams(w, w.Field(n, "parameters"), false)
	w.inside(n)
	w.pop()
}

// pyAs binds the name after "as": what a context manager gives, which is mostly itself, an
// exception of the class before it, or what a pattern matched.
func pyAs(w *walker, n int) {
	of, alias := w.First(n), w.Field(n, "alias")
	if alias < 0 {
		alias = w.Last(n)
	}
	typ := ""
	switch {
	case w.Kind(of) == "case_pattern":
		typ = w.Content(w.First(w.Child(of, "class_pattern")))
	case w.Kind(w.Parent(n)) != "except_clause":
		typ = pyTypeOf(w, of, maxSteps)
	case w.Kind(of) == "identifier" || w.Kind(of) == "attribute":
		typ = w.Content(of)
	}
	w.visit(of)
	if w.Kind(alias) == "as_pattern_target" {
		alias = w.First(alias)
	}
	pyBindPattern(w, alias, typ)
}

// pyCase binds the names that a pattern captures.
func pyCase(w *walker, n int) {
	for c := range w.Children(n) {
		for p := c; w.Kind(c) == "case_pattern" && p < w.End(c); p++ {
			capture := w.Kind(p) == "dotted_name" && w.Kind(w.Parent(p)) != "class_pattern" || w.Kind(p) == "splat_pattern"
			if name := w.First(p); capture && name == w.Last(p) && name >= 0 {
				pyBind(w, name, "")
			}
		}
	}
	w.inside(n)
}

// pyIf walks the branch of "if isinstance(x, T)" with x as a T.
func pyIf(w *walker, n int) {
	condition := w.Field(n, "condition")
	w.visit(condition)
	name, typ := pyInstanceOf(w, condition)
	was, bound := w.lookup(name)
	if name != "" {
		w.bind(name, binding{typ: typ, local: was.local})
	}
	w.visit(w.Field(n, "consequence"))
	if name != "" && bound {
		w.bind(name, was)
	}
	w.others(n, "condition", "consequence")
}

func pyAssert(w *walker, n int) {
	w.inside(n)
	if name, typ := pyInstanceOf(w, w.First(n)); name != "" {
		b, _ := w.lookup(name)
		w.bind(name, binding{typ: typ, local: b.local})
	}
}

// pyInstanceOf reads isinstance(name, Type).
func pyInstanceOf(w *walker, n int) (name, typ string) {
	if w.Kind(n) != "call" || w.Content(w.Field(n, "function")) != "isinstance" {
		return "", ""
	}
	args := w.named(w.Field(n, "arguments"))
	if len(args) != 2 || w.Kind(args[0]) != "identifier" {
		return "", ""
	}
	if k := w.Kind(args[1]); k != "identifier" && k != "attribute" {
		return "", ""
	}
	return w.Content(args[0]), w.Content(args[1])
}

func pyCall(w *walker, n int) {
	function, list := w.Field(n, "function"), w.Field(n, "arguments")
	c := call{node: n, receiver: none, args: 1}
	if w.Kind(list) == "argument_list" {
		c.args = w.arguments(list, "list_splat", "dictionary_splat")
	}
	switch w.Kind(function) {
	case "identifier":
		c.name = w.Content(function)
		if b, bound := w.lookup(c.name); bound {
			c.recvType = ""
			if c.name == "cls" && b.typ == w.self {
				c.name = lastPart(w.self)
			}
		} else if w.g.builtins[c.name] {
			c.name = ""
		}
	case "attribute":
		name := w.Field(function, "attribute")
		c.node, c.name, c.receiver = name, w.Content(name), w.Field(function, "object")
		c.recvType = pyReceiverType(w, c.receiver)
		w.calls(c)
		w.visit(c.receiver)
		w.visit(list)
		return
	default:
		w.visit(function)
	}
	w.calls(c)
	w.visit(list)
}

// pyReceiverType is pyTypeOf, but nothing for a lone name that is not bound: it may be a
// module or a class.
func pyReceiverType(w *walker, n int) string {
	if w.Kind(n) == "identifier" {
		b, _ := w.lookup(w.Content(n))
		return b.typ
	}
	return pyTypeOf(w, n, maxSteps)
}

// pyTypeOf gives the type of an expression as far as the file tells, as a chain.
func pyTypeOf(w *walker, n, steps int) string {
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
	case "attribute":
		return pyMember(w, n, steps, "")
	case "call":
		return pyCallType(w, n, steps)
	case "await", "parenthesized_expression":
		return pyTypeOf(w, w.First(n), steps)
	case "subscript":
		return pyContainers.element(pyTypeOf(w, w.Field(n, "value"), steps))
	case "conditional_expression":
		return pyTypeOf(w, w.First(n), steps)
	case "boolean_operator":
		if typ := pyTypeOf(w, w.Field(n, "left"), steps); typ != "" {
			return typ
		}
		return pyTypeOf(w, w.Field(n, "right"), steps)
	case "named_expression":
		return pyTypeOf(w, w.Field(n, "value"), steps)
	}
	return pyLiterals[w.Kind(n)]
}

var pyLiterals = map[string]string{
	"string": "str", "concatenated_string": "str", "integer": "int", "float": "float", "true": "bool", "false": "bool",
	"list": "list", "list_comprehension": "list", "dictionary": "dict", "dictionary_comprehension": "dict",
	"set": "set", "set_comprehension": "set", "tuple": "tuple",
}

// pyMember gives the type of object.attribute, or with suffix "()" of its call.
func pyMember(w *walker, n, steps int, suffix string) string {
	object, name := w.Field(n, "object"), w.Content(w.Field(n, "attribute"))
	if w.Kind(object) == "identifier" {
		if b, ok := w.lookup(w.Content(object)); ok {
			return w.fieldOf(b.typ, name+suffix)
		}
		return member(w.Content(object), name+suffix)
	}
	base := pyTypeOf(w, object, steps)
	if w.Kind(object) == "attribute" && !strings.ContainsAny(base, "!(") && pyUnbound(w, object) {
		return member(base, name+suffix) // package.module.name
	}
	return w.fieldOf(base, name+suffix)
}

// pyUnbound reports whether a dotted name begins with a name that no variable has.
func pyUnbound(w *walker, n int) bool {
	_, bound := w.lookup(leading(w.Content(n)))
	return !bound
}

func pyCallType(w *walker, n, steps int) string {
	function := w.Field(n, "function")
	switch w.Kind(function) {
	case "identifier":
		name := w.Content(function)
		switch name {
		case "super":
			return w.super
		case "cls":
			return w.self
		case "cast":
			return pyTypeText(w, w.First(w.Field(n, "arguments")))
		case "str", "int", "float", "bool", "bytes", "list", "dict", "set", "tuple":
			return name
		}
		if w.isLocal(name) || w.g.builtins[name] {
			return ""
		}
		return name + "()"
	case "attribute":
		return pyMember(w, function, steps, "()")
	}
	return ""
}

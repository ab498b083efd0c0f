package lang

import "strings"

var cContainers = containers{
	open: '<', shut: '>',
	first: words(`vector list deque set unordered_set multiset span array initializer_list stack queue priority_queue forward_list
		QList QVector QSet`),
	last:    words("map unordered_map multimap QMap QHash flat_hash_map"),
	through: words("unique_ptr shared_ptr weak_ptr optional reference_wrapper atomic scoped_refptr intrusive_ptr not_null future QSharedPointer QPointer"),
	picks:   words("at front back top value first last"),
	keeps:   words("begin end rbegin cbegin"),
}

var cTypes = typer{containers: &cContainers, names: words("identifier field_identifier"), field: cppField}

func init() { cTypes.of = cTypeOf }

// cppField gives the type of a field that a method names alone: one that the file declares,
// or one that is written as fields are.
func cppField(w *walker, name string) string {
	if w.self == "" {
		return ""
	}
	if typ, ok := w.fieldTypes[w.self+"."+name]; ok {
		return typ
	}
	if strings.HasSuffix(name, "_") || strings.HasPrefix(name, "m_") {
		return step(w.self, name)
	}
	return ""
}

// cElement gives the type of what a container, an array or a pointer holds.
func cElement(typ string) string {
	element := cContainers.element(typ)
	if element == step(typ, "[]") && !strings.ContainsAny(typ, "!<(") {
		return typ // a pointer
	}
	return strings.TrimSpace(strings.TrimRight(strings.TrimPrefix(element, "const "), "*& "))
}

func cParameter(w *walker, n int) {
	w.visit(w.Field(n, "type"))
	w.visit(w.Field(n, "default_value"))
	decl := cDeclared(w, w.Field(n, "declarator"))
	if decl.name >= 0 {
		typ := cType(w, n, decl)
		if decl.function >= 0 {
			typ = "func"
		}
		w.bindLocal(w.Content(decl.name), typ)
	}
	w.inside(decl.function)
}

func cppForRange(w *walker, n int) {
	w.push()
	right := w.Field(n, "right")
	w.visit(w.Field(n, "initializer"))
	w.visit(w.Field(n, "type"))
	w.visit(right)
	decl := cDeclared(w, w.Field(n, "declarator"))
	typ := cType(w, n, decl)
	if typ == "" {
		typ = cElement(cTypeOf(w, right, maxSteps))
	}
	if decl.name >= 0 {
		w.bindLocal(w.Content(decl.name), typ)
	} else {
		cppBindStructured(w, w.Field(n, "declarator"), cTypeOf(w, right, maxSteps))
	}
	w.visit(w.Field(n, "body"))
	w.pop()
}

// cppBindStructured binds auto& [key, value] of a map's elements.
func cppBindStructured(w *walker, n int, over string) {
	if w.Kind(n) == "reference_declarator" {
		n = w.Last(n)
	}
	names := w.named(n)
	for i, name := range names {
		typ := ""
		if len(names) == 2 && strings.HasPrefix(lastPart(over), "map<") || strings.Contains(over, "_map<") {
			typ = cContainers.key(over)
			if i == 1 {
				typ = cElement(over)
			}
		}
		w.bindLocal(w.Content(name), typ)
	}
}

func cppLambda(w *walker, n int) {
	w.push()
	w.visit(w.Field(w.Field(n, "declarator"), "parameters"))
	for c := range w.Children(w.Field(n, "captures")) {
		if w.Kind(c) == "lambda_capture_initializer" {
			right := w.Field(c, "right")
			w.visit(right)
			w.bindLocal(w.Content(w.Field(c, "left")), cTypeOf(w, right, maxSteps))
		}
	}
	w.inside(w.Field(n, "body"))
	w.pop()
}

// cppInitializer reads one entry of a constructor's initializers: that of a base calls its
// constructor.
func cppInitializer(w *walker, n int) {
	name, list := w.First(n), w.Last(n)
	bare, _ := splitType(fold(w.Content(name), maxChain), '<', '>')
	if w.super == bare || lastPart(w.self) == bare || upperFirst(lastPart(bare)) && !strings.HasSuffix(bare, "_") {
		if _, field := w.lookup(bare); !field {
			w.calls(call{node: n, name: lastPart(bare), receiver: none, args: w.arguments(list)})
		}
	}
	w.visit(list)
}

// cCallee gives the name in a function expression, and what stands before it.
func cCallee(w *walker, n int) (name string, receiver int, before string) {
	receiver = none
	start := w.Nodes[n].Start
	for {
		switch w.Kind(n) {
		case "template_function", "template_method", "dependent_name":
			next := w.Field(n, "name")
			if next < 0 {
				next = w.First(n)
			}
			for a := range w.Children(n) {
				if w.Kind(a) == "template_argument_list" {
					w.visit(a)
				}
			}
			n = next
		case "qualified_identifier":
			n = w.Field(n, "name")
			if n >= 0 && receiver < 0 {
				before = strings.TrimSuffix(fold(w.Text[start:w.Nodes[n].Start], maxChain), "::")
			}
		case "field_expression":
			receiver = w.Field(n, "argument")
			n = w.Field(n, "field")
		case "identifier", "field_identifier", "destructor_name", "operator_name":
			return w.Content(n), receiver, before
		default:
			return "", receiver, before
		}
		if n < 0 {
			return "", receiver, before
		}
	}
}

func cCall(w *walker, n int) {
	function, list := w.Field(n, "function"), w.Field(n, "arguments")
	if w.Kind(function) == "parenthesized_expression" || w.Kind(function) == "call_expression" || w.Kind(function) == "subscript_expression" {
		w.visit(function)
		w.visit(list)
		return
	}
	name, receiver, before := cCallee(w, function)
	c := call{node: n, name: name, receiver: receiver, before: before, args: w.arguments(list)}
	if receiver >= 0 {
		c.node, c.before = w.Field(function, "field"), ""
		c.recvType = cTypes.receiver(w, receiver)
		w.visit(receiver)
	} else if w.g.builtins[name] {
		c.name = ""
	}
	if scope := lastPart(before); upperFirst(scope) {
		w.uses(n, before)
	}
	if w.Kind(function) == "lambda_expression" {
		w.visit(function)
	}
	w.calls(c)
	w.visit(list)
}

func cppNew(w *walker, n int) {
	typ, list := w.Field(n, "type"), w.Field(n, "arguments")
	text, _ := splitType(cTypeText(w, typ), '<', '>')
	c := call{node: n, name: lastPart(text), receiver: none, args: w.arguments(list)}
	c.before = strings.TrimRight(strings.TrimSuffix(text, c.name), ":")
	if cIsClass(w, typ) {
		w.calls(c)
	}
	for i := typ; i >= 0 && i < w.End(typ); i++ {
		if w.Kind(i) == "template_argument_list" {
			w.visit(i)
			break
		}
	}
	w.others(n, "type")
}

// cppLiteral reads Type{…}: in C++ it constructs an object.
func cppLiteral(w *walker, n int) {
	typ := w.Field(n, "type")
	if cIsClass(w, typ) && w.g.name == "cpp" {
		text, _ := splitType(cTypeText(w, typ), '<', '>')
		w.calls(call{node: n, name: lastPart(text), receiver: none, args: w.arguments(w.Field(n, "value"))})
	} else {
		w.visit(typ)
	}
	w.visit(w.Field(n, "value"))
}

// cppQualified notes the type in a qualified name: the whole of it, or its scope.
func cppQualified(w *walker, n int) {
	last := n
	for w.Kind(last) == "qualified_identifier" {
		last = w.Field(last, "name")
	}
	switch w.Kind(last) {
	case "type_identifier":
		w.uses(n, fold(w.Content(n), maxChain))
	case "template_type":
		text, _ := splitType(fold(w.Content(n), maxChain), '<', '>')
		w.uses(n, text)
		w.visit(w.Field(last, "arguments"))
	default:
		if last >= 0 {
			scope := strings.TrimSuffix(fold(w.Text[w.Nodes[n].Start:w.Nodes[last].Start], maxChain), "::")
			if upperFirst(lastPart(scope)) && !strings.Contains(scope, "<") {
				w.uses(n, scope)
			}
		}
	}
}

// cTypeOf gives the type of an expression as far as the file tells, as a chain.
func cTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier":
		return cTypes.name(w, w.Content(n))
	case "this":
		return w.self
	case "qualified_identifier":
		return fold(w.Content(n), maxChain)
	case "field_expression":
		field := w.Field(n, "field")
		if w.Kind(field) != "field_identifier" {
			return ""
		}
		return cTypes.member(w, w.Field(n, "argument"), w.Content(field), steps)
	case "call_expression":
		return cCallType(w, n, steps)
	case "new_expression", "cast_expression", "compound_literal_expression":
		return cTypeText(w, w.Field(n, "type"))
	case "parenthesized_expression":
		return cTypeOf(w, w.First(n), steps)
	case "pointer_expression":
		return cTypeOf(w, w.Field(n, "argument"), steps)
	case "subscript_expression":
		return cElement(cTypeOf(w, w.Field(n, "argument"), steps))
	case "conditional_expression":
		return cTypeOf(w, w.Field(n, "consequence"), steps)
	case "co_await_expression":
		return cTypeOf(w, w.Field(n, "argument"), steps)
	case "string_literal":
		return "char"
	}
	return ""
}

var cCasts = words("static_cast dynamic_cast const_cast reinterpret_cast make_unique make_shared static_pointer_cast dynamic_pointer_cast any_cast")

func cCallType(w *walker, n, steps int) string {
	function := w.Field(n, "function")
	target := function
	for w.Kind(target) == "qualified_identifier" {
		target = w.Field(target, "name")
	}
	switch w.Kind(target) {
	case "template_function":
		name := w.Content(w.Field(target, "name"))
		if cCasts[name] {
			return cTypeText(w, w.First(w.Field(target, "arguments")))
		}
		return name + "()"
	case "identifier":
		name := w.Content(target)
		if (name == "move" || name == "forward") && target != function {
			return cTypeOf(w, w.First(w.Field(n, "arguments")), steps)
		}
		if target == function && w.isLocal(name) {
			return ""
		}
		return fold(w.Content(function), maxChain) + "()"
	case "field_expression":
		field, argument := w.Field(function, "field"), w.Field(function, "argument")
		if name := w.Content(field); w.Kind(field) == "field_identifier" {
			typ := cTypeOf(w, argument, steps)
			if (name == "get" || name == "lock" || name == "value") && typ != "" && !strings.ContainsAny(typ, "!()<") {
				return typ // of a smart pointer
			}
			return strings.TrimRight(cTypes.access(w, argument, typ, name+"()"), "*& ")
		}
	}
	return ""
}

package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

var scalaContainers = containers{
	open: '[', shut: ']',
	first: words(`List Seq Vector Set Array IndexedSeq Iterable Iterator LazyList Stream Buffer ListBuffer ArrayBuffer Queue Stack IterableOnce
		Traversable SortedSet Chunk`),
	last:    words("Map HashMap TreeMap SortedMap TrieMap ListMap"),
	through: words("Option Some Future Try Either IO Task Lazy"),
	picks:   words("head last headOption lastOption find apply get getOrElse next max min maxBy minBy reduce"),
	keeps:   words("filter filterNot sorted sortBy sortWith take drop reverse distinct tail init toList toSeq toVector toSet takeWhile dropWhile iterator values view withFilter"),
}

var scalaTypes = typer{
	containers: &scalaContainers, names: words("identifier"), paths: words("field_expression"),
	elements: words(`foreach map flatMap filter filterNot exists forall find count sortBy groupBy maxBy minBy partition takeWhile dropWhile collect
		withFilter foldLeft tapEach mapConserve`),
}

// scalaIdentity are methods that open what is left out of types: options, futures.
var scalaIdentity = words("getOrElse orElse toOption recover recoverWith")

func init() { scalaTypes.of = scalaTypeOf }

func scalaType(w *walker, n int) string {
	switch w.Kind(n) {
	case "", "tuple_type", "structural_type", "infix_type":
		return ""
	case "function_type":
		return "func"
	case "repeated_parameter_type":
		if text := scalaType(w, w.Field(n, "type")); text != "" {
			return "Seq[" + text + "]"
		}
		return ""
	case "lazy_parameter_type":
		return scalaType(w, w.Field(n, "type"))
	case "compound_type":
		return scalaType(w, w.First(n))
	}
	text := w.plainType(&scalaContainers, w.Content(n))
	if text == "Unit" {
		return ""
	}
	return strings.TrimSuffix(text, ".type")
}

// scalaValueType gives the type of a value, declared or that of its initializer.
func scalaValueType(w *walker, n int) string {
	if typ := scalaType(w, w.Field(n, "type")); typ != "" {
		return typ
	}
	return scalaTypeOf(w, w.Field(n, "value"), maxSteps)
}

// scalaValue reads a value: that of a file or an object is a symbol, one of a function is
// a variable.
func scalaValue(w *walker, n int) {
	pattern := w.Field(n, "pattern")
	if pattern < 0 {
		pattern = w.Field(n, "name")
	}
	typ := scalaValueType(w, n)
	inClass := w.self != "" && w.owner == w.self
	atTop := w.owner == "" && w.symbol < 0 || w.kindOf(w.symbol) == domain.KindModule
	if !inClass && !atTop {
		w.others(n, "pattern", "name")
		scalaBind(w, pattern, typ)
		return
	}
	symbol := -1
	constant := atTop || w.Kind(w.Parent(w.Parent(n))) == "object_definition"
	if constant && w.Kind(pattern) == "identifier" {
		symbol = w.define(definition{
			kind: domain.KindConstant, name: w.Content(pattern), owner: w.owner, node: n, from: scalaFrom(w, n), typ: typ, exported: scalaPublic(w, n),
		})
	}
	w.within(symbol, func() { w.others(n, "pattern", "name") })
}

func scalaAlias(w *walker, n int) {
	typ := w.Field(n, "type")
	w.push()
	defer w.pop()
	scalaTypeParameters(w, n)
	symbol := w.define(definition{
		kind: domain.KindType, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, typ: scalaType(w, typ), exported: scalaPublic(w, n),
	})
	w.within(symbol, func() { w.visit(typ) })
}

func scalaParameter(w *walker, n int) {
	typ := w.Field(n, "type")
	w.visit(typ)
	w.visit(w.Field(n, "default_value"))
	w.bind(w.Content(w.Field(n, "name")), binding{typ: scalaType(w, typ), local: w.Kind(n) == "parameter"})
}

// scalaBind binds the names of a pattern that a value of type typ is matched with.
func scalaBind(w *walker, n int, typ string) {
	switch w.Kind(n) {
	case "identifier":
		if name := w.Content(n); !upperFirst(name) {
			w.bindLocal(name, typ)
		}
	case "typed_pattern":
		scalaBind(w, w.Field(n, "pattern"), scalaType(w, w.Field(n, "type")))
		w.visit(w.Field(n, "type"))
	case "capture_pattern":
		w.bindLocal(w.Content(w.Field(n, "name")), typ)
		scalaBind(w, w.Field(n, "pattern"), typ)
	case "case_class_pattern":
		class := w.Field(n, "type")
		w.visit(class)
		inner := ""
		if name := w.Content(class); name == "Some" || name == "Success" || name == "Right" {
			inner = typ
		}
		for c := range w.Children(n) {
			if w.FieldName(c) == "pattern" && w.Named(c) {
				scalaBind(w, c, inner)
			}
		}
	case "tuple_pattern", "infix_pattern", "alternative_pattern":
		for c := range w.Children(n) {
			if w.Named(c) {
				scalaBind(w, c, "")
			}
		}
	default:
		w.visit(n)
	}
}

// scalaEnumerator reads one line of a for: a generator binds the elements.
func scalaEnumerator(w *walker, n int) {
	parts := w.named(n)
	if len(parts) < 2 {
		w.inside(n)
		return
	}
	value := parts[len(parts)-1]
	if w.Kind(value) == "guard" {
		w.visit(value)
		value = parts[len(parts)-2]
	}
	w.visit(value)
	typ := scalaTypeOf(w, value, maxSteps)
	if w.Child(n, "<-") >= 0 && (strings.Contains(typ, "[") || strings.Contains(typ, "!")) {
		typ = scalaContainers.element(typ)
	}
	scalaBind(w, parts[0], typ)
}

func scalaMatch(w *walker, n int) {
	value := w.Field(n, "value")
	w.visit(value)
	was := w.matched
	w.matched = scalaTypeOf(w, value, maxSteps)
	w.visit(w.Field(n, "body"))
	w.matched = was
}

func scalaClause(w *walker, n int) {
	w.push()
	typ := w.matched
	w.matched = ""
	scalaBind(w, w.Field(n, "pattern"), typ)
	w.others(n, "pattern")
	w.matched = typ
	w.pop()
}

func scalaLambda(w *walker, n int) {
	w.push()
	params := w.Field(n, "parameters")
	hint := w.hints[n]
	if w.Kind(params) == "identifier" {
		w.bindLocal(w.Content(params), hint)
	}
	for c := range w.Children(params) {
		if w.Kind(c) != "binding" {
			continue
		}
		typ := scalaType(w, w.Field(c, "type"))
		w.visit(w.Field(c, "type"))
		if typ == "" {
			typ, hint = hint, ""
		}
		w.bindLocal(w.Content(w.Field(c, "name")), typ)
	}
	w.others(n, "parameters")
	w.pop()
}

func scalaCall(w *walker, n int) {
	function, list := w.Field(n, "function"), w.Field(n, "arguments")
	target := function
	if w.Kind(function) == "generic_function" {
		target = w.Field(function, "function")
		w.visit(w.Field(function, "type_arguments"))
	}
	c := call{node: n, receiver: none, args: w.arguments(list)}
	if w.Kind(list) != "arguments" {
		c.args = 1 // a block
	}
	switch w.Kind(target) {
	case "identifier":
		if c.name = w.Content(target); c.name == "this" {
			c.name = lastPart(w.self)
		} else if w.g.builtins[c.name] && !w.isLocal(c.name) {
			c.name = ""
		}
	case "field_expression":
		c.node, c.receiver = w.Field(target, "field"), w.Field(target, "value")
		c.name, c.recvType = w.Content(c.node), scalaTypes.receiver(w, c.receiver)
		if w.Kind(c.receiver) == "identifier" && (w.Content(c.receiver) == "this" || w.Content(c.receiver) == "super") {
			c.recvType = scalaTypeOf(w, c.receiver, maxSteps)
		}
		w.visit(c.receiver)
	default:
		w.visit(target)
	}
	w.calls(c)
	scalaArguments(w, list, c)
}

// scalaArguments walks arguments; a function among them, or a placeholder, stands for the
// elements of the receiver.
func scalaArguments(w *walker, list int, c call) {
	was := w.placeholder
	w.placeholder = ""
	if scalaTypes.elements[c.name] {
		w.placeholder = scalaContainers.element(c.recvType)
		if !strings.ContainsAny(c.recvType, "[!") {
			w.placeholder = c.recvType // of an Option
		}
		for c := range w.Children(list) { // in parentheses, or in a block
			if w.Kind(c) == "lambda_expression" {
				w.hints[c] = w.placeholder
			}
		}
		w.matched = w.placeholder // of { case … }
	}
	w.visit(list)
	w.placeholder, w.matched = was, ""
}

// scalaInfix reads "a op b" as a.op(b), where op is a word.
func scalaInfix(w *walker, n int) {
	left, operator, right := w.Field(n, "left"), w.Field(n, "operator"), w.Field(n, "right")
	c := call{node: operator, name: w.Content(operator), receiver: left, recvType: scalaTypes.receiver(w, left), args: 1}
	if w.Kind(operator) == "identifier" && c.name != "to" && c.name != "until" {
		w.calls(c)
	}
	w.visit(left)
	scalaArguments(w, right, c)
}

// scalaField reads a member that is not called with parentheses: of a variable it may be a
// method all the same.
func scalaField(w *walker, n int) {
	value, field := w.Field(n, "value"), w.Field(n, "field")
	head := leading(w.Content(value))
	_, bound := w.lookup(head)
	if bound || head == "this" || w.Kind(value) == "call_expression" {
		c := call{node: field, name: w.Content(field), receiver: value, recvType: scalaTypes.receiver(w, value)}
		if w.Content(value) == "this" {
			c.recvType = w.self
		}
		if _, isField := w.fieldTypes[c.recvType+"."+c.name]; !isField {
			w.calls(c)
		}
	}
	w.visit(value)
}

func scalaNew(w *walker, n int) {
	typ, list := w.First(n), w.Child(n, "arguments")
	name, _ := splitType(fold(w.Content(typ), maxChain), '[', ']')
	c := call{node: n, name: lastPart(name), receiver: none, args: w.arguments(list)}
	c.before = strings.TrimSuffix(strings.TrimSuffix(name, c.name), ".")
	if !w.g.builtins[c.name] {
		w.calls(c)
	}
	w.visit(w.Field(typ, "type_arguments"))
	w.visit(list)
	if body := w.Child(n, "template_body"); body >= 0 {
		owner := w.owner
		w.typed(name, []domain.TypeRef{{Name: name, Kind: domain.EdgeInherits}}, func() {
			w.belonging(owner, func() { scoped(w, body) })
		})
	}
}

func scalaAnnotation(w *walker, n int) {
	name, _ := splitType(fold(w.Content(w.Field(n, "name")), maxChain), '[', ']')
	w.uses(n, name)
	for i := n; i < w.End(n); i++ {
		if k := w.Kind(i); k == "type_arguments" || k == "arguments" {
			w.visit(i)
			i = w.End(i) - 1
		}
	}
}

var scalaLiterals = map[string]string{
	"string": "String", "interpolated_string_expression": "String", "integer_literal": "Int", "floating_point_literal": "Double", "boolean_literal": "Boolean",
}

// scalaTypeOf gives the type of an expression as far as the file tells, as a chain.
func scalaTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier":
		switch w.Content(n) {
		case "this":
			return w.self
		case "super":
			return w.super
		case "None", "Nil":
			return ""
		}
		return scalaTypes.name(w, w.Content(n))
	case "wildcard":
		return w.placeholder
	case "field_expression":
		value, name := w.Field(n, "value"), w.Content(w.Field(n, "field"))
		base := scalaTypeOf(w, value, steps)
		if known, ok := scalaContainers.call(base, name); ok {
			return known
		}
		if name == "get" || scalaIdentity[name] {
			return base
		}
		return scalaTypes.access(w, value, base, name)
	case "call_expression":
		return scalaCallType(w, n, steps)
	case "instance_expression":
		return scalaType(w, w.First(n))
	case "parenthesized_expression":
		return scalaTypeOf(w, w.First(n), steps)
	case "generic_function":
		return scalaGenericType(w, n, steps)
	case "block":
		return scalaTypeOf(w, w.Last(n), steps)
	case "if_expression":
		return scalaTypeOf(w, w.Field(n, "consequence"), steps)
	case "ascription_expression":
		return scalaType(w, w.Last(n))
	}
	return scalaLiterals[w.Kind(n)]
}

// scalaGenericType reads x.asInstanceOf[T] and other uses without arguments.
func scalaGenericType(w *walker, n, steps int) string {
	function, args := w.Field(n, "function"), w.Field(n, "type_arguments")
	switch w.Content(w.Field(function, "field")) {
	case "asInstanceOf":
		return scalaType(w, w.First(args))
	case "empty": // Map.empty[K, V]
		return fold(w.Content(w.Field(function, "value"))+w.Content(args), maxChain)
	}
	return scalaTypeOf(w, function, steps)
}

func scalaCallType(w *walker, n, steps int) string {
	function := w.Field(n, "function")
	if w.Kind(function) == "generic_function" {
		if name := w.Field(function, "function"); w.Kind(name) == "identifier" && upperFirst(w.Content(name)) {
			return scalaContainers.plain(fold(w.Content(function), maxChain))
		}
		function = w.Field(function, "function")
	}
	switch w.Kind(function) {
	case "call_expression": // a second list of arguments
		return scalaTypeOf(w, function, steps)
	case "identifier":
		name := w.Content(function)
		switch {
		case name == "Some" || name == "Future" || name == "Try" || name == "Option":
			return scalaTypeOf(w, w.First(w.Field(n, "arguments")), steps)
		case strings.Contains("List Seq Vector Set Map Array", name):
			return ""
		case upperFirst(name):
			return name
		}
		if b, ok := w.lookup(name); ok {
			return scalaContainers.element(b.typ) // items(0)
		}
		return name + "()"
	case "field_expression":
		value, name := w.Field(function, "value"), w.Content(w.Field(function, "field"))
		base := scalaTypeOf(w, value, steps)
		if scalaIdentity[name] {
			if _, container := scalaContainers.call(base, name); !container {
				return base
			}
		}
		return scalaContainers.plain(scalaTypes.access(w, value, base, name+"()"))
	}
	return ""
}

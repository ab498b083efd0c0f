package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

var ktContainers = containers{
	open: '<', shut: '>',
	first: words(`List MutableList Set MutableSet Collection MutableCollection Iterable Sequence Array ArrayList HashSet LinkedHashSet ArrayDeque
		Flow StateFlow SharedFlow MutableStateFlow Channel Iterator`),
	last:    words("Map MutableMap HashMap LinkedHashMap ConcurrentHashMap"),
	through: words("Lazy Deferred Result Optional AtomicReference"),
	picks: words(`get first firstOrNull last lastOrNull single singleOrNull find getValue getOrNull getOrPut random maxByOrNull minByOrNull removeFirst removeLast
		elementAt next getOrDefault`),
	keeps: words(`filter filterNot filterNotNull sorted sortedBy sortedByDescending take drop reversed distinct distinctBy toList toMutableList toSet asSequence
		onEach takeWhile dropWhile shuffled values plus minus`),
}

var ktTypes = typer{
	containers: &ktContainers, names: words("identifier"), paths: words("navigation_expression"),
	elements: words(`forEach map filter filterNot flatMap mapNotNull any all none find first firstOrNull last single sortedBy groupBy associateBy associateWith
		partition sumOf maxByOrNull minByOrNull onEach takeWhile count forEachIndexed removeIf collect`),
}

// ktScope are functions that hand their receiver to a block, ktIdentity those that give it back.
var (
	ktScope    = words("let also takeIf takeUnless")
	ktIdentity = words("also apply takeIf takeUnless await")
)

func init() { ktTypes.of = ktTypeOf }

func ktType(w *walker, n int) string {
	switch w.Kind(n) {
	case "nullable_type", "parenthesized_type", "non_nullable_type":
		return ktType(w, w.Last(n))
	case "function_type":
		return "func"
	case "user_type":
		if text := w.plainType(&ktContainers, w.Content(n)); text != "Unit" {
			return strings.TrimSuffix(text, "?")
		}
	}
	return ""
}

// ktTypeUse notes the type that a type names.
func ktTypeUse(w *walker, n int) {
	name, _ := splitType(fold(w.Content(n), maxChain), '<', '>')
	w.uses(n, name)
	w.visit(w.Child(n, "type_arguments"))
}

// ktTypeAfter gives the type that follows a name among the children of n.
func ktTypeAfter(w *walker, n, name int) int {
	for c := range w.Children(n) {
		if c <= name {
			continue
		}
		switch w.Kind(c) {
		case "user_type", "nullable_type", "function_type", "parenthesized_type", "non_nullable_type":
			return c
		}
	}
	return none
}

// ktPropertyType gives the name of a property and its type, declared or that of its value.
func ktPropertyType(w *walker, n int) (name int, typ string) {
	variable := w.Child(n, "variable_declaration")
	name = w.Child(variable, "identifier")
	if typ = ktType(w, ktTypeAfter(w, variable, name)); typ != "" {
		return name, typ
	}
	if delegate := w.Child(n, "property_delegate"); delegate >= 0 {
		lambda := w.Child(w.Child(w.First(delegate), "annotated_lambda"), "lambda_literal")
		return name, ktTypeOf(w, w.Last(lambda), maxSteps)
	}
	return name, ktTypeOf(w, ktValue(w, n), maxSteps)
}

// ktValue gives the initializer of a property.
func ktValue(w *walker, n int) int {
	equals := w.Child(n, "=")
	if equals < 0 {
		return none
	}
	for c := range w.Children(n) {
		if c > equals && w.Named(c) {
			return c
		}
	}
	return none
}

// ktProperty reads a property: that of a file or a constant is a symbol, one of a function
// is a variable, and a getter is a method.
func ktProperty(w *walker, n int) {
	name, typ := ktPropertyType(w, n)
	inClass := w.self != "" && w.owner == w.self
	if !inClass && (w.owner != "" || w.symbol >= 0 && w.kindOf(w.symbol) != domain.KindModule) {
		w.inside(n)
		if name >= 0 {
			w.bindLocal(w.Content(name), typ)
		}
		for c := range w.Children(w.Child(n, "multi_variable_declaration")) {
			w.bindLocal(w.Content(w.Child(c, "identifier")), "")
		}
		return
	}
	d := definition{
		kind: domain.KindConstant, name: w.Content(name), owner: w.owner, node: n, from: ktFrom(w, n), typ: typ, exported: ktPublic(w, n),
	}
	getter := w.Child(n, "getter")
	if getter >= 0 {
		d.kind, d.body = domain.KindMethod, getter
	}
	symbol := -1
	if !inClass || getter >= 0 || ktHas(w, n, "const") || w.kindOf(w.symbol) == domain.KindModule {
		symbol = w.define(d)
	}
	w.within(symbol, func() { w.inside(n) })
}

func ktParameter(w *walker, n int) {
	name := w.Child(n, "identifier")
	typ := ktTypeAfter(w, n, name)
	text := ktType(w, typ)
	start := w.Nodes[n].Start
	if text != "" && strings.HasSuffix(w.Text[start-min(start, 7):start], "vararg ") {
		text += "[]"
	}
	w.bind(w.Content(name), binding{typ: text, local: w.Kind(n) == "parameter"})
	for c := range w.Children(n) {
		if c != name {
			w.visit(c)
		}
	}
}

// ktLambda binds the parameters of a lambda, or "it".
func ktLambda(w *walker, n int) {
	w.push()
	hint := w.hints[n]
	params := w.Child(n, "lambda_parameters")
	if params < 0 {
		w.bindLocal("it", hint)
	}
	for c := range w.Children(params) {
		if w.Kind(c) != "variable_declaration" {
			continue
		}
		name := w.Child(c, "identifier")
		typ := ktType(w, ktTypeAfter(w, c, name))
		if typ == "" {
			typ, hint = hint, ""
		}
		w.bindLocal(w.Content(name), typ)
	}
	w.inside(n)
	w.pop()
}

// ktObject walks an object without a name: its methods belong to what encloses it.
func ktObject(w *walker, n int) {
	bases := ktBases(w, n, domain.KindClass)
	for c := range w.Children(w.Child(n, "delegation_specifiers")) {
		w.inside(c)
	}
	self := ""
	if len(bases) > 0 {
		self = bases[0].Name
	}
	owner := w.owner
	w.typed(self, bases, func() {
		w.belonging(owner, func() { scoped(w, w.Child(n, "class_body")) })
	})
}

func ktFor(w *walker, n int) {
	w.push()
	variable := w.First(n)
	over := none
	for c := range w.Children(n) {
		if w.Named(c) && c > variable && over < 0 {
			over = c
		}
	}
	w.visit(over)
	typ := ktContainers.element(ktTypeOf(w, over, maxSteps))
	if w.Kind(variable) == "variable_declaration" {
		name := w.Child(variable, "identifier")
		if declared := ktType(w, ktTypeAfter(w, variable, name)); declared != "" {
			typ = declared
		}
		w.bindLocal(w.Content(name), typ)
	}
	for i, c := range w.named(variable) {
		if w.Kind(c) == "variable_declaration" {
			pair := ""
			if over := ktTypeOf(w, over, maxSteps); i == 1 {
				pair = ktContainers.element(over)
			} else if i == 0 {
				pair = ktContainers.key(over)
			}
			w.bindLocal(w.Content(w.Child(c, "identifier")), pair)
		}
	}
	w.span(w.End(over), w.End(n))
	w.pop()
}

func ktCatch(w *walker, n int) {
	w.push()
	name := w.Child(n, "identifier")
	typ := ktTypeAfter(w, n, name)
	w.bindLocal(w.Content(name), ktType(w, typ))
	w.visit(typ)
	w.visit(w.Child(n, "block"))
	w.pop()
}

// ktWhen walks the branches; one that tests a type knows the subject to be of it.
func ktWhen(w *walker, n int) {
	w.push()
	defer w.pop()
	subject := w.Child(n, "when_subject")
	w.visit(subject)
	value := w.Last(subject)
	name := value
	if variable := w.Child(subject, "variable_declaration"); variable >= 0 {
		name = w.Child(variable, "identifier")
		w.bindLocal(w.Content(name), ktTypeOf(w, value, maxSteps))
	}
	for c := range w.Children(n) {
		if w.Kind(c) != "when_entry" {
			continue
		}
		w.push()
		if test := w.Field(c, "condition"); w.Kind(test) == "type_test" && w.Kind(name) == "identifier" && w.Child(c, ",") < 0 {
			w.bindLocal(w.Content(name), ktType(w, w.Last(test)))
		}
		w.inside(c)
		w.pop()
	}
}

func ktArgument(w *walker, n int) {
	if w.Child(n, "=") >= 0 { // the name of a parameter comes first
		w.visit(w.Last(n))
		return
	}
	w.inside(n)
}

func ktInfix(w *walker, n int) {
	parts := w.named(n)
	if len(parts) == 3 && w.Kind(parts[1]) == "identifier" {
		if name := w.Content(parts[1]); !w.g.builtins[name] {
			w.calls(call{node: parts[1], name: name, receiver: parts[0], recvType: ktTypes.receiver(w, parts[0]), args: 1})
		}
		w.visit(parts[0])
		w.visit(parts[2])
		return
	}
	w.inside(n)
}

// ktNavigation walks the object; Type::name mentions a function.
func ktNavigation(w *walker, n int) {
	object, name := w.First(n), w.Last(n)
	if w.Child(n, "::") >= 0 && w.Content(name) != "class" {
		w.calls(call{node: name, name: w.Content(name), receiver: object, recvType: ktTypes.receiver(w, object), kind: domain.EdgeUses})
	}
	w.visit(object)
}

// ktReference reads ::name and Type::name: the function is mentioned, not called.
func ktReference(w *walker, n int) {
	name, first := w.Last(n), w.First(n)
	c := call{node: name, name: w.Content(name), receiver: none, kind: domain.EdgeUses}
	if first != name {
		c.receiver = first
		w.visit(first)
	}
	if c.name != "class" {
		w.calls(c)
	}
}

func ktCall(w *walker, n int) {
	callee, args := w.First(n), w.Child(n, "value_arguments")
	lambda := w.Child(w.Child(n, "annotated_lambda"), "lambda_literal")
	if w.Kind(callee) == "call_expression" && args < 0 && lambda >= 0 {
		ktCallWith(w, callee, lambda) // f(x) { … } is one call
		return
	}
	ktCallWith(w, n, lambda)
}

// ktCallWith notes the call n that is given a lambda behind its arguments.
func ktCallWith(w *walker, n, lambda int) {
	callee, args := w.First(n), w.Child(n, "value_arguments")
	c := call{node: n, receiver: none, args: w.arguments(args)}
	if lambda >= 0 {
		c.args++
	}
	switch w.Kind(callee) {
	case "identifier":
		if c.name = w.Content(callee); w.g.builtins[c.name] && !w.isLocal(c.name) {
			c.name = ""
		}
	case "navigation_expression":
		c.node, c.receiver = w.Last(callee), w.First(callee)
		c.name, c.recvType = w.Content(c.node), ktTypes.receiver(w, c.receiver)
		if ktScope[c.name] {
			w.hints[lambda] = c.recvType
		} else {
			ktTypes.hint(w, lambda, c.name, c.recvType)
		}
		w.visit(c.receiver)
	default:
		w.visit(callee)
	}
	w.calls(c)
	w.visit(w.Child(n, "type_arguments"))
	w.visit(args)
	w.visit(lambda)
}

var ktLiterals = map[string]string{
	"string_literal": "String", "multiline_string_literal": "String", "number_literal": "Int", "float_literal": "Double", "character_literal": "Char",
}

// ktTypeOf gives the type of an expression as far as the file tells, as a chain.
func ktTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier":
		if text := w.Content(n); text == "null" || text == "true" || text == "false" {
			return ""
		}
		return ktTypes.name(w, w.Content(n))
	case "this_expression":
		return w.self
	case "super_expression":
		return w.super
	case "navigation_expression":
		return ktTypes.member(w, w.First(n), w.Content(w.Last(n)), steps)
	case "call_expression":
		return ktCallType(w, n, steps)
	case "as_expression":
		return ktType(w, w.Field(n, "right"))
	case "parenthesized_expression":
		return ktTypeOf(w, w.First(n), steps)
	case "unary_expression":
		if w.Content(w.Field(n, "operator")) == "!!" {
			return ktTypeOf(w, w.Field(n, "argument"), steps)
		}
	case "binary_expression":
		if w.Content(w.Field(n, "operator")) == "?:" {
			return ktTypeOf(w, w.Field(n, "left"), steps)
		}
	case "index_expression":
		return ktContainers.element(ktTypeOf(w, w.First(n), steps))
	case "if_expression":
		if branch := w.End(w.Field(n, "condition")); branch < w.End(n) {
			return ktTypeOf(w, w.Last(w.Child(n, "block")), steps)
		}
	case "object_literal":
		if bases := ktBases(w, n, domain.KindClass); len(bases) > 0 {
			return bases[0].Name
		}
	}
	return ktLiterals[w.Kind(n)]
}

func ktCallType(w *walker, n, steps int) string {
	callee := w.First(n)
	switch w.Kind(callee) {
	case "call_expression":
		return ktTypeOf(w, callee, steps)
	case "identifier":
		name := w.Content(callee)
		switch {
		case upperFirst(name):
			return name + fold(w.Content(w.Child(n, "type_arguments")), maxChain)
		case name == "requireNotNull" || name == "checkNotNull":
			return ktTypeOf(w, w.Last(w.First(w.Child(n, "value_arguments"))), steps)
		case w.isLocal(name) || w.g.builtins[name]:
			return ""
		}
		return name + "()"
	case "navigation_expression":
		object, name := w.First(callee), w.Content(w.Last(callee))
		if ktIdentity[name] {
			return ktTypeOf(w, object, steps)
		}
		if upperFirst(name) {
			return fold(w.Content(callee), maxChain) // Outer.Inner(…)
		}
		return ktTypes.method(w, object, name, steps)
	}
	return ""
}

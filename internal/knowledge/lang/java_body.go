package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

var javaContainers = containers{
	open: '<', shut: '>',
	first: words(`List ArrayList LinkedList Collection Set HashSet LinkedHashSet TreeSet SortedSet Queue Deque ArrayDeque PriorityQueue
		Iterable Iterator ListIterator Stream Optional Vector Stack BlockingQueue CopyOnWriteArrayList ImmutableList ImmutableSet
		CompletableFuture Future Supplier Provider AtomicReference ThreadLocal WeakReference SoftReference Lazy`),
	last:  words("Map HashMap LinkedHashMap TreeMap SortedMap NavigableMap ConcurrentMap ConcurrentHashMap EnumMap WeakHashMap ImmutableMap"),
	picks: words("get getFirst getLast next orElse orElseThrow orElseGet poll peek remove pop first last element take getOrDefault computeIfAbsent join"),
	keeps: words("stream parallelStream filter sorted distinct limit skip iterator findFirst findAny values subList reversed"),
}

var javaTypes = typer{
	containers: &javaContainers,
	names:      words("identifier"), paths: words("field_access"),
	elements: words("forEach map filter flatMap anyMatch allMatch noneMatch mapToInt mapToLong mapToObj ifPresent ifPresentOrElse removeIf peek takeWhile dropWhile toMap groupingBy"),
}

func init() { javaTypes.of = javaTypeOf }

func javaType(w *walker, n int) string {
	switch w.Kind(n) {
	case "", "void_type":
		return ""
	case "annotated_type":
		return javaType(w, w.Last(n))
	}
	text := w.plainType(&javaContainers, w.Content(n))
	if text == "var" {
		return ""
	}
	return text
}

func javaBindParameters(w *walker, n int, hint string) {
	if w.Kind(n) == "identifier" {
		w.bindLocal(w.Content(n), hint)
		return
	}
	for c := range w.Children(n) {
		switch w.Kind(c) {
		case "identifier": // inferred
			w.bindLocal(w.Content(c), hint)
		case "formal_parameter":
			w.bindLocal(w.Content(w.Field(c, "name")), javaType(w, w.Field(c, "type")))
		case "spread_parameter":
			for t := range w.Children(c) {
				if k := w.Kind(t); w.Named(t) && k != "modifiers" && k != "variable_declarator" {
					w.bindLocal(w.Content(w.Field(w.Child(c, "variable_declarator"), "name")), javaType(w, t)+"[]")
				}
			}
		}
		if w.Named(c) {
			hint = ""
		}
	}
}

func javaLocal(w *walker, n int) {
	declared := javaType(w, w.Field(n, "type"))
	for c := range w.Children(n) {
		if w.FieldName(c) != "declarator" {
			w.visit(c)
			continue
		}
		value := w.Field(c, "value")
		w.visit(value)
		typ := declared
		if typ == "" {
			typ = javaTypeOf(w, value, maxSteps)
		}
		w.bindLocal(w.Content(w.Field(c, "name")), typ)
	}
}

func javaLambda(w *walker, n int) {
	w.push()
	params := w.Field(n, "parameters")
	javaBindParameters(w, params, w.hints[n])
	if w.Kind(params) == "formal_parameters" {
		w.visit(params)
	}
	w.visit(w.Field(n, "body"))
	w.pop()
}

func javaForEach(w *walker, n int) {
	w.push()
	value := w.Field(n, "value")
	w.visit(w.Field(n, "type"))
	w.visit(value)
	typ := javaType(w, w.Field(n, "type"))
	if typ == "" {
		typ = javaContainers.element(javaTypeOf(w, value, maxSteps))
	}
	w.bindLocal(w.Content(w.Field(n, "name")), typ)
	w.visit(w.Field(n, "body"))
	w.pop()
}

func javaResource(w *walker, n int) {
	w.others(n, "name")
	typ := javaType(w, w.Field(n, "type"))
	if typ == "" {
		typ = javaTypeOf(w, w.Field(n, "value"), maxSteps)
	}
	w.bindLocal(w.Content(w.Field(n, "name")), typ)
}

func javaCatch(w *walker, n int) {
	w.push()
	param := w.Child(n, "catch_formal_parameter")
	types, typ := w.Child(param, "catch_type"), ""
	if w.First(types) == w.Last(types) {
		typ = javaType(w, w.First(types))
	}
	w.bindLocal(w.Content(w.Field(param, "name")), typ)
	w.inside(n)
	w.pop()
}

// javaInstanceOf binds the name of "x instanceof T name" in the scope around.
func javaInstanceOf(w *walker, n int) {
	w.others(n, "name")
	if name := w.Field(n, "name"); name >= 0 {
		w.bindLocal(w.Content(name), javaType(w, w.Field(n, "right")))
	}
}

// javaPattern binds the name of a type pattern.
func javaPattern(w *walker, n int) {
	typ, name := w.First(n), w.Last(n)
	if typ == name {
		return
	}
	w.visit(typ)
	w.bindLocal(w.Content(name), javaType(w, typ))
}

func javaCall(w *walker, n int) {
	name, object, list := w.Field(n, "name"), w.Field(n, "object"), w.Field(n, "arguments")
	c := call{node: name, name: w.Content(name), receiver: object, args: w.arguments(list)}
	if object >= 0 {
		c.recvType = javaTypes.receiver(w, object)
		for arg := range w.Children(list) {
			if w.Kind(arg) == "lambda_expression" {
				javaTypes.hint(w, arg, c.name, c.recvType)
			}
		}
	}
	w.calls(c)
	w.visit(object)
	w.visit(w.Field(n, "type_arguments"))
	w.visit(list)
}

func javaNew(w *walker, n int) {
	typ, list := w.Field(n, "type"), w.Field(n, "arguments")
	name := typ
	if w.Kind(typ) == "generic_type" {
		name = w.First(typ)
		w.visit(w.Child(typ, "type_arguments"))
	}
	c := call{node: n, name: w.Content(name), receiver: none, args: w.arguments(list)}
	if w.Kind(name) == "scoped_type_identifier" {
		c.name, c.receiver = w.Content(w.Last(name)), w.First(name)
	}
	if !w.g.builtins[c.name] {
		w.calls(c)
	}
	for c := range w.Children(n) {
		if w.FieldName(c) == "" && w.Named(c) && w.Kind(c) != "class_body" {
			w.visit(c) // outer.new Inner()
		}
	}
	w.visit(list)
	if body := w.Child(n, "class_body"); body >= 0 {
		base := []domain.TypeRef{{Name: w.Content(name), Kind: domain.EdgeInherits}}
		self := w.owner
		w.typed(w.Content(name), base, func() {
			w.belonging(self, func() { scoped(w, body) })
		})
	}
}

// javaConstructorCall reads this(…) and super(…).
func javaConstructorCall(w *walker, n int) {
	list := w.Field(n, "arguments")
	c := call{node: n, name: lastPart(w.self), receiver: none, args: w.arguments(list)}
	if w.Content(w.Field(n, "constructor")) == "super" {
		c.name = lastPart(w.super)
	}
	w.calls(c)
	w.visit(list)
}

// javaReference reads a method reference: the method is mentioned, not called.
func javaReference(w *walker, n int) {
	object, name := w.First(n), w.Last(n)
	if w.Content(name) == "new" || object == name {
		w.visit(object) // Type::new
		return
	}
	c := call{node: name, name: w.Content(name), receiver: object, kind: domain.EdgeUses, recvType: javaTypes.receiver(w, object)}
	w.calls(c)
	w.visit(object)
}

func javaAnnotation(w *walker, n int) {
	w.uses(n, w.Content(w.Field(n, "name")))
	w.visit(w.Field(n, "arguments"))
}

// javaScopedType notes Outer.Inner or pkg.Type as a whole.
func javaScopedType(w *walker, n int) {
	if text := w.Content(n); !strings.ContainsAny(text, "<@ \n") {
		w.uses(n, text)
		return
	}
	w.inside(n)
}

var javaLiterals = map[string]string{
	"string_literal": "String", "character_literal": "char", "decimal_integer_literal": "int", "true": "boolean", "false": "boolean", "class_literal": "Class",
}

// javaTypeOf gives the type of an expression as far as the file tells, as a chain.
func javaTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier":
		return javaTypes.name(w, w.Content(n))
	case "this":
		return w.self
	case "super":
		return w.super
	case "field_access":
		if w.Content(w.Field(n, "field")) == "this" {
			return w.Content(w.Field(n, "object")) // Outer.this
		}
		return javaTypes.member(w, w.Field(n, "object"), w.Content(w.Field(n, "field")), steps)
	case "method_invocation":
		if object := w.Field(n, "object"); object >= 0 {
			return javaTypes.method(w, object, w.Content(w.Field(n, "name")), steps)
		}
		return w.Content(w.Field(n, "name")) + "()"
	case "object_creation_expression", "cast_expression":
		return javaType(w, w.Field(n, "type"))
	case "array_creation_expression":
		return javaType(w, w.Field(n, "type")) + "[]"
	case "array_access":
		return javaContainers.element(javaTypeOf(w, w.Field(n, "array"), steps))
	case "parenthesized_expression":
		return javaTypeOf(w, w.First(n), steps)
	case "ternary_expression":
		return javaTypeOf(w, w.Field(n, "consequence"), steps)
	case "assignment_expression":
		return javaTypeOf(w, w.Field(n, "right"), steps)
	}
	return javaLiterals[w.Kind(n)]
}

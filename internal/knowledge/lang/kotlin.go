package lang

import (
	"strings"

	grammarkotlin "github.com/tree-sitter-grammars/tree-sitter-kotlin/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("kotlin", ktRules) }

func ktRules() rules {
	return rules{
		grammar:  grammarkotlin.Language,
		comments: []string{"line_comment", "block_comment"},
		builtins: `Int Long Short Byte Double Float Boolean Char String Unit Any Nothing Array List MutableList Map MutableMap Set MutableSet Pair Triple Exception
			Throwable IllegalArgumentException IllegalStateException RuntimeException Sequence Iterable Collection null true false
			println print listOf mutableListOf emptyList mapOf mutableMapOf emptyMap setOf mutableSetOf arrayOf require check requireNotNull checkNotNull error lazy
			run with repeat buildString buildList TODO to`,
		enter: ktTopLevel,
		on: map[string]handler{
			"package_header":        func(w *walker, n int) { w.facts.Package = w.intern(w.Content(w.First(n))) },
			"import":                ktImport,
			"class_declaration":     ktClass,
			"object_declaration":    ktClass,
			"companion_object":      ktCompanion,
			"enum_entry":            ktEnumEntry,
			"type_alias":            ktAlias,
			"function_declaration":  ktFunction,
			"secondary_constructor": ktConstructor,
			"property_declaration":  ktProperty,
			"anonymous_initializer": scoped,
			"parameter":             ktParameter,
			"class_parameter":       ktParameter,
			"lambda_literal":        ktLambda,
			"anonymous_function":    scoped,
			"object_literal":        ktObject,
			"for_statement":         ktFor,
			"catch_block":           ktCatch,
			"when_expression":       ktWhen,
			"block":                 scoped,
			"if_expression":         scoped,
			"call_expression":       ktCall,
			"infix_expression":      ktInfix,
			"navigation_expression": ktNavigation,
			"callable_reference":    ktReference,
			"value_argument":        ktArgument,
			"user_type":             ktTypeUse,
			"identifier":            valueUse,
		},
	}
}

func ktImport(w *walker, n int) {
	path := w.Content(w.Child(n, "qualified_identifier"))
	if w.Child(n, "*") >= 0 {
		w.importing(n, path, "*", "")
		return
	}
	w.importing(n, path, "", w.Content(w.Child(n, "identifier")))
}

// ktTopLevel binds the properties of the file before any function uses them.
func ktTopLevel(w *walker, root int) {
	for c := range w.Children(root) {
		if w.Kind(c) == "property_declaration" {
			if name, typ := ktPropertyType(w, c); name >= 0 {
				w.bind(w.Content(name), binding{typ: typ})
			}
		}
	}
}

func ktHas(w *walker, n int, modifier string) bool {
	for c := range w.Children(w.Child(n, "modifiers")) {
		if w.Content(c) == modifier {
			return true
		}
	}
	return false
}

func ktPublic(w *walker, n int) bool {
	return !ktHas(w, n, "private") && !ktHas(w, n, "internal") && !ktHas(w, n, "protected")
}

// ktFrom gives where a signature begins: after the annotations.
func ktFrom(w *walker, n int) int {
	for c := range w.Children(n) {
		if w.Kind(c) != "modifiers" {
			return c
		}
		for m := range w.Children(c) {
			if w.Kind(m) != "annotation" {
				return m
			}
		}
	}
	return n
}

// ktAnnotations walks the annotations of a definition.
func ktAnnotations(w *walker, n int) { w.visit(w.Child(n, "modifiers")) }

func ktBody(w *walker, n int) int {
	if body := w.Child(n, "class_body"); body >= 0 {
		return body
	}
	return w.Child(n, "enum_class_body")
}

func ktClass(w *walker, n int) {
	d := definition{
		kind: domain.KindClass, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: ktFrom(w, n), exported: ktPublic(w, n),
	}
	body := ktBody(w, n)
	d.body = max(body, 0)
	switch {
	case w.Child(n, "interface") >= 0:
		d.kind = domain.KindInterface
	case w.Kind(body) == "enum_class_body" || ktHas(w, n, "enum"):
		d.kind = domain.KindEnum
	}
	w.push()
	defer w.pop()
	ktTypeParameters(w, n)
	d.bases = ktBases(w, n, d.kind)
	d.fields = ktFields(w, n, body)
	w.bindFields(d.fields)
	w.within(w.define(d), func() {
		ktAnnotations(w, n)
		w.visit(w.Child(n, "type_parameters"))
		w.typed(dotted(w.owner, d.name), d.bases, func() {
			w.visit(w.Child(n, "primary_constructor"))
			ktBaseArguments(w, w.Child(n, "delegation_specifiers"))
			w.inside(body)
		})
	})
}

func ktTypeParameters(w *walker, n int) {
	for c := range w.Children(w.Child(n, "type_parameters")) {
		if w.Kind(c) == "type_parameter" {
			bound := w.Last(c)
			text := ""
			if bound != w.Child(c, "identifier") {
				text = ktType(w, bound)
			}
			w.bind(w.Content(w.Child(c, "identifier")), binding{typ: text, typeParam: true})
		}
	}
}

// ktBases reads the supertypes: one that is constructed is a class, the others are
// interfaces.
func ktBases(w *walker, n int, kind domain.SymbolKind) (bases []domain.TypeRef) {
	for c := range w.Children(w.Child(n, "delegation_specifiers")) {
		inner, edge := w.First(c), domain.EdgeImplements
		switch w.Kind(inner) {
		case "constructor_invocation":
			inner, edge = w.First(inner), domain.EdgeInherits
		case "explicit_delegation":
			inner = w.First(inner)
		}
		if kind == domain.KindInterface {
			edge = domain.EdgeInherits
		}
		if name, _ := splitType(fold(w.Content(inner), maxChain), '<', '>'); name != "" && w.Named(c) {
			bases = append(bases, w.base(c, name, edge))
		}
	}
	return bases
}

func ktBaseArguments(w *walker, list int) {
	for c := range w.Children(list) {
		inner := w.First(c)
		typ := inner
		if k := w.Kind(inner); k == "constructor_invocation" || k == "explicit_delegation" {
			typ = w.First(inner)
			if args := w.Child(inner, "value_arguments"); args >= 0 {
				name, _ := splitType(fold(w.Content(typ), maxChain), '<', '>')
				w.calls(call{node: c, name: lastPart(name), receiver: none, args: w.arguments(args)})
				w.visit(args)
			} else if k == "explicit_delegation" {
				w.visit(w.Last(inner))
			}
		}
		w.visit(w.Child(typ, "type_arguments"))
	}
}

// ktFields gives the properties of a class, declared in its body or in its constructor.
// Parameters of the constructor that are none count too: initializers see them.
func ktFields(w *walker, n, body int) (fields []domain.Field) {
	add := func(name int, typ string) {
		if name >= 0 && typ != "" {
			fields = append(fields, domain.Field{Name: w.intern(w.Content(name)), Type: w.intern(typ)})
		}
	}
	params := w.Child(w.Child(n, "primary_constructor"), "class_parameters")
	for c := range w.Children(params) {
		name := w.Child(c, "identifier")
		add(name, ktType(w, ktTypeAfter(w, c, name)))
	}
	for c := range w.Children(body) {
		if w.Kind(c) == "property_declaration" {
			add(ktPropertyType(w, c))
		}
		if w.Kind(c) == "companion_object" {
			fields = append(fields, ktFields(w, c, ktBody(w, c))...)
		}
	}
	return fields
}

func ktCompanion(w *walker, n int) {
	w.within(w.define(definition{
		kind: domain.KindModule, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: ktFrom(w, n), body: max(ktBody(w, n), 0), exported: ktPublic(w, n),
	}), func() { w.inside(ktBody(w, n)) })
}

func ktEnumEntry(w *walker, n int) {
	name := w.Content(w.Child(n, "identifier"))
	symbol := w.define(definition{
		kind: domain.KindConstant, name: name, owner: w.owner, node: n, from: ktFrom(w, n), body: max(w.Child(n, "class_body"), 0), typ: w.self, exported: true,
	})
	w.within(symbol, func() {
		w.visit(w.Child(n, "value_arguments"))
		w.belonging(dotted(w.owner, name), func() { w.inside(w.Child(n, "class_body")) })
	})
}

func ktAlias(w *walker, n int) {
	typ := w.Last(n)
	w.push()
	defer w.pop()
	ktTypeParameters(w, n)
	symbol := w.define(definition{
		kind: domain.KindType, name: w.Content(w.Field(n, "type")), owner: w.owner, node: n, typ: ktType(w, typ), exported: ktPublic(w, n),
	})
	w.within(symbol, func() { w.visit(typ) })
}

func ktFunction(w *walker, n int) {
	name, body := w.Field(n, "name"), w.Child(n, "function_body")
	d := definition{
		kind: domain.KindFunction, name: w.Content(name), owner: w.owner, node: n, from: ktFrom(w, n), body: max(body, 0), exported: ktPublic(w, n),
	}
	if w.self != "" && w.owner == w.self || w.kindOf(w.symbol) == domain.KindModule || w.kindOf(w.symbol) == domain.KindConstant {
		d.kind = domain.KindMethod
	}
	w.push()
	defer w.pop()
	ktTypeParameters(w, n)
	receiver, result := none, none
	for c := range w.Children(n) {
		switch w.Kind(c) {
		case "user_type", "nullable_type", "function_type", "parenthesized_type", "non_nullable_type":
			if c < name {
				receiver = c
			} else {
				result = c
			}
		}
	}
	d.typ = ktType(w, result)
	self := w.self
	if receiver >= 0 { // an extension belongs to the type that it extends
		d.owner, _ = splitType(ktType(w, receiver), '<', '>')
		d.kind, self = domain.KindMethod, d.owner
	}
	symbol := -1
	if w.Kind(w.Parent(w.Parent(n))) != "object_literal" { // else it belongs to what encloses it
		symbol = w.define(d)
	}
	w.within(symbol, func() {
		was := w.self
		w.self = self
		owner := w.owner
		if symbol >= 0 {
			owner = dotted(d.owner, d.name)
		}
		w.belonging(owner, func() { w.others(n, "name") })
		w.self = was
	})
}

func ktConstructor(w *walker, n int) {
	symbol := w.define(definition{
		kind: domain.KindMethod, name: "constructor", owner: w.owner, node: n, from: ktFrom(w, n), until: w.Child(n, "function_value_parameters"), exported: ktPublic(w, n),
	})
	w.within(symbol, func() {
		w.push()
		w.visit(w.Child(n, "function_value_parameters"))
		if delegation := w.Child(n, "constructor_delegation_call"); delegation >= 0 {
			args := w.Child(delegation, "value_arguments")
			c := call{node: delegation, name: lastPart(w.self), receiver: none, args: w.arguments(args)}
			if strings.HasPrefix(w.Content(delegation), "super") {
				c.name = lastPart(w.super)
			}
			w.calls(c)
			w.visit(args)
		}
		w.visit(w.Child(n, "block"))
		w.pop()
	})
}

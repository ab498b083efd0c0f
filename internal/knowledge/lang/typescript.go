package lang

import (
	"unsafe"

	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

// TypeScript, TSX and JavaScript share their handlers: the grammars differ in what they
// have beyond JavaScript only.
func init() {
	register("typescript", func() rules { return tsRules(typescript.LanguageTypescript) })
	register("tsx", func() rules { return tsRules(typescript.LanguageTSX) })
	register("javascript", func() rules { return tsRules(javascript.Language) })
}

func tsRules(grammar func() unsafe.Pointer) rules {
	return rules{
		grammar:  grammar,
		shared:   true,
		comments: []string{"comment"},
		builtins: `any bigint boolean never null number object string symbol undefined unknown void Array Awaited Boolean Error Exclude Extract Function
			Infinity Iterable Iterator Map NaN NonNullable Number Object Omit Parameters Partial Pick Promise Readonly ReadonlyArray Record RegExp Required
			ReturnType Set String Symbol WeakMap WeakSet Date JSON Math console require parseInt parseFloat isNaN setTimeout clearTimeout setInterval clearInterval`,
		enter: tsModuleVars,
		leave: tsMarkExports,
		on: map[string]handler{
			"import_statement":               tsImport,
			"export_statement":               tsExport,
			"function_declaration":           tsFunction,
			"generator_function_declaration": tsFunction,
			"function_signature":             tsSignature,
			"class_declaration":              tsClass,
			"abstract_class_declaration":     tsClass,
			"class":                          tsClass,
			"interface_declaration":          tsInterface,
			"enum_declaration":               tsEnum,
			"type_alias_declaration":         tsAlias,
			"internal_module":                tsNamespace,
			"module":                         tsNamespace,
			"variable_declarator":            tsVariable,
			"assignment_expression":          tsAssignment,
			"decorator":                      tsDecorator,
			"arrow_function":                 tsClosure,
			"function_expression":            tsClosure,
			"generator_function":             tsClosure,
			"method_definition":              tsClosure,
			"statement_block":                scoped,
			"for_statement":                  scoped,
			"for_in_statement":               tsForIn,
			"catch_clause":                   tsCatch,
			"if_statement":                   tsIf,
			"call_expression":                tsCall,
			"new_expression":                 tsNew,
			"member_expression":              func(w *walker, n int) { w.visit(w.Field(n, "object")) },
			"jsx_opening_element":            tsElement,
			"jsx_self_closing_element":       tsElement,
			"jsx_closing_element":            skip,
			"type_identifier":                useHere,
			"nested_type_identifier":         useHere,
			"type_parameter":                 tsTypeParameter,
			"identifier":                     nameUse,
		},
	}
}

// tsWhole gives the statement that a declaration is written as: with its export or
// declare, if it has one.
func tsWhole(w *walker, n int) (whole int, exported bool) {
	whole = n
	for {
		switch up := w.Parent(whole); w.Kind(up) {
		case "lexical_declaration", "variable_declaration", "ambient_declaration":
			whole = up
		case "expression_statement":
			if w.Kind(n) != "internal_module" && w.Kind(n) != "assignment_expression" {
				return whole, exported
			}
			whole = up
		case "export_statement":
			return up, true
		default:
			return whole, exported
		}
	}
}

// tsFrom gives where the signature of a definition begins: after its decorators.
func tsFrom(w *walker, whole int) int {
	for c := range w.Children(whole) {
		if w.Kind(c) != "decorator" {
			return c
		}
	}
	return whole
}

func tsName(w *walker, n int) string {
	name := w.Field(n, "name")
	switch w.Kind(name) {
	case "string":
		return unquote(w.Content(name))
	case "computed_property_name":
		return fold(w.Content(name), maxReceiver)
	case "":
		if w.Kind(w.Parent(n)) == "export_statement" {
			return "default"
		}
	}
	return w.Content(name)
}

func tsFunction(w *walker, n int) {
	whole, exported := tsWhole(w, n)
	tsDefineFunction(w, n, definition{
		kind: domain.KindFunction, name: tsName(w, n), owner: w.owner, node: whole, exported: exported,
	})
}

// tsDefineFunction notes a function or method whose parts are those of node n.
func tsDefineFunction(w *walker, n int, d definition) {
	if d.body = w.Field(n, "body"); w.Kind(n) == "arrow_function" && w.Kind(d.body) != "statement_block" {
		d.body = max(w.Child(n, "=>"), 0)
	}
	if d.from == 0 {
		d.from = tsFrom(w, d.node)
	}
	w.push()
	tsBindTypeParameters(w, n)
	w.showing(func() { d.typ = tsTypeText(w, w.Field(n, "return_type")) })
	symbol := w.define(d)
	w.within(symbol, func() {
		if d.begin > 0 {
			w.span(d.begin, d.node) // the decorators
		}
		w.belonging(dotted(d.owner, d.name), func() { tsFunctionParts(w, n) })
	})
	w.pop()
}

// tsFunctionParts walks parameters, types and body in the scope that is open.
func tsFunctionParts(w *walker, n int) {
	tsBindParameters(w, n)
	w.others(n, "name", "body", "type_parameters")
	w.visit(w.Field(n, "type_parameters"))
	if body := w.Field(n, "body"); w.Kind(body) == "statement_block" {
		w.inside(body)
	} else {
		w.visit(body)
	}
}

// tsClosure is the handler of functions without a name of their own: they belong to what
// encloses them.
func tsClosure(w *walker, n int) {
	w.push()
	tsFunctionParts(w, n)
	w.pop()
}

// tsSignature notes a function without a body, unless an overload of it follows.
func tsSignature(w *walker, n int) {
	if !tsOverloaded(w, n) {
		tsFunction(w, n)
	}
}

// tsOverloaded reports whether the next sibling declares the same name again.
func tsOverloaded(w *walker, n int) bool {
	if w.Field(n, "body") >= 0 {
		return false
	}
	whole, _ := tsWhole(w, n)
	next, end := w.End(whole), w.End(w.Parent(whole))
	for next < end && (!w.Named(next) || w.Kind(next) == "comment" || w.Kind(next) == "decorator") {
		next = w.End(next)
	}
	if next >= end {
		return false
	}
	if inner := w.Field(next, "declaration"); inner >= 0 {
		next = inner
	}
	return tsName(w, next) == tsName(w, n) && w.Field(next, "parameters") >= 0
}

func tsTypeParameter(w *walker, n int) {
	w.visit(w.Field(n, "constraint"))
	w.visit(w.Field(n, "value"))
}

func tsBindTypeParameters(w *walker, n int) {
	for c := range w.Children(w.Field(n, "type_parameters")) {
		if w.Kind(c) == "type_parameter" {
			bound := tsTypeText(w, w.First(w.Field(c, "constraint")))
			k := w.Kind(n)
			ofType := k == "class_declaration" || k == "abstract_class_declaration" || k == "class" || k == "interface_declaration" || k == "type_alias_declaration"
			w.bind(w.Content(w.Field(c, "name")), binding{typ: bound, typeParam: true, ofType: ofType})
		}
	}
}

func tsInterface(w *walker, n int) {
	whole, exported := tsWhole(w, n)
	d := definition{
		kind: domain.KindInterface, name: tsName(w, n), owner: w.owner, node: whole, from: tsFrom(w, whole),
		body: w.Field(n, "body"), exported: exported,
	}
	w.push()
	defer w.pop()
	tsBindTypeParameters(w, n)
	for c := range w.Children(n) {
		if w.Kind(c) == "extends_type_clause" {
			d.bases = append(d.bases, tsBases(w, c, domain.EdgeInherits)...)
		}
	}
	w.showing(func() { d.fields = tsFields(w, d.body) })
	w.within(w.define(d), func() {
		tsHeritageArguments(w, n)
		w.typed(dotted(w.owner, d.name), d.bases, func() { tsMembers(w, d.body) })
	})
}

func tsEnum(w *walker, n int) {
	whole, exported := tsWhole(w, n)
	name, body := tsName(w, n), w.Field(n, "body")
	path := dotted(w.owner, name)
	symbol := w.define(definition{
		kind: domain.KindEnum, name: name, owner: w.owner, node: whole, body: body, exported: exported,
	})
	w.within(symbol, func() {
		for c := range w.Children(body) {
			if w.Kind(c) == "comment" || !w.Named(c) {
				w.visit(c)
				continue
			}
			member := w.Content(c)
			if w.Kind(c) == "enum_assignment" {
				member = tsName(w, c)
			}
			w.define(definition{kind: domain.KindConstant, name: unquote(member), owner: path, node: c, typ: path, exported: exported})
			w.visit(w.Field(c, "value"))
		}
	})
}

func tsAlias(w *walker, n int) {
	whole, exported := tsWhole(w, n)
	value := w.Field(n, "value")
	d := definition{kind: domain.KindType, name: tsName(w, n), owner: w.owner, node: whole, exported: exported}
	w.push()
	defer w.pop()
	tsBindTypeParameters(w, n)
	if w.Kind(value) == "object_type" {
		d.fields, d.body = tsFields(w, value), value
	} else {
		d.typ = tsTypeText(w, value)
	}
	w.within(w.define(d), func() {
		w.visit(w.Field(n, "type_parameters"))
		if w.Kind(value) == "object_type" {
			w.typed(dotted(w.owner, d.name), nil, func() { tsMembers(w, value) })
			return
		}
		w.visit(value)
	})
}

func tsNamespace(w *walker, n int) {
	whole, exported := tsWhole(w, n)
	name, body := tsName(w, n), w.Field(n, "body")
	owner := dotted(w.owner, name)
	if w.Kind(w.Field(n, "name")) == "string" {
		owner = w.owner // a module of another file that is described here
	}
	symbol := w.define(definition{
		kind: domain.KindModule, name: name, owner: w.owner, node: whole, body: body, exported: exported,
	})
	w.within(symbol, func() { w.belonging(owner, func() { scoped(w, body) }) })
}

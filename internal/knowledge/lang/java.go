package lang

import (
	java "github.com/tree-sitter/tree-sitter-java/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("java", javaRules) }

func javaRules() rules {
	return rules{
		grammar:  java.Language,
		comments: []string{"line_comment", "block_comment"},
		builtins: `String Object Integer Long Short Byte Double Float Boolean Character Number Void Class Override Deprecated SuppressWarnings
			FunctionalInterface SafeVarargs Math System Iterable CharSequence Exception RuntimeException Throwable Error var`,
		on: map[string]handler{
			"package_declaration":                 func(w *walker, n int) { w.facts.Package = w.intern(w.Content(w.Last(n))) },
			"import_declaration":                  javaImport,
			"class_declaration":                   javaClass,
			"interface_declaration":               javaClass,
			"enum_declaration":                    javaClass,
			"record_declaration":                  javaClass,
			"annotation_type_declaration":         javaClass,
			"enum_constant":                       javaEnumConstant,
			"method_declaration":                  javaMethod,
			"annotation_type_element_declaration": javaMethod,
			"constructor_declaration":             javaMethod,
			"compact_constructor_declaration":     javaMethod,
			"field_declaration":                   javaField,
			"constant_declaration":                javaField,
			"local_variable_declaration":          javaLocal,
			"lambda_expression":                   javaLambda,
			"block":                               scoped,
			"for_statement":                       scoped,
			"switch_block_statement_group":        scoped,
			"switch_rule":                         scoped,
			"enhanced_for_statement":              javaForEach,
			"try_with_resources_statement":        scoped,
			"resource":                            javaResource,
			"catch_clause":                        javaCatch,
			"instanceof_expression":               javaInstanceOf,
			"type_pattern":                        javaPattern,
			"record_pattern_component":            javaPattern,
			"method_invocation":                   javaCall,
			"object_creation_expression":          javaNew,
			"explicit_constructor_invocation":     javaConstructorCall,
			"method_reference":                    javaReference,
			"field_access":                        func(w *walker, n int) { w.visit(w.Field(n, "object")) },
			"marker_annotation":                   javaAnnotation,
			"annotation":                          javaAnnotation,
			"type_identifier":                     useHere,
			"scoped_type_identifier":              javaScopedType,
			"identifier":                          nameUse,
		},
	}
}

func javaImport(w *walker, n int) {
	target := w.Child(n, "scoped_identifier")
	if target < 0 {
		target = w.Child(n, "identifier")
	}
	switch {
	case w.Child(n, "asterisk") >= 0:
		w.importing(n, w.Content(target), "*", "")
	case w.Child(n, "static") >= 0:
		w.importing(n, w.Content(w.Field(target, "scope")), w.Content(w.Field(target, "name")), "")
	default:
		w.importing(n, w.Content(target), "", "")
	}
}

// javaFrom gives where a signature begins: after the annotations.
func javaFrom(w *walker, n int) int {
	for c := range w.Children(n) {
		if w.Kind(c) != "modifiers" {
			return c
		}
		for m := range w.Children(c) {
			if k := w.Kind(m); k != "annotation" && k != "marker_annotation" && k != "line_comment" && k != "block_comment" {
				return m
			}
		}
	}
	return n
}

func javaHas(w *walker, n int, modifier string) bool {
	return w.Child(w.Child(n, "modifiers"), modifier) >= 0
}

var javaKinds = map[string]domain.SymbolKind{
	"class_declaration": domain.KindClass, "interface_declaration": domain.KindInterface, "enum_declaration": domain.KindEnum,
	"record_declaration": domain.KindClass, "annotation_type_declaration": domain.KindInterface,
}

func javaClass(w *walker, n int) {
	d := definition{
		kind: javaKinds[w.Kind(n)], name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: javaFrom(w, n),
		body: w.Field(n, "body"), exported: javaHas(w, n, "public"),
	}
	path := dotted(w.owner, d.name)
	w.push()
	defer w.pop()
	javaTypeParameters(w, n)
	for c := range w.Children(n) {
		switch w.Kind(c) {
		case "superclass", "extends_interfaces":
			d.bases = append(d.bases, javaBases(w, c, domain.EdgeInherits)...)
		case "super_interfaces":
			d.bases = append(d.bases, javaBases(w, c, domain.EdgeImplements)...)
		}
	}
	w.showing(func() { d.fields = javaFields(w, n, d.body) })
	w.bindFields(d.fields)
	w.within(w.define(d), func() {
		w.typed(path, d.bases, func() {
			for c := range w.Children(n) {
				switch w.Kind(c) {
				case "superclass", "extends_interfaces", "super_interfaces":
					javaBaseArguments(w, c)
				case "identifier":
				default:
					w.visit(c)
				}
			}
		})
	})
}

func javaTypeParameters(w *walker, n int) {
	for c := range w.Children(w.Field(n, "type_parameters")) {
		if w.Kind(c) == "type_parameter" {
			bound := javaType(w, w.First(w.Child(c, "type_bound")))
			w.bind(w.Content(w.Child(c, "type_identifier")), binding{typ: bound, typeParam: true, ofType: javaKinds[w.Kind(n)] != ""})
		}
	}
}

// javaBases reads an extends or implements clause.
func javaBases(w *walker, clause int, kind domain.EdgeKind) (bases []domain.TypeRef) {
	list := clause
	if inner := w.Child(clause, "type_list"); inner >= 0 {
		list = inner
	}
	for c := range w.Children(list) {
		if !w.Named(c) {
			continue
		}
		name, _ := splitType(fold(w.Content(c), maxChain), '<', '>')
		bases = append(bases, w.base(c, name, kind))
	}
	return bases
}

func javaBaseArguments(w *walker, clause int) {
	for c := clause; c < w.End(clause); c++ {
		if w.Kind(c) == "type_arguments" {
			w.visit(c)
			c = w.End(c) - 1
		}
	}
}

func javaFields(w *walker, n, body int) (fields []domain.Field) {
	add := func(name, typ int) {
		if text := javaType(w, typ); text != "" {
			fields = append(fields, domain.Field{Name: w.intern(w.Content(name)), Type: w.intern(text)})
		}
	}
	for p := range w.Children(w.Field(n, "parameters")) {
		add(w.Field(p, "name"), w.Field(p, "type"))
	}
	read := func(list int) {
		for c := range w.Children(list) {
			if k := w.Kind(c); k != "field_declaration" && k != "constant_declaration" {
				continue
			}
			for d := range w.Children(c) {
				if w.FieldName(d) == "declarator" {
					add(w.Field(d, "name"), w.Field(c, "type"))
				}
			}
		}
	}
	read(body)
	read(w.Child(body, "enum_body_declarations"))
	return fields
}

func javaEnumConstant(w *walker, n int) {
	name := w.Content(w.Field(n, "name"))
	symbol := w.define(definition{
		kind: domain.KindConstant, name: name, owner: w.owner, node: n, from: javaFrom(w, n), body: w.Field(n, "body"),
		typ: w.self, exported: true,
	})
	w.within(symbol, func() {
		w.belonging(dotted(w.owner, name), func() { w.others(n, "name") })
	})
}

func javaField(w *walker, n int) {
	constant := w.Kind(n) == "constant_declaration" || javaHas(w, n, "static") && javaHas(w, n, "final")
	for c := range w.Children(n) {
		if w.FieldName(c) != "declarator" {
			w.visit(c)
			continue
		}
		symbol := -1
		if constant {
			symbol = w.define(definition{
				kind: domain.KindConstant, name: w.Content(w.Field(c, "name")), owner: w.owner, node: n, from: javaFrom(w, n),
				typ: javaType(w, w.Field(n, "type")), exported: javaHas(w, n, "public") || w.Kind(n) == "constant_declaration",
			})
		}
		w.within(symbol, func() { w.visit(w.Field(c, "value")) })
	}
}

func javaMethod(w *walker, n int) {
	body := w.Field(n, "body")
	d := definition{
		kind: domain.KindMethod, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: javaFrom(w, n), body: body,
		exported: javaHas(w, n, "public") || w.kindOf(w.symbol) == domain.KindInterface && !javaHas(w, n, "private"),
	}
	w.push()
	defer w.pop()
	javaTypeParameters(w, n)
	if w.Kind(n) != "constructor_declaration" {
		w.showing(func() { d.typ = javaType(w, w.Field(n, "type")) })
	}
	symbol := -1
	if w.Kind(w.Parent(w.Parent(n))) != "object_creation_expression" { // else it belongs to what encloses it
		symbol = w.define(d)
	}
	w.within(symbol, func() {
		javaBindParameters(w, w.Field(n, "parameters"), "")
		read := func() { w.others(n, "name") }
		if symbol < 0 {
			read()
			return
		}
		w.belonging(dotted(w.owner, d.name), read)
	})
}

package lang

import (
	"strings"

	grammargo "github.com/tree-sitter/tree-sitter-go/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("go", goRules) }

func goRules() rules {
	return rules{
		grammar:  grammargo.Language,
		comments: []string{"comment"},
		builtins: `any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string
			uint uint8 uint16 uint32 uint64 uintptr append cap close complex copy delete imag len make new panic print println real recover`,
		enter: goPackageVars,
		leave: noteAssertions,
		on: map[string]handler{
			"package_clause":                 goPackage,
			"import_spec":                    goImport,
			"function_declaration":           goFunction,
			"method_declaration":             goFunction,
			"type_spec":                      goType,
			"type_alias":                     goType,
			"method_elem":                    goMethodElem,
			"const_spec":                     goValue,
			"var_spec":                       goValue,
			"type_identifier":                useHere,
			"qualified_type":                 useHere,
			"field_declaration":              goFieldTypes,
			"parameter_declaration":          goParameter,
			"variadic_parameter_declaration": goParameter,
			"type_parameter_declaration":     goTypeParameter,
			"func_literal":                   scoped,
			"block":                          scoped,
			"if_statement":                   scoped,
			"for_statement":                  scoped,
			"expression_switch_statement":    scoped,
			"select_statement":               scoped,
			"communication_case":             scoped,
			"expression_case":                scoped,
			"type_switch_statement":          goTypeSwitch,
			"short_var_declaration":          goShortVar,
			"range_clause":                   goRange,
			"receive_statement":              goReceive,
			"call_expression":                goCall,
			"keyed_element":                  goKeyed,
			"selector_expression":            goSelector,
			"assignment_statement":           goAssignment,
			"type_conversion_expression":     goConversion,
		},
	}
}

func goPackage(w *walker, n int) { w.facts.Package = w.intern(w.Content(w.First(n))) }

func goImport(w *walker, n int) {
	alias, name := w.Content(w.Field(n, "name")), ""
	if alias == "." {
		alias, name = "", "*"
	}
	w.importing(n, unquote(w.Content(w.Field(n, "path"))), name, alias)
}

// goPackageVars binds the package's variables before any function uses them.
func goPackageVars(w *walker, root int) {
	for decl := range w.Children(root) {
		if w.Kind(decl) != "var_declaration" {
			continue
		}
		for c := range w.Children(decl) {
			if w.Kind(c) == "var_spec_list" {
				for spec := range w.Children(c) {
					goBindSpec(w, spec, false)
				}
			}
			goBindSpec(w, c, false)
		}
	}
}

// goBindSpec binds the names of a var or const specification to what they hold.
func goBindSpec(w *walker, spec int, local bool) {
	kind := w.Kind(spec)
	if kind != "var_spec" && kind != "const_spec" {
		return
	}
	types := goSpecTypes(w, spec)
	i := 0
	for c := range w.Children(spec) {
		if w.FieldName(c) == "name" && w.Named(c) {
			w.bind(w.Content(c), binding{typ: types(i), local: local})
			i++
		}
	}
}

// goSpecTypes gives the type of the i-th name of a specification.
func goSpecTypes(w *walker, spec int) func(i int) string {
	if t := w.Field(spec, "type"); t >= 0 {
		typ := goTypeText(w, t)
		return func(int) string { return typ }
	}
	values := w.named(w.Field(spec, "value"))
	return func(i int) string { return goValueAt(w, values, i) }
}

// goValueAt gives the type of the i-th of the values assigned; of a call with several
// results only the first is known.
func goValueAt(w *walker, values []int, i int) string {
	if i < len(values) {
		return goTypeOf(w, values[i], maxSteps)
	}
	return ""
}

func goFunction(w *walker, n int) {
	name := w.Content(w.Field(n, "name"))
	body := w.Field(n, "body")
	d := definition{
		kind: domain.KindFunction, name: name, node: n, body: body, owner: w.owner,
		exported: upperFirst(name), typ: goResult(w, n),
	}
	receiver := w.Field(n, "receiver")
	if receiver >= 0 {
		d.kind = domain.KindMethod
		d.owner = goBareType(goTypeText(w, w.Field(w.Child(receiver, "parameter_declaration"), "type")))
	}
	w.within(w.define(d), func() {
		w.belonging(dotted(d.owner, name), func() {
			w.push()
			if receiver >= 0 {
				goReceiverNames(w, receiver)
			}
			w.others(n, "name", "receiver")
			w.pop()
		})
	})
}

// goReceiverNames binds the receiver and its type parameters.
func goReceiverNames(w *walker, list int) {
	param := w.Child(list, "parameter_declaration")
	typ := w.Field(param, "type")
	for c := range w.Children(param) {
		if w.FieldName(c) == "name" {
			w.bindLocal(w.Content(c), goBareType(goTypeText(w, typ)))
		}
	}
	for c := typ; c >= 0 && c < w.End(typ); c++ {
		if w.Kind(c) == "type_arguments" {
			for arg := range w.Children(c) {
				if w.Named(arg) {
					w.bind(w.Content(arg), binding{typeParam: true})
				}
			}
		}
	}
}

// goResult gives the first result type of a function.
func goResult(w *walker, n int) string {
	result := w.Field(n, "result")
	if w.Kind(result) == "parameter_list" {
		result = w.Field(w.First(result), "type")
	}
	return goTypeText(w, result)
}

func goMethodElem(w *walker, n int) {
	name := w.Content(w.Field(n, "name"))
	symbol := -1
	if w.self != "" {
		symbol = w.define(definition{
			kind: domain.KindMethod, name: name, owner: w.self, node: n, exported: upperFirst(name), typ: goResult(w, n),
		})
	}
	w.within(symbol, func() {
		w.push()
		w.others(n, "name")
		w.pop()
	})
}

func goType(w *walker, n int) {
	name, typ := w.Content(w.Field(n, "name")), w.Field(n, "type")
	d := definition{kind: domain.KindType, name: name, owner: w.owner, node: n, exported: upperFirst(name)}
	if decl := w.Parent(n); w.Kind(decl) == "type_declaration" && w.Child(decl, "(") < 0 {
		d.node = decl // with the keyword, as the definition is read
	}
	switch w.Kind(typ) {
	case "struct_type":
		d.kind, d.body = domain.KindStruct, w.Child(typ, "field_declaration_list")
		d.fields, d.bases = goFields(w, d.body)
	case "interface_type":
		d.kind, d.body = domain.KindInterface, w.Child(typ, "{")
		d.bases = goEmbeddedInterfaces(w, typ)
	default:
		d.typ = goTypeText(w, typ)
	}
	w.within(w.define(d), func() {
		w.push()
		w.visit(w.Field(n, "type_parameters"))
		w.typed(dotted(w.owner, name), nil, func() { w.visit(typ) })
		w.pop()
	})
}

// goFields reads the fields of a struct; the embedded ones are its bases as well.
func goFields(w *walker, list int) (fields []domain.Field, bases []domain.TypeRef) {
	for decl := range w.Children(list) {
		if w.Kind(decl) != "field_declaration" {
			continue
		}
		t := w.Field(decl, "type")
		typ, named := goTypeText(w, t), false
		for c := range w.Children(decl) {
			if w.FieldName(c) != "name" {
				continue
			}
			named = true
			if typ != "" {
				fields = append(fields, domain.Field{Name: w.intern(w.Content(c)), Type: w.intern(typ)})
			}
		}
		if !named {
			bare := goBareType(typ)
			bases = append(bases, w.base(decl, bare, domain.EdgeEmbeds))
			fields = append(fields, domain.Field{Name: w.intern(lastPart(bare)), Type: w.intern(typ)})
		}
	}
	return fields, bases
}

func goEmbeddedInterfaces(w *walker, typ int) (bases []domain.TypeRef) {
	for elem := range w.Children(typ) {
		if w.Kind(elem) != "type_elem" || w.Child(elem, "|") >= 0 {
			continue
		}
		switch one := w.First(elem); w.Kind(one) {
		case "type_identifier", "qualified_type", "generic_type":
			if bare := goBareType(goTypeText(w, one)); !w.g.builtins[bare] {
				bases = append(bases, w.base(elem, bare, domain.EdgeEmbeds))
			}
		}
	}
	return bases
}

// goFieldTypes walks a field's type but not the names of embedded ones, which are bases.
func goFieldTypes(w *walker, n int) {
	if w.Field(n, "name") >= 0 {
		w.visit(w.Field(n, "type"))
		return
	}
	if t := w.Field(n, "type"); w.Kind(t) == "generic_type" {
		w.visit(w.Field(t, "type_arguments"))
	}
}

// goValue reads constants and variables: those of the package are symbols.
func goValue(w *walker, n int) {
	if w.owner != "" || w.symbol >= 0 {
		w.others(n, "name")
		goBindSpec(w, n, true)
		return
	}
	types := goSpecTypes(w, n)
	first, i := -1, 0
	for c := range w.Children(n) {
		if w.FieldName(c) != "name" || !w.Named(c) {
			continue
		}
		name := w.Content(c)
		d := definition{kind: domain.KindConstant, name: name, node: n, exported: upperFirst(name), typ: types(i)}
		if decl := w.Parent(n); w.Child(decl, "(") < 0 && strings.HasSuffix(w.Kind(decl), "declaration") {
			d.node = decl
		}
		if symbol := w.define(d); first < 0 {
			first = symbol
		}
		if name == "_" {
			goNoteAssertion(w, n)
		}
		i++
	}
	w.within(first, func() { w.others(n, "name") })
	names, values := goNames(w, n), w.named(w.Field(n, "value"))
	for i, name := range names {
		if len(values) == len(names) && w.Kind(n) == "var_spec" {
			goGive(w, holder{name: name}, values[i])
		}
	}
}

// goNames gives the names that a specification declares.
func goNames(w *walker, n int) (names []string) {
	for c := range w.Children(n) {
		if w.FieldName(c) == "name" && w.Named(c) {
			names = append(names, w.Content(c))
		}
	}
	return names
}

// goNoteAssertion keeps "var _ I = (*T)(nil)", which says that T implements I.
func goNoteAssertion(w *walker, n int) {
	typ, values := w.Field(n, "type"), w.named(w.Field(n, "value"))
	if typ < 0 || len(values) != 1 {
		return
	}
	concrete := goBareType(strings.TrimSuffix(goTypeOf(w, values[0], maxSteps), "()"))
	if concrete == "" || strings.ContainsAny(concrete, "!.()") {
		return
	}
	w.asserted = append(w.asserted, assertion{name: concrete, base: w.base(n, goTypeText(w, typ), domain.EdgeImplements)})
}

func goParameter(w *walker, n int) {
	typ := w.Field(n, "type")
	text := goTypeText(w, typ)
	if w.Kind(n) == "variadic_parameter_declaration" && text != "" {
		text = "[]" + text
	}
	for c := range w.Children(n) {
		if w.FieldName(c) == "name" && w.Named(c) {
			w.bindLocal(w.Content(c), text)
		}
	}
	w.visit(typ)
}

func goTypeParameter(w *walker, n int) {
	bound := w.Field(n, "type")
	text := ""
	if only := w.First(bound); only >= 0 && only == w.Last(bound) {
		text = goTypeText(w, only)
	}
	for c := range w.Children(n) {
		if w.FieldName(c) == "name" && w.Named(c) {
			w.bind(w.Content(c), binding{typ: text, typeParam: true})
		}
	}
	w.visit(bound)
}

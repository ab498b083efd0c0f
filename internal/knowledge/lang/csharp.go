package lang

import (
	"regexp"
	"strings"

	grammarcsharp "github.com/tree-sitter/tree-sitter-c-sharp/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("csharp", csRules) }

func csRules() rules {
	return rules{
		grammar:  grammarcsharp.Language,
		comments: []string{"comment"},
		doc:      csDoc,
		builtins: `String Object Int32 Int64 Boolean Exception Action Func Task ValueTask IEnumerable List Dictionary Nullable Type Attribute Math Console nameof var dynamic
			ArgumentException ArgumentNullException InvalidOperationException NotImplementedException`,
		on: map[string]handler{
			"using_directive":                   csUsing,
			"namespace_declaration":             csNamespace,
			"file_scoped_namespace_declaration": csNamespace,
			"class_declaration":                 csClass,
			"struct_declaration":                csClass,
			"record_declaration":                csClass,
			"interface_declaration":             csClass,
			"enum_declaration":                  csEnum,
			"delegate_declaration":              csDelegate,
			"method_declaration":                csMethod,
			"constructor_declaration":           csMethod,
			"destructor_declaration":            csMethod,
			"operator_declaration":              csMethod,
			"conversion_operator_declaration":   csMethod,
			"indexer_declaration":               csMethod,
			"local_function_statement":          csMethod,
			"property_declaration":              csProperty,
			"field_declaration":                 csField,
			"event_field_declaration":           csField,
			"attribute":                         csAttribute,
			"constructor_initializer":           csInitializer,
			"parameter":                         csParameter,
			"parameter_list":                    csParameters,
			"subpattern":                        func(w *walker, n int) { w.visit(w.Last(n)) },
			"variable_declaration":              csLocal,
			"declaration_expression":            csPattern,
			"declaration_pattern":               csPattern,
			"block":                             scoped,
			"switch_section":                    scoped,
			"switch_expression_arm":             scoped,
			"for_statement":                     scoped,
			"using_statement":                   scoped,
			"foreach_statement":                 csForEach,
			"catch_clause":                      scoped,
			"catch_declaration":                 csPattern,
			"lambda_expression":                 csLambda,
			"anonymous_method_expression":       scoped,
			"invocation_expression":             csCall,
			"object_creation_expression":        csNew,
			"cast_expression":                   csTyped,
			"as_expression":                     csAs,
			"is_expression":                     csAs,
			"array_creation_expression":         csTyped,
			"typeof_expression":                 csTyped,
			"member_access_expression":          func(w *walker, n int) { w.visit(w.Field(n, "expression")) },
			"member_binding_expression":         skip,
			"argument":                          csArgument,
			"generic_name":                      csTypeUse,
			"identifier":                        valueUse,
		},
	}
}

// csUsing reads using directives: those of namespaces import all that is in them.
func csUsing(w *walker, n int) {
	target := w.Last(n)
	if alias := w.Field(n, "name"); alias >= 0 {
		w.importing(n, fold(w.Content(target), maxChain), "", w.Content(alias))
		return
	}
	w.importing(n, fold(w.Content(target), maxChain), "*", "")
}

func csNamespace(w *walker, n int) {
	name, body := w.Content(w.Field(n, "name")), w.Field(n, "body")
	if w.facts.Package == "" {
		w.facts.Package = w.intern(name)
	}
	d := definition{kind: domain.KindModule, name: name, node: n, body: body, exported: true}
	if body < 0 {
		d.until = w.Field(n, "name")
	}
	symbol := w.define(d)
	if body >= 0 {
		w.within(symbol, func() { w.inside(body) })
	}
}

// csFrom gives where a signature begins: after the attributes.
func csFrom(w *walker, n int) int {
	for c := range w.Children(n) {
		if w.Kind(c) != "attribute_list" && w.Kind(c) != "comment" {
			return c
		}
	}
	return n
}

func csHas(w *walker, n int, modifier string) bool {
	for c := range w.Children(n) {
		if w.Kind(c) == "modifier" && w.Content(c) == modifier {
			return true
		}
	}
	return false
}

var csKinds = map[string]domain.SymbolKind{
	"class_declaration": domain.KindClass, "struct_declaration": domain.KindStruct, "record_declaration": domain.KindClass,
	"interface_declaration": domain.KindInterface,
}

func csClass(w *walker, n int) {
	body := w.Field(n, "body")
	d := definition{
		kind: csKinds[w.Kind(n)], name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: csFrom(w, n), body: body,
		exported: csHas(w, n, "public"),
	}
	w.push()
	defer w.pop()
	csTypeParameters(w, n)
	d.bases = csBases(w, n, d.kind)
	d.fields = csFields(w, n, body)
	w.bindFields(d.fields)
	w.within(w.define(d), func() {
		for c := range w.Children(n) {
			switch w.Kind(c) {
			case "attribute_list", "type_parameter_constraints_clause", "parameter_list":
				w.inside(c)
			case "base_list":
				csBaseArguments(w, c)
			}
		}
		w.typed(dotted(w.owner, d.name), d.bases, func() { w.inside(body) })
	})
}

func csTypeParameters(w *walker, n int) {
	for c := range w.Children(w.Child(n, "type_parameter_list")) {
		if w.Kind(c) == "type_parameter" {
			w.bind(w.Content(w.Field(c, "name")), binding{typeParam: true})
		}
	}
	for c := range w.Children(n) {
		if w.Kind(c) != "type_parameter_constraints_clause" {
			continue
		}
		if bound := w.First(w.Child(c, "type_parameter_constraint")); bound >= 0 {
			w.bind(w.Content(w.First(c)), binding{typ: csType(w, bound), typeParam: true})
		}
	}
}

// csBases reads a list of bases. By the convention of the language the names of interfaces
// begin with I and another capital.
func csBases(w *walker, n int, kind domain.SymbolKind) (bases []domain.TypeRef) {
	for c := range w.Children(w.Child(n, "base_list")) {
		name := c
		switch w.Kind(c) {
		case "primary_constructor_base_type":
			name = w.Field(c, "type")
		case "identifier", "generic_name", "qualified_name":
		default:
			continue
		}
		text, _ := splitType(fold(w.Content(name), maxChain), '<', '>')
		edge := domain.EdgeInherits
		if last := lastPart(text); kind != domain.KindInterface && (kind == domain.KindStruct || len(last) > 1 && last[0] == 'I' && upperFirst(last[1:])) {
			edge = domain.EdgeImplements
		}
		bases = append(bases, w.base(c, text, edge))
	}
	return bases
}

func csBaseArguments(w *walker, list int) {
	for c := list; c < w.End(list); c++ {
		switch w.Kind(c) {
		case "type_argument_list":
			csTypeUse(w, c)
			c = w.End(c) - 1
		case "argument_list":
			w.visit(c)
			c = w.End(c) - 1
		}
	}
}

func csFields(w *walker, n, body int) (fields []domain.Field) {
	add := func(name, typ int) {
		if text := csType(w, typ); text != "" {
			fields = append(fields, domain.Field{Name: w.intern(w.Content(name)), Type: w.intern(text)})
		}
	}
	for p := range w.Children(w.Child(n, "parameter_list")) {
		add(w.Field(p, "name"), w.Field(p, "type"))
	}
	for c := range w.Children(body) {
		switch w.Kind(c) {
		case "field_declaration", "event_field_declaration":
			list := w.Child(c, "variable_declaration")
			for v := range w.Children(list) {
				if w.Kind(v) == "variable_declarator" {
					add(w.Field(v, "name"), w.Field(list, "type"))
				}
			}
		case "property_declaration":
			add(w.Field(c, "name"), w.Field(c, "type"))
		}
	}
	return fields
}

func csEnum(w *walker, n int) {
	name, body := w.Content(w.Field(n, "name")), w.Field(n, "body")
	path := dotted(w.owner, name)
	public := csHas(w, n, "public")
	symbol := w.define(definition{kind: domain.KindEnum, name: name, owner: w.owner, node: n, from: csFrom(w, n), body: body, exported: public})
	w.within(symbol, func() {
		w.visit(w.Child(n, "attribute_list"))
		for c := range w.Children(body) {
			if w.Kind(c) != "enum_member_declaration" {
				w.visit(c)
				continue
			}
			w.define(definition{
				kind: domain.KindConstant, name: w.Content(w.Field(c, "name")), owner: path, node: c, from: csFrom(w, c), typ: path, exported: public,
			})
			w.visit(w.Field(c, "value"))
		}
	})
}

func csDelegate(w *walker, n int) {
	symbol := w.define(definition{
		kind: domain.KindType, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: csFrom(w, n), typ: "func", exported: csHas(w, n, "public"),
	})
	w.within(symbol, func() {
		w.push()
		csTypeUse(w, w.Field(n, "type"))
		w.visit(w.Field(n, "parameters"))
		w.pop()
	})
}

// csMethodName names what has no name of its own.
func csMethodName(w *walker, n int) string {
	switch w.Kind(n) {
	case "operator_declaration":
		return "operator " + w.Content(w.Field(n, "operator"))
	case "conversion_operator_declaration":
		return "operator " + fold(w.Content(w.Field(n, "type")), maxChain)
	case "indexer_declaration":
		return "this[]"
	case "destructor_declaration":
		return "~" + w.Content(w.Field(n, "name"))
	}
	return w.Content(w.Field(n, "name"))
}

func csMethod(w *walker, n int) {
	body := w.Field(n, "body")
	d := definition{
		kind: domain.KindMethod, name: csMethodName(w, n), owner: w.owner, node: n, from: csFrom(w, n), body: body,
		exported: csHas(w, n, "public") || w.kindOf(w.symbol) == domain.KindInterface,
	}
	for _, role := range []string{"value", "accessors"} {
		if part := w.Field(n, role); part >= 0 && body < 0 {
			d.body = part
		}
	}
	if list := w.Child(n, "constructor_initializer"); list >= 0 {
		d.body = list
	}
	if w.Kind(n) == "local_function_statement" {
		d.kind = domain.KindFunction
	}
	w.push()
	defer w.pop()
	csTypeParameters(w, n)
	result := w.Field(n, "returns")
	if result < 0 {
		result = w.Field(n, "type")
	}
	d.typ = csType(w, result)
	w.within(w.define(d), func() {
		w.belonging(dotted(w.owner, d.name), func() {
			for c := range w.Children(n) {
				if w.Kind(c) == "attribute_list" {
					w.inside(c)
				}
			}
			csTypeUse(w, result)
			w.others(n, "name", "returns", "type", "operator", "interface_specifier")
		})
	})
}

// csProperty reads a property; one with code is a method too.
func csProperty(w *walker, n int) {
	value, accessors := w.Field(n, "value"), w.Field(n, "accessors")
	code := w.Kind(value) == "arrow_expression_clause"
	for c := range w.Children(accessors) {
		code = code || w.Field(c, "body") >= 0
	}
	symbol := -1
	if code {
		symbol = w.define(definition{
			kind: domain.KindMethod, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: csFrom(w, n), body: max(value, accessors),
			typ: csType(w, w.Field(n, "type")), exported: csHas(w, n, "public"),
		})
	}
	w.within(symbol, func() {
		csTypeUse(w, w.Field(n, "type"))
		w.push()
		w.bindLocal("value", csType(w, w.Field(n, "type")))
		w.others(n, "type", "name")
		w.pop()
	})
}

func csField(w *walker, n int) {
	list := w.Child(n, "variable_declaration")
	typ := w.Field(list, "type")
	constant := csHas(w, n, "const") || csHas(w, n, "static") && csHas(w, n, "readonly")
	w.visit(w.Child(n, "attribute_list"))
	csTypeUse(w, typ)
	for c := range w.Children(list) {
		if w.Kind(c) != "variable_declarator" {
			continue
		}
		symbol := -1
		if constant {
			symbol = w.define(definition{
				kind: domain.KindConstant, name: w.Content(w.Field(c, "name")), owner: w.owner, node: n, from: csFrom(w, n),
				typ: csType(w, typ), exported: csHas(w, n, "public"),
			})
		}
		w.within(symbol, func() { w.others(c, "name") })
	}
}

func csAttribute(w *walker, n int) {
	w.uses(n, strings.TrimSpace(w.Content(w.Field(n, "name"))))
	for c := n; c < w.End(n); c++ {
		if k := w.Kind(c); k == "assignment_expression" || k == "attribute_argument" && w.Field(c, "name") >= 0 {
			w.visit(w.Last(c)) // what is left of it is a parameter's name
			c = w.End(c) - 1
		} else if k == "attribute_argument" && w.Kind(w.First(c)) != "assignment_expression" {
			w.inside(c)
			c = w.End(c) - 1
		}
	}
}

// csInitializer reads : base(…) and : this(…).
func csInitializer(w *walker, n int) {
	list := w.Child(n, "argument_list")
	c := call{node: n, name: lastPart(w.self), receiver: none, args: w.arguments(list)}
	if w.Child(n, "base") >= 0 {
		c.name = lastPart(w.super)
	}
	w.calls(c)
	w.visit(list)
}

// csDoc takes the tags of documentation comments away.
func csDoc(doc string) string { return strings.TrimSpace(docTags.ReplaceAllString(doc, "")) }

var docTags = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)

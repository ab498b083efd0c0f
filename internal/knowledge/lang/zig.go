package lang

import (
	"strings"

	grammarzig "github.com/tree-sitter-grammars/tree-sitter-zig/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("zig", zigRules) }

func zigRules() rules {
	return rules{
		grammar:  grammarzig.Language,
		comments: []string{"comment"},
		builtins: "std Self type anytype anyerror",
		on: map[string]handler{
			"variable_declaration":        zigVariable,
			"function_declaration":        zigFunction,
			"test_declaration":            zigTest,
			"container_field":             zigField,
			"struct_declaration":          zigContainer,
			"union_declaration":           zigContainer,
			"parameter":                   zigParameter,
			"block":                       scoped,
			"for_statement":               zigPayload,
			"if_statement":                zigPayload,
			"if_expression":               zigPayload,
			"while_statement":             zigPayload,
			"switch_case":                 zigPayload,
			"catch_expression":            zigPayload,
			"call_expression":             zigCall,
			"field_expression":            func(w *walker, n int) { w.visit(w.Field(n, "object")) },
			"identifier":                  zigName,
			"using_namespace_declaration": zigUsing,
		},
	}
}

// zigImported gives the file of @import("file"), and the member taken from it.
func zigImported(w *walker, n int) (target, member string) {
	for w.Kind(n) == "field_expression" {
		member = dotted(w.Content(w.Field(n, "member")), member)
		n = w.Field(n, "object")
	}
	if w.Kind(n) != "builtin_function" || w.Content(w.First(n)) != "@import" {
		return "", ""
	}
	return unquote(w.Content(w.First(w.Child(n, "arguments")))), member
}

// zigUsing reads usingnamespace, which takes over all that a container declares.
func zigUsing(w *walker, n int) {
	if target, _ := zigImported(w, w.First(n)); target != "" {
		w.importing(n, target, "*", "")
		return
	}
	w.inside(n)
}

// zigName notes a type that is named; what follows "error." is none.
func zigName(w *walker, n int) {
	start := w.Nodes[n].Start
	if !strings.HasSuffix(w.Text[start-min(start, 6):start], "error.") {
		nameUse(w, n)
	}
}

// zigValue gives the initializer of a variable.
func zigValue(w *walker, n int) int {
	value := w.Last(n)
	if value == w.Child(n, "identifier") || value == w.Field(n, "type") {
		return none
	}
	return value
}

var zigKinds = map[string]domain.SymbolKind{
	"struct_declaration": domain.KindStruct, "union_declaration": domain.KindStruct, "opaque_declaration": domain.KindStruct,
	"enum_declaration": domain.KindEnum, "error_set_declaration": domain.KindEnum,
}

// zigVariable reads const and var: of a file or a container they are symbols, and types are
// what their value says.
func zigVariable(w *walker, n int) {
	nameNode := w.Child(n, "identifier")
	name, value, typ := w.Content(nameNode), zigValue(w, n), w.Field(n, "type")
	if target, member := zigImported(w, value); target != "" {
		w.importing(n, target, member, name)
		return
	}
	text := zigType(w, typ)
	if text == "" {
		text = zigTypeOf(w, value, maxSteps)
	}
	inContainer := w.owner == "" && w.symbol < 0 || w.self != "" && w.owner == w.self
	if !inContainer {
		w.visit(typ)
		if kind := zigKinds[w.Kind(value)]; kind != "" {
			zigDefine(w, n, value, name, kind)
			return
		}
		w.visit(value)
		w.bindLocal(name, text)
		return
	}
	if w.Kind(value) == "builtin_function" && w.Content(w.First(value)) == "@This" {
		w.bind(name, binding{typ: w.self, typeParam: true})
		return
	}
	if kind := zigKinds[w.Kind(value)]; kind != "" {
		zigDefine(w, n, value, name, kind)
		return
	}
	d := definition{kind: domain.KindConstant, name: name, owner: w.owner, node: n, typ: text, exported: w.Child(n, "pub") >= 0}
	if k := w.Kind(value); upperFirst(name) && name != strings.ToUpper(name) && (k == "field_expression" || k == "identifier" || k == "error_union_type") {
		d.kind = domain.KindType
	} else {
		w.bind(name, binding{typ: text})
	}
	w.within(w.define(d), func() {
		w.visit(typ)
		w.visit(value)
	})
}

// zigDefine notes a container type.
func zigDefine(w *walker, n, value int, name string, kind domain.SymbolKind) {
	path := dotted(w.owner, name)
	d := definition{kind: kind, name: name, owner: w.owner, node: n, body: w.Child(value, "{"), exported: w.Child(n, "pub") >= 0}
	if kind == domain.KindStruct {
		d.fields = zigFields(w, value)
	}
	w.within(w.define(d), func() {
		w.push()
		w.bind("@This()", binding{typ: path, typeParam: true})
		w.typed(path, nil, func() {
			if w.Kind(value) == "error_set_declaration" {
				for c := range w.Children(value) {
					if w.Kind(c) == "identifier" {
						w.define(definition{kind: domain.KindConstant, name: w.Content(c), owner: path, node: c, typ: path, exported: d.exported})
					}
				}
				return
			}
			w.inside(value)
		})
		w.pop()
	})
}

func zigFields(w *walker, n int) (fields []domain.Field) {
	for c := range w.Children(n) {
		if typ := zigType(w, w.Field(c, "type")); w.Kind(c) == "container_field" && typ != "" {
			fields = append(fields, domain.Field{Name: w.intern(w.Content(w.Field(c, "name"))), Type: w.intern(typ)})
		}
	}
	return fields
}

// zigContainer walks a container without a name: that of a generic type is named by the
// function that returns it.
func zigContainer(w *walker, n int) {
	up := w.Parent(n)
	if w.Kind(up) != "return_expression" || w.symbol < 0 || !w.kindOf(w.symbol).Function() || !upperFirst(w.facts.Symbols[w.symbol].Name) {
		scoped(w, n)
		return
	}
	s := &w.facts.Symbols[w.symbol]
	s.Fields = zigFields(w, n)
	name := s.QualifiedName()
	for _, f := range s.Fields {
		w.fieldTypes[name+"."+f.Name] = f.Type
	}
	w.push()
	w.bind("@This()", binding{typ: name, typeParam: true})
	w.typed(name, nil, func() { w.inside(n) })
	w.pop()
}

// zigField reads a field; that of an enum is a constant.
func zigField(w *walker, n int) {
	if w.kindOf(w.symbol) == domain.KindEnum && w.owner == w.self {
		w.define(definition{kind: domain.KindConstant, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, typ: w.self, exported: true})
		return
	}
	w.others(n, "name")
}

func zigFunction(w *walker, n int) {
	body := w.Field(n, "body")
	d := definition{
		kind: domain.KindFunction, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, body: max(body, 0),
		typ: zigType(w, w.Field(n, "type")), exported: w.Child(n, "pub") >= 0 || w.Child(n, "export") >= 0,
	}
	if w.self != "" && w.owner == w.self {
		d.kind = domain.KindMethod
	}
	w.within(w.define(d), func() {
		w.push()
		w.visit(w.Child(n, "parameters"))
		w.visit(w.Field(n, "type"))
		w.belonging(dotted(w.owner, d.name), func() { w.visit(body) })
		w.pop()
	})
}

func zigTest(w *walker, n int) {
	d := definition{kind: domain.KindFunction, name: "test", owner: w.owner, node: n, body: w.Child(n, "block")}
	if name := w.First(n); w.Kind(name) != "block" {
		d.name += " " + unquote(w.Content(name))
	}
	symbol := w.define(d)
	w.within(symbol, func() {
		w.belonging(dotted(w.owner, "test"), func() { w.visit(w.Child(n, "block")) })
	})
}

func zigParameter(w *walker, n int) {
	typ := w.Field(n, "type")
	w.visit(typ)
	name := w.Content(w.Field(n, "name"))
	if w.Content(typ) == "type" {
		w.bind(name, binding{typeParam: true, local: true})
		return
	}
	w.bindLocal(name, zigType(w, typ))
}

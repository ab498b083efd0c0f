package lang

import (
	"strings"

	grammarlua "github.com/tree-sitter-grammars/tree-sitter-lua/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("lua", luaRules) }

func luaRules() rules {
	return rules{
		grammar:  grammarlua.Language,
		comments: []string{"comment"},
		builtins: `print require pairs ipairs type tostring tonumber setmetatable getmetatable rawget rawset assert error pcall xpcall select next
			unpack collectgarbage dofile loadfile load`,
		enter: luaTables,
		leave: noteAssertions,
		on: map[string]handler{
			"function_declaration": luaFunction,
			"function_definition":  luaClosure,
			"assignment_statement": luaAssignment,
			"variable_declaration": luaDeclaration,
			"function_call":        luaCall,
			"block":                scoped,
			"for_statement":        luaFor,
			"dot_index_expression": func(w *walker, n int) { w.visit(w.Field(n, "table")) },
		},
	}
}

// luaTables finds the tables that functions are defined on: they are the classes of the
// language.
func luaTables(w *walker, root int) {
	for n := root; n < w.End(root); n++ {
		switch w.Kind(n) {
		case "function_declaration":
			if table := w.Field(w.Field(n, "name"), "table"); table >= 0 {
				w.seen[w.Content(table)] = true
			}
		case "function_call":
			if base := luaMeta(w, n); base != "" && w.Content(w.Field(n, "name")) == "setmetatable" {
				w.asserted = append(w.asserted, assertion{
					name: w.Content(w.First(w.Field(n, "arguments"))), base: w.base(n, base, domain.EdgeInherits),
				})
			}
		}
	}
}

// luaMeta gives the table that setmetatable(t, {__index = Base}) inherits from.
func luaMeta(w *walker, n int) string {
	table := w.Last(w.Field(n, "arguments"))
	if w.Kind(table) != "table_constructor" {
		return ""
	}
	for c := range w.Children(table) {
		if w.Content(w.Field(c, "name")) == "__index" && w.Kind(w.Field(c, "value")) == "identifier" {
			return w.Content(w.Field(c, "value"))
		}
	}
	return ""
}

func luaFunction(w *walker, n int) {
	luaDefine(w, n, n, w.Field(n, "name"), w.FieldName(n) != "local_declaration")
}

// luaDefine notes a function whose parts are those of function, under a name that may be
// one of a table.
func luaDefine(w *walker, n, function, name int, exported bool) {
	d := definition{
		kind: domain.KindFunction, name: w.Content(name), owner: w.owner, node: n, until: w.Field(function, "parameters"), exported: exported,
	}
	self := w.self
	switch w.Kind(name) {
	case "dot_index_expression":
		d.name, d.owner = w.Content(w.Field(name, "field")), fold(w.Content(w.Field(name, "table")), maxChain)
		if b, _ := w.lookup(d.owner); d.owner == "self" && b.typ != "" {
			d.owner = b.typ
		}
	case "method_index_expression":
		d.name, d.owner = w.Content(w.Field(name, "method")), fold(w.Content(w.Field(name, "table")), maxChain)
		d.kind, self = domain.KindMethod, d.owner
	}
	if w.owner != "" {
		d.exported = false
	}
	w.within(w.define(d), func() {
		was := w.self
		w.self = self
		w.push()
		if d.kind == domain.KindMethod {
			w.bindLocal("self", d.owner)
		}
		luaParameters(w, function)
		w.belonging(dotted(d.owner, d.name), func() { w.visit(w.Field(function, "body")) })
		w.pop()
		w.self = was
	})
}

func luaParameters(w *walker, n int) {
	for c := range w.Children(w.Field(n, "parameters")) {
		if w.Kind(c) == "identifier" && w.Content(c) != "self" {
			w.bindLocal(w.Content(c), "")
		}
	}
}

func luaClosure(w *walker, n int) {
	w.push()
	luaParameters(w, n)
	w.visit(w.Field(n, "body"))
	w.pop()
}

// luaDeclaration reads local variables.
func luaDeclaration(w *walker, n int) {
	if assignment := w.Child(n, "assignment_statement"); assignment >= 0 {
		luaAssign(w, assignment, n, true)
		return
	}
	for c := range w.Children(w.Child(n, "variable_list")) {
		w.bindLocal(w.Content(c), "")
	}
}

func luaAssignment(w *walker, n int) { luaAssign(w, n, n, false) }

// luaAssign reads an assignment: at file level its names are symbols.
func luaAssign(w *walker, n, whole int, local bool) {
	names, values := w.named(w.Child(n, "variable_list")), w.named(w.Child(n, "expression_list"))
	for i, name := range names {
		value := none
		if i < len(values) {
			value = values[i]
		}
		switch {
		case w.Kind(value) == "function_definition" && (w.symbol < 0 || w.Kind(name) == "dot_index_expression"):
			luaDefine(w, whole, value, name, !local)
		case w.Kind(name) == "identifier":
			luaVariable(w, whole, name, value, local)
		default:
			luaMember(w, whole, name, value)
		}
	}
	for i := len(names); i < len(values); i++ {
		w.visit(values[i])
	}
}

func luaVariable(w *walker, whole, name, value int, local bool) {
	text := w.Content(name)
	if module := luaRequired(w, value); module != "" {
		w.importing(whole, module, "", text)
		return
	}
	typ := luaTypeOf(w, value, maxSteps)
	if w.symbol >= 0 || w.owner != "" {
		w.visit(value)
		if local {
			w.bindLocal(text, typ)
		}
		return
	}
	if w.seen["variable "+text] {
		w.visit(value)
		return
	}
	w.seen["variable "+text] = true
	d := definition{kind: domain.KindConstant, name: text, node: whole, typ: typ, exported: !local}
	if w.seen[text] {
		d.kind, d.typ, d.exported, typ = domain.KindClass, "", true, text
		if base := luaMeta(w, value); base != "" {
			d.bases = append(d.bases, w.base(whole, base, domain.EdgeInherits))
		}
	} else if w.Kind(value) == "table_constructor" {
		d.typ, typ = "", text
	}
	w.bind(text, binding{typ: typ})
	if w.Kind(value) == "table_constructor" {
		d.body = value
	}
	w.within(w.define(d), func() {
		if w.Kind(value) == "table_constructor" {
			luaTable(w, value, text)
			return
		}
		w.visit(value)
	})
}

// luaTable walks a table of the file; the functions in it belong to it.
func luaTable(w *walker, table int, owner string) {
	for c := range w.Children(table) {
		value, name := w.Field(c, "value"), w.Field(c, "name")
		if w.Kind(value) == "function_definition" && w.Kind(name) == "identifier" {
			w.belonging(owner, func() { luaDefine(w, c, value, name, true) })
			continue
		}
		w.visit(value)
	}
}

// luaMember reads an assignment to a member: of self it is a field of the class, of a table
// of the file a constant.
func luaMember(w *walker, whole, name, value int) {
	w.visit(w.Field(name, "table"))
	table, field := w.Content(w.Field(name, "table")), w.Content(w.Field(name, "field"))
	typ := luaTypeOf(w, value, maxSteps)
	symbol := -1
	if w.symbol < 0 && w.Kind(name) == "dot_index_expression" && field != "__index" {
		symbol = w.define(definition{
			kind: domain.KindConstant, name: field, owner: fold(table, maxChain), node: whole, typ: typ, exported: !strings.HasPrefix(field, "_"),
		})
	} else if b, _ := w.lookup(table); table == "self" && b.typ != "" && typ != "" {
		luaField(w, b.typ, field, typ)
	}
	w.within(symbol, func() { w.visit(value) })
}

// luaField adds a field to the class of that name.
func luaField(w *walker, class, field, typ string) {
	key := class + "." + field
	if _, known := w.fieldTypes[key]; known {
		return
	}
	for i := range w.facts.Symbols {
		s := &w.facts.Symbols[i]
		if s.Name == class && s.Kind == domain.KindClass {
			w.fieldTypes[key] = typ
			s.Fields = append(s.Fields, domain.Field{Name: w.intern(field), Type: w.intern(typ)})
			return
		}
	}
}

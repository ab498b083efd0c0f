package lang

import "strings"

// luaContainers knows none: types are not written.
var luaContainers = containers{open: '<', shut: '>'}

var luaTypes = typer{containers: &luaContainers, names: words("identifier"), paths: words("dot_index_expression")}

func init() { luaTypes.of = luaTypeOf }

// luaRequired gives the module of require("module").
func luaRequired(w *walker, n int) string {
	if w.Kind(n) != "function_call" || w.Content(w.Field(n, "name")) != "require" {
		return ""
	}
	arg := w.First(w.Field(n, "arguments"))
	return w.Content(w.Field(arg, "content"))
}

func luaFor(w *walker, n int) {
	w.push()
	clause := w.Field(n, "clause")
	w.visit(w.Child(clause, "expression_list"))
	for c := range w.Children(w.Child(clause, "variable_list")) {
		w.bindLocal(w.Content(c), "")
	}
	if name := w.Field(clause, "name"); name >= 0 {
		w.bindLocal(w.Content(name), "number")
		w.others(clause, "name")
	}
	w.visit(w.Field(n, "body"))
	w.pop()
}

func luaCall(w *walker, n int) {
	name, list := w.Field(n, "name"), w.Field(n, "arguments")
	if module := luaRequired(w, n); module != "" {
		w.importing(n, module, "", "")
		return
	}
	c := call{node: n, receiver: none, args: w.arguments(list, "vararg_expression")}
	switch w.Kind(name) {
	case "identifier":
		if c.name = w.Content(name); w.g.builtins[c.name] && !w.isLocal(c.name) {
			c.name = ""
		}
	case "dot_index_expression", "method_index_expression":
		field := w.Field(name, "field")
		if field < 0 {
			field = w.Field(name, "method")
		}
		c.node, c.name, c.receiver = field, w.Content(field), w.Field(name, "table")
		c.recvType = luaTypes.receiver(w, c.receiver)
		w.visit(c.receiver)
	default:
		w.visit(name)
	}
	w.calls(c)
	w.visit(list)
}

var luaLiterals = map[string]string{"string": "string", "number": "number", "true": "boolean", "false": "boolean", "table_constructor": "table"}

// luaTypeOf gives the type of an expression as far as the file tells, as a chain.
func luaTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier":
		return luaTypes.name(w, w.Content(n))
	case "dot_index_expression":
		return luaTypes.member(w, w.Field(n, "table"), w.Content(w.Field(n, "field")), steps)
	case "bracket_index_expression":
		if typ := luaTypeOf(w, w.Field(n, "table"), steps); typ != "table" {
			return step(typ, "[]")
		}
	case "function_call":
		return luaCallType(w, n, steps)
	case "parenthesized_expression":
		return luaTypeOf(w, w.First(n), steps)
	case "binary_expression":
		if w.Content(w.Field(n, "operator")) == "or" {
			if typ := luaTypeOf(w, w.Field(n, "left"), steps); typ != "" {
				return typ
			}
			return luaTypeOf(w, w.Field(n, "right"), steps)
		}
	}
	return luaLiterals[w.Kind(n)]
}

func luaCallType(w *walker, n, steps int) string {
	name := w.Field(n, "name")
	switch w.Kind(name) {
	case "identifier":
		text := w.Content(name)
		if text == "setmetatable" {
			if base := luaMeta(w, n); base != "" {
				return base
			}
			return luaTypeOf(w, w.Last(w.Field(n, "arguments")), steps)
		}
		if w.isLocal(text) || w.g.builtins[text] {
			return ""
		}
		return text + "()"
	case "dot_index_expression", "method_index_expression":
		table, field := w.Field(name, "table"), w.Content(w.Field(name, "field"))+w.Content(w.Field(name, "method"))
		typ := luaTypeOf(w, table, steps)
		if field == "new" && !strings.Contains(typ, "!") {
			return typ // by convention
		}
		return luaTypes.access(w, table, typ, field+"()")
	}
	return ""
}

package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

func rubyBlock(w *walker, n int) { scoped(w, n) }

func rubyRescue(w *walker, n int) {
	exceptions := w.Field(n, "exceptions")
	w.visit(exceptions)
	typ := ""
	if only := w.First(exceptions); only >= 0 && only == w.Last(exceptions) {
		typ = rubyTypeOf(w, only, maxSteps)
	}
	w.bindLocal(w.Content(w.First(w.Field(n, "variable"))), typ)
	w.visit(w.Field(n, "body"))
}

func rubyFor(w *walker, n int) {
	w.visit(w.Field(n, "value"))
	if pattern := w.Field(n, "pattern"); w.Kind(pattern) == "identifier" {
		w.bindLocal(w.Content(pattern), "")
	}
	w.visit(w.Field(n, "body"))
}

// rubyIdentifier reads a lone name: what is no local variable is a call.
func rubyIdentifier(w *walker, n int) {
	name := w.Content(n)
	switch name {
	case "private", "protected":
		if w.Kind(w.Parent(n)) == "body_statement" {
			w.hidden = true
		}
	case "public":
		w.hidden = false
	}
	if w.isLocal(name) || w.g.builtins[name] {
		return
	}
	if name == "new" && w.self != "" {
		name = lastPart(w.self)
	}
	w.calls(call{node: n, name: name, receiver: none})
}

// rubySuper reads super, with or without arguments: the method of the same name of the base.
func rubySuper(w *walker, n int) {
	if up := w.Parent(n); w.Kind(up) == "call" && w.Field(up, "method") == n {
		return
	}
	w.calls(rubySuperCall(w, n, 0))
}

func rubySuperCall(w *walker, n, args int) call {
	name := ""
	if w.symbol >= 0 {
		name = w.facts.Symbols[w.symbol].Name
	}
	return call{node: n, name: name, receiver: none, before: "super", recvType: w.super, args: args}
}

func rubyCall(w *walker, n int) {
	receiver, method, list := w.Field(n, "receiver"), w.Field(n, "method"), w.Field(n, "arguments")
	name := w.Content(method)
	if receiver < 0 && rubyDeclares(w, n, name, list) {
		return
	}
	c := call{node: n, name: name, receiver: receiver, args: w.arguments(list, "splat_argument", "hash_splat_argument", "block_argument")}
	if list >= 0 && c.args == -1 && w.Kind(w.Last(list)) == "block_argument" {
		c.args = w.arguments(list) - 1
	}
	switch {
	case w.Kind(method) == "super":
		c = rubySuperCall(w, n, c.args)
	case receiver < 0:
		if name == "new" && w.self != "" {
			c.name = lastPart(w.self)
		} else if w.g.builtins[name] {
			c.name = ""
		}
	case name == "new" && (w.Kind(receiver) == "constant" || w.Kind(receiver) == "scope_resolution"):
		text := fold(w.Content(receiver), maxChain)
		c.name, c.receiver = lastPart(text), none
		c.before = strings.TrimSuffix(strings.TrimSuffix(text, c.name), "::")
		if w.g.builtins[c.name] {
			c.name = ""
		}
		receiver = none
	default:
		c.node = max(method, n)
		c.recvType = rubyReceiverType(w, receiver)
	}
	w.calls(c)
	w.visit(receiver)
	w.visit(list)
	w.visit(w.Field(n, "block"))
}

// rubyDeclares reads the calls that declare something: imports, accessors, visibility.
func rubyDeclares(w *walker, n int, name string, list int) bool {
	first := w.First(list)
	switch name {
	case "require", "require_relative", "load":
		if w.Kind(first) != "string" {
			return false
		}
		target := unquote(w.Content(first))
		if name == "require_relative" && !strings.HasPrefix(target, ".") {
			target = "./" + target
		}
		w.importing(n, target, "", "")
	case "autoload":
		w.importing(n, unquote(w.Content(w.Last(list))), strings.TrimPrefix(w.Content(first), ":"), "")
	case "include", "extend", "prepend":
		if w.self == "" {
			return false
		}
	case "attr_reader", "attr_accessor", "attr_writer":
		for c := range w.Children(list) {
			if w.Kind(c) == "simple_symbol" {
				field := strings.TrimPrefix(w.Content(c), ":")
				b, _ := w.lookup("@" + field)
				w.define(definition{kind: domain.KindMethod, name: field, owner: w.owner, node: n, typ: b.typ, exported: !w.hidden})
			}
		}
	case "private", "protected", "private_class_method":
		hidden := w.hidden
		w.hidden = true
		w.visit(list)
		w.hidden = hidden
	case "alias_method":
		w.define(definition{kind: domain.KindMethod, name: strings.TrimPrefix(w.Content(first), ":"), owner: w.owner, node: n, exported: !w.hidden})
	case "define_method":
		symbol := w.define(definition{
			kind: domain.KindMethod, name: strings.Trim(w.Content(first), ":\"'"), owner: w.owner, node: n, until: list, exported: !w.hidden,
		})
		w.within(symbol, func() { w.visit(w.Field(n, "block")) })
	default:
		return false
	}
	return true
}

// rubyReceiverType is rubyTypeOf, but nothing for a constant: it stands for the class itself.
func rubyReceiverType(w *walker, n int) string {
	switch w.Kind(n) {
	case "constant", "scope_resolution":
		return ""
	case "identifier":
		if b, ok := w.lookup(w.Content(n)); ok {
			return b.typ
		}
		return w.Content(n) + "()"
	}
	return rubyTypeOf(w, n, maxSteps)
}

var rubyLiterals = map[string]string{
	"string": "String", "integer": "Integer", "float": "Float", "array": "Array", "hash": "Hash", "simple_symbol": "Symbol", "string_array": "Array", "regex": "Regexp",
}

// rubyTypeOf gives the type of an expression as far as the file tells, as a chain.
func rubyTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier", "instance_variable", "class_variable":
		b, _ := w.lookup(w.Content(n))
		return b.typ
	case "self":
		return w.self
	case "constant", "scope_resolution":
		return fold(w.Content(n), maxChain)
	case "call":
		return rubyCallType(w, n, steps)
	case "parenthesized_statements":
		return rubyTypeOf(w, w.Last(n), steps)
	case "element_reference":
		return step(rubyTypeOf(w, w.Field(n, "object"), steps), "[]")
	case "binary":
		if op := w.Content(w.Field(n, "operator")); op != "||" && op != "or" {
			return ""
		}
		if typ := rubyTypeOf(w, w.Field(n, "left"), steps); typ != "" {
			return typ
		}
		return rubyTypeOf(w, w.Field(n, "right"), steps)
	case "assignment":
		return rubyTypeOf(w, w.Field(n, "right"), steps)
	case "conditional":
		return rubyTypeOf(w, w.Field(n, "consequence"), steps)
	}
	return rubyLiterals[w.Kind(n)]
}

func rubyCallType(w *walker, n, steps int) string {
	receiver, method := w.Field(n, "receiver"), w.Field(n, "method")
	name := w.Content(method)
	if w.Kind(method) != "identifier" && w.Kind(method) != "constant" {
		return ""
	}
	switch {
	case receiver < 0 && name == "new":
		return w.self
	case receiver < 0:
		return name + "()"
	}
	typ := rubyTypeOf(w, receiver, steps)
	if w.Kind(receiver) == "identifier" && typ == "" && !w.isLocal(w.Content(receiver)) {
		typ = w.Content(receiver) + "()"
	}
	switch name {
	case "new", "freeze", "dup", "tap", "itself", "clone", "then":
		return typ
	}
	return step(typ, name+"()")
}

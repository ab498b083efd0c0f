package lang

import "strings"

// rustAttribute notes nothing: what attributes hold is no code of the file.
func rustAttribute(*walker, int) {}

// rustMacroCall notes the call of a macro, and the calls among its arguments. Those are
// tokens only: the grammar can't know what the macro makes of them.
func rustMacroCall(w *walker, n int) {
	macro := w.Field(n, "macro")
	c := call{node: n, receiver: none, args: -1}
	if w.Kind(macro) == "scoped_identifier" {
		c.name, c.receiver = w.Content(w.Field(macro, "name")), w.Field(macro, "path")
	} else if name := w.Content(macro); !w.g.builtins[name] {
		c.name = name
	}
	w.calls(c)
	rustTokens(w, w.Child(n, "token_tree"))
}

// rustTokens finds calls in tokens: a name right before a parenthesis.
func rustTokens(w *walker, tree int) {
	var tokens []int
	for c := tree + 1; tree >= 0 && c < w.End(tree); c++ {
		if w.Kind(c) != "token_tree" {
			tokens = append(tokens, c)
		}
	}
	for i := 0; i+1 < len(tokens); i++ {
		name, next := tokens[i], tokens[i+1]
		if w.Kind(name) != "identifier" || w.Kind(next) != "(" || w.g.builtins[w.Content(name)] {
			continue
		}
		rustTokenCall(w, tokens, i)
	}
}

// rustTokenCall notes the call of the i-th token, with the path or the fields before it.
func rustTokenCall(w *walker, tokens []int, i int) {
	name := tokens[i]
	c := call{node: name, name: w.Content(name), receiver: none, args: -1}
	first := i
	for first >= 2 {
		k := w.Kind(tokens[first-1])
		before := w.Kind(tokens[first-2])
		if k != "." && k != "::" || before != "identifier" && before != "self" && before != "crate" && before != "super" {
			break
		}
		first -= 2
	}
	if first > 0 && (w.Kind(tokens[first-1]) == "." || w.Kind(tokens[first-1]) == "fn") {
		if w.Kind(tokens[first-1]) == "fn" {
			return
		}
		c.before = "…" // a member of something longer
	}
	if first < i {
		c.before = w.Text[w.Nodes[tokens[first]].Start:w.Nodes[tokens[i-1]].Start]
		c.recvType = rustTokenType(w, tokens[first:i])
		if path := tokens[i-2]; w.Kind(tokens[i-1]) == "::" && upperFirst(w.Content(path)) {
			w.uses(path, w.Content(path))
		}
	}
	w.calls(c)
}

// rustTokenType gives the type of "a.b." or "T::" before a name.
func rustTokenType(w *walker, tokens []int) string {
	head := w.Content(tokens[0])
	if w.Kind(tokens[1]) == "::" {
		if head == "Self" {
			return w.self
		}
		if upperFirst(head) && len(tokens) == 2 {
			return head
		}
		return ""
	}
	typ := w.self
	if head != "self" {
		b, _ := w.lookup(head)
		typ = b.typ
	}
	for i := 2; i < len(tokens); i += 2 {
		if w.Kind(tokens[i-1]) != "." {
			return ""
		}
		typ = w.fieldOf(typ, strings.TrimSpace(w.Content(tokens[i])))
	}
	return typ
}

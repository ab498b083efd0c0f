package lang

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
		if w.Kind(name) != "identifier" || w.Kind(next) != "(" {
			continue
		}
		text, plain := w.Content(name), i == 0 || w.Kind(tokens[i-1]) != "." && w.Kind(tokens[i-1]) != "::"
		if !plain || !w.g.builtins[text] || rustMacros[text] {
			rustTokenCall(w, tokens, i)
		}
	}
}

// rustTokenCall notes the call of the i-th token, with the path or the fields before it.
func rustTokenCall(w *walker, tokens []int, i int) {
	name := tokens[i]
	c := call{node: name, name: w.Content(name), receiver: none, args: -1}
	if i > 0 && w.Kind(tokens[i-1]) == "fn" {
		return
	}
	if i > 1 && (w.Kind(tokens[i-1]) == "." || w.Kind(tokens[i-1]) == "::") {
		typ, first := rustTokenType(w, tokens, i-1, maxSteps)
		c.before, c.recvType = "…", typ // a member of something longer
		if first >= 0 {
			c.before = w.Text[w.Nodes[tokens[first]].Start:w.Nodes[tokens[i-1]].Start]
		}
		if path := tokens[i-2]; w.Kind(tokens[i-1]) == "::" && upperFirst(w.Content(path)) {
			w.uses(path, w.Content(path))
		}
	}
	w.calls(c)
}

// rustTokenType gives the type of the expression whose tokens end before the one at end, as a
// chain, and where it begins; -1 where that is not clear.
func rustTokenType(w *walker, tokens []int, end, steps int) (typ string, first int) {
	if end < 1 || steps == 0 {
		return "", -1
	}
	at := end - 1
	called := w.Kind(tokens[at]) == ")"
	if called {
		if at = rustTokenOpen(w, tokens, at) - 1; at < 0 {
			return "", -1
		}
	}
	name := w.Content(tokens[at])
	switch w.Kind(tokens[at]) {
	case "identifier", "self", "crate", "super", "integer_literal":
	case "?":
		return rustTokenType(w, tokens, at, steps-1)
	default:
		return "", -1
	}
	member := name
	if called {
		member += "()"
	}
	if at == 0 || w.Kind(tokens[at-1]) != "." && w.Kind(tokens[at-1]) != "::" {
		return rustTokenHead(w, name, called), at
	}
	before, first := rustTokenType(w, tokens, at-1, steps-1)
	switch {
	case w.Kind(tokens[at-1]) == "." && called && rustIdentity[name]:
		return before, first
	case w.Kind(tokens[at-1]) == ".":
		return rustText(w.fieldOf(before, member)), first
	case before == "" || first < 0:
		return "", first
	case called && (name == "new" || name == "default" || name == "from" || upperFirst(name)):
		return before, first
	case called:
		return step(before, member), first
	}
	return before + "::" + name, first
}

// rustTokenHead gives the type of the first name of an expression.
func rustTokenHead(w *walker, name string, called bool) string {
	b, bound := w.lookup(name)
	switch {
	case name == "self" || name == "Self":
		return w.self
	case bound && !called:
		return b.typ
	case called && (bound || w.g.builtins[name] && !rustMacros[name]):
		return ""
	case called:
		return name + "()"
	case upperFirst(name):
		return name
	}
	return ""
}

// maxArguments bounds the tokens between the parentheses of a call that is looked through.
const maxArguments = 500

// rustTokenOpen gives the place of the parenthesis that the one at end closes; -1 for none,
// or for one that is far away.
func rustTokenOpen(w *walker, tokens []int, end int) int {
	depth := 0
	for least := max(0, end-maxArguments); end >= least; end-- {
		switch w.Kind(tokens[end]) {
		case ")":
			depth++
		case "(":
			if depth--; depth == 0 {
				return end
			}
		}
	}
	return -1
}

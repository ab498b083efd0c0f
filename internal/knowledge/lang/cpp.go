package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// cppNamespace notes a namespace. What is in it does not belong to it by name: callers and
// definitions in other files name it or not as they please.
func cppNamespace(w *walker, n int) {
	name := w.Content(w.Field(n, "name"))
	for part := range strings.SplitSeq(name, "::") {
		w.seen["namespace "+part] = true
	}
	if w.facts.Package == "" {
		w.facts.Package = w.intern(name)
	}
	hidden := w.hidden
	w.hidden = hidden || name == ""
	symbol := w.define(definition{kind: domain.KindModule, name: name, node: n, body: w.Field(n, "body"), exported: true})
	w.within(symbol, func() { scoped(w, w.Field(n, "body")) })
	w.hidden = hidden
}

func cppNamespaceAlias(w *walker, n int) {
	w.importing(n, fold(w.Content(w.Last(n)), maxChain), "", w.Content(w.Field(n, "name")))
}

// cppUsing reads using-declarations, which import names.
func cppUsing(w *walker, n int) {
	name := w.Last(n)
	path := fold(w.Content(name), maxChain)
	if w.Child(n, "namespace") >= 0 {
		w.importing(n, path, "*", "")
		return
	}
	if i := strings.LastIndex(path, "::"); i > 0 {
		w.importing(n, path[:i], path[i+2:], "")
	}
}

func cppAlias(w *walker, n int) {
	typ := w.Field(n, "type")
	symbol := w.define(definition{
		kind: domain.KindType, name: w.Content(w.Field(n, "name")), owner: w.owner, node: cWhole(w, n), typ: cTypeText(w, typ), exported: !w.hidden,
	})
	w.within(symbol, func() { w.visit(typ) })
}

func cppConcept(w *walker, n int) {
	symbol := w.define(definition{
		kind: domain.KindType, name: w.Content(w.Field(n, "name")), owner: w.owner, node: cWhole(w, n), exported: !w.hidden,
	})
	w.within(symbol, func() { w.others(n, "name") })
}

// cppTemplate binds the parameters of a template around what it declares.
func cppTemplate(w *walker, n int) {
	w.push()
	for c := range w.Children(w.Field(n, "parameters")) {
		switch w.Kind(c) {
		case "type_parameter_declaration", "variadic_type_parameter_declaration":
			w.bind(w.Content(w.First(c)), binding{typeParam: true})
		case "optional_type_parameter_declaration":
			w.bind(w.Content(w.Field(c, "name")), binding{typeParam: true})
			w.visit(w.Field(c, "default_type"))
		case "parameter_declaration": // a value, or a type that a concept constrains
			decl := cDeclared(w, w.Field(c, "declarator"))
			w.bind(w.Content(decl.name), binding{typeParam: true})
			w.visit(w.Field(c, "type"))
		}
	}
	w.others(n, "parameters")
	w.pop()
}

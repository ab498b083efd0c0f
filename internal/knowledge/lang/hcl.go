package lang

import (
	"strings"

	grammarhcl "github.com/tree-sitter-grammars/tree-sitter-hcl/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("hcl", hclRules) }

func hclRules() rules {
	return rules{
		grammar:  grammarhcl.Language,
		comments: []string{"comment"},
		on: map[string]handler{
			"block":         hclBlock,
			"attribute":     hclAttribute,
			"variable_expr": hclVariable,
			"for_expr":      scoped,
			"for_intro":     hclFor,
			"object_elem":   hclElement,
		},
	}
}

// hclNames tells how expressions name a block of a type: "var.region" a variable.
var hclNames = map[string]string{"variable": "var", "locals": "local", "data": "data", "module": "module", "output": "output", "provider": "provider"}

// hclLabels gives the labels of a block.
func hclLabels(w *walker, n int) (labels []string) {
	kind := w.First(n)
	for c := range w.Children(n) {
		if k := w.Kind(c); k == "string_lit" || k == "identifier" && c != kind {
			labels = append(labels, unquote(w.Content(c)))
		}
	}
	return labels
}

// hclBlock notes the blocks of a file, by the name that expressions use for them: the
// resource "aws_instance" "web" is aws_instance.web.
func hclBlock(w *walker, n int) {
	kind, body := w.Content(w.First(n)), w.Child(n, "body")
	labels := hclLabels(w, n)
	if w.symbol >= 0 || w.owner != "" {
		hclNested(w, kind, labels, body)
		return
	}
	if kind == "locals" {
		w.belonging("local", func() { w.visit(body) })
		return
	}
	path := labels
	if prefix := hclNames[kind]; prefix != "" {
		path = append([]string{prefix}, labels...)
	} else if kind != "resource" {
		path = append([]string{kind}, labels...)
	}
	if len(path) == 0 {
		path = []string{kind}
	}
	last := len(path) - 1
	d := definition{
		kind: domain.KindModule, name: path[last], owner: strings.Join(path[:last], "."), node: n, body: w.Child(n, "block_start"), exported: true,
	}
	if kind == "variable" {
		d.kind = domain.KindConstant
	}
	d.doc = hclDescription(w, body)
	w.within(w.define(d), func() { w.visit(body) })
}

// hclDescription gives the text of a description, which variables and outputs have.
func hclDescription(w *walker, body int) string {
	for c := range w.Children(body) {
		if w.Kind(c) == "attribute" && w.Content(w.First(c)) == "description" {
			if value := w.First(w.First(w.Last(c))); w.Kind(value) == "string_lit" {
				return cleanDoc(unquote(w.Content(value)))
			}
		}
	}
	return ""
}

// hclNested walks a block in a block. A dynamic one binds its iterator.
func hclNested(w *walker, kind string, labels []string, body int) {
	w.push()
	if kind == "dynamic" && len(labels) > 0 {
		w.bindLocal(labels[0], "")
	}
	w.visit(body)
	w.pop()
}

// hclAttribute reads an attribute: of locals, and of a file of values, it is a symbol.
func hclAttribute(w *walker, n int) {
	name, value := w.Content(w.First(n)), w.Last(n)
	symbol := -1
	switch {
	case w.symbol < 0:
		symbol = w.define(definition{kind: domain.KindConstant, name: name, owner: w.owner, node: n, exported: true})
	case name == "source" && w.facts.Symbols[w.symbol].Receiver == "module":
		w.importing(n, unquote(w.Content(value)), "", "")
	}
	w.within(symbol, func() { w.visit(value) })
}

// hclElement walks the value of an object's element; the source of a required provider is
// an import.
func hclElement(w *walker, n int) {
	key, value := w.Field(n, "key"), w.Field(n, "val")
	if w.Content(key) == "source" && w.symbol >= 0 && w.facts.Symbols[w.symbol].Name == "terraform" {
		w.importing(n, unquote(w.Content(value)), "", "")
	}
	if inner := w.First(key); w.Kind(inner) != "variable_expr" || w.End(inner) != w.End(key) {
		w.visit(key)
	}
	w.visit(value)
}

func hclFor(w *walker, n int) {
	for c := range w.Children(n) {
		if w.Kind(c) == "identifier" {
			w.bindLocal(w.Content(c), "")
		} else {
			w.visit(c)
		}
	}
}

// hclMeta are names that no block has.
var hclMeta = words("each count self path terraform")

// hclVariable notes the block that an expression names.
func hclVariable(w *walker, n int) {
	parts := []string{w.Content(n)}
	for c := w.End(n); c < w.End(w.Parent(n)) && len(parts) < 3; c = w.End(c) {
		switch w.Kind(c) {
		case "get_attr":
			parts = append(parts, w.Content(w.First(c)))
		case "index", "splat":
		default:
			c = w.End(w.Parent(n))
		}
		if c >= w.End(w.Parent(n)) {
			break
		}
	}
	if len(parts) < 2 || w.isLocal(parts[0]) || hclMeta[parts[0]] {
		return
	}
	if parts[0] != "data" {
		parts = parts[:2]
	}
	w.uses(n, strings.Join(parts, "."))
}

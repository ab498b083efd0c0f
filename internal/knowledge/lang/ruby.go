package lang

import (
	"strings"

	grammarruby "github.com/tree-sitter/tree-sitter-ruby/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("ruby", rubyRules) }

func rubyRules() rules {
	return rules{
		grammar:  grammarruby.Language,
		comments: []string{"comment"},
		builtins: `String Integer Float Array Hash Symbol NilClass Object Kernel Class Module Struct Proc Exception StandardError ArgumentError RuntimeError
			puts print p raise require require_relative lambda proc loop block_given? private public protected module_function private_class_method
			attr_reader attr_writer attr_accessor include extend prepend format sprintf binding freeze`,
		on: map[string]handler{
			"module":              rubyClass,
			"class":               rubyClass,
			"singleton_class":     rubySingleton,
			"method":              rubyMethod,
			"singleton_method":    rubyMethod,
			"alias":               rubyAlias,
			"assignment":          rubyAssignment,
			"operator_assignment": rubyAssignment,
			"block":               rubyBlock,
			"do_block":            rubyBlock,
			"lambda":              rubyBlock,
			"block_parameters":    rubyParameters,
			"lambda_parameters":   rubyParameters,
			"method_parameters":   rubyParameters,
			"rescue":              rubyRescue,
			"for":                 rubyFor,
			"call":                rubyCall,
			"super":               rubySuper,
			"yield":               func(w *walker, n int) { w.inside(n) },
			"identifier":          rubyIdentifier,
			"constant":            func(w *walker, n int) { w.uses(n, w.Content(n)) },
			"scope_resolution":    func(w *walker, n int) { w.uses(n, fold(w.Content(n), maxChain)) },
			"pair":                func(w *walker, n int) { w.others(n, "key") },
			"hash_key_symbol":     skip,
		},
	}
}

// rubyPath gives the dotted name of a constant: "A.B" of A::B.
func rubyPath(w *walker, n int) string {
	return strings.TrimPrefix(strings.ReplaceAll(fold(w.Content(n), maxChain), "::", "."), ".")
}

func rubyClass(w *walker, n int) {
	body, name := w.Field(n, "body"), w.Field(n, "name")
	path := dotted(w.owner, rubyPath(w, name))
	bare := lastPart(path)
	d := definition{
		kind: domain.KindModule, name: bare, owner: strings.TrimSuffix(strings.TrimSuffix(path, bare), "."), node: n, body: body,
		until: name, exported: true,
	}
	super := w.Field(n, "superclass")
	if w.Kind(n) == "class" {
		d.kind = domain.KindClass
	}
	if super >= 0 {
		d.until = super
		if k := w.Kind(w.First(super)); k == "constant" || k == "scope_resolution" {
			d.bases = append(d.bases, w.base(super, fold(w.Content(w.First(super)), maxChain), domain.EdgeInherits))
		}
	}
	d.bases = append(d.bases, rubyMixins(w, body)...)
	w.push()
	d.fields = rubyFields(w, body, path)
	w.bindFields(d.fields)
	hidden := w.hidden
	w.hidden = false
	w.within(w.define(d), func() {
		if super >= 0 && len(d.bases) == 0 {
			w.visit(super)
		}
		w.typed(path, d.bases, func() { w.inside(body) })
	})
	w.hidden = hidden
	w.pop()
}

// rubyMixins gives the modules that a class includes, extends or prepends.
func rubyMixins(w *walker, body int) (bases []domain.TypeRef) {
	for c := range w.Children(body) {
		if w.Kind(c) != "call" || w.Field(c, "receiver") >= 0 {
			continue
		}
		switch w.Content(w.Field(c, "method")) {
		case "include", "extend", "prepend":
			for arg := range w.Children(w.Field(c, "arguments")) {
				if k := w.Kind(arg); k == "constant" || k == "scope_resolution" {
					bases = append(bases, w.base(arg, fold(w.Content(arg), maxChain), domain.EdgeEmbeds))
				}
			}
		}
	}
	return bases
}

// rubyFields gives the instance variables whose type an assignment tells.
func rubyFields(w *walker, body int, self string) []domain.Field {
	set := newFieldSet()
	was := w.self
	w.self = self
	w.push()
	for n := body; n >= 0 && n < w.End(body); n++ {
		switch w.Kind(n) {
		case "class", "module":
			n = w.End(n) - 1
		case "method":
			w.pop()
			w.push()
			rubyBind(w, w.Field(n, "parameters"))
		case "assignment", "operator_assignment":
			left, typ := w.Field(n, "left"), rubyTypeOf(w, w.Field(n, "right"), maxSteps)
			switch w.Kind(left) {
			case "instance_variable", "class_variable":
				set.add(w, w.Content(left), typ)
			case "identifier":
				w.bindLocal(w.Content(left), typ)
			}
		}
	}
	w.pop()
	w.self = was
	return set.fields
}

func rubySingleton(w *walker, n int) {
	hidden := w.hidden
	w.hidden = false
	w.visit(w.Field(n, "body"))
	w.hidden = hidden
}

func rubyMethod(w *walker, n int) {
	name, params := w.Field(n, "name"), w.Field(n, "parameters")
	text := w.Content(name)
	d := definition{
		kind: domain.KindMethod, name: text, owner: w.owner, node: n, until: max(name, params), exported: !w.hidden || w.Kind(n) == "singleton_method",
	}
	if w.owner == "" {
		d.kind = domain.KindFunction
	}
	if object := w.Field(n, "object"); w.Kind(object) == "constant" && dotted(w.owner) == "" {
		d.owner, d.kind = w.Content(object), domain.KindMethod
	}
	w.within(w.define(d), func() {
		w.push()
		w.visit(params)
		body := w.Field(n, "body")
		w.belonging(dotted(d.owner, text), func() { w.visit(body) })
		for c := range w.Children(n) {
			if k := w.Kind(c); c != body && (k == "rescue" || k == "ensure") {
				w.visit(c)
			}
		}
		w.pop()
	})
}

func rubyAlias(w *walker, n int) {
	w.define(definition{
		kind: domain.KindMethod, name: strings.TrimPrefix(w.Content(w.Field(n, "name")), ":"), owner: w.owner, node: n, exported: !w.hidden,
	})
}

// rubyParameters binds parameters and walks their defaults.
func rubyParameters(w *walker, n int) {
	for c := range w.Children(n) {
		w.visit(w.Field(c, "value"))
	}
	rubyBind(w, n)
}

// rubyBind binds parameters; one with a default has its type.
func rubyBind(w *walker, n int) {
	for c := range w.Children(n) {
		name := c
		switch w.Kind(c) {
		case "identifier":
		case "destructured_parameter":
			rubyBind(w, c)
			continue
		default:
			name = w.Field(c, "name")
		}
		if name >= 0 {
			w.bindLocal(w.Content(name), rubyTypeOf(w, w.Field(c, "value"), maxSteps))
		}
	}
}

// rubyAssignment reads assignments: to a constant they are symbols.
func rubyAssignment(w *walker, n int) {
	left, right := w.Field(n, "left"), w.Field(n, "right")
	switch w.Kind(left) {
	case "constant":
		rubyConstant(w, n, left, right)
	case "identifier":
		w.visit(right)
		w.bindLocal(w.Content(left), rubyTypeOf(w, right, maxSteps))
	case "left_assignment_list":
		w.visit(right)
		for c := range w.Children(left) {
			if w.Kind(c) == "identifier" {
				w.bindLocal(w.Content(c), "")
			}
		}
	default:
		w.visit(left)
		w.visit(right)
	}
}

func rubyConstant(w *walker, n, left, right int) {
	name := w.Content(left)
	d := definition{kind: domain.KindConstant, name: name, owner: w.owner, node: n, typ: rubyTypeOf(w, right, maxSteps), exported: true}
	receiver, method := w.Content(w.Field(right, "receiver")), w.Content(w.Field(right, "method"))
	makes := receiver == "Struct" && method == "new" || receiver == "Class" && method == "new" || receiver == "Data" && method == "define"
	if makes {
		d.kind, d.typ, d.body = domain.KindClass, "", w.Field(right, "block")
		if super := w.First(w.Field(right, "arguments")); receiver == "Class" && super >= 0 {
			d.bases = append(d.bases, w.base(super, fold(w.Content(super), maxChain), domain.EdgeInherits))
		}
	}
	w.within(w.define(d), func() {
		if makes {
			w.typed(dotted(w.owner, name), d.bases, func() { w.visit(w.Field(right, "block")) })
			return
		}
		w.visit(right)
	})
}

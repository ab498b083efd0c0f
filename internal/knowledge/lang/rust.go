package lang

import (
	"strings"

	rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("rust", rustRules) }

// rustMacros are those of the built-in names that are macros: functions may be called so.
var rustMacros = words(`println print eprintln eprint format vec assert assert_eq assert_ne debug_assert debug_assert_eq panic todo
	unimplemented unreachable write writeln matches dbg include_str include_bytes concat stringify env cfg line file`)

func rustRules() rules {
	return rules{
		grammar:  rust.Language,
		comments: []string{"line_comment", "block_comment"},
		builtins: `Self Some None Ok Err Option Result String Vec Box Rc Arc Cell RefCell Mutex RwLock Fn FnMut FnOnce Send Sync Sized Copy Clone Drop
			Debug Default Iterator IntoIterator From Into Eq PartialEq Ord PartialOrd Hash ToString AsRef AsMut
			println print eprintln eprint format vec assert assert_eq assert_ne debug_assert debug_assert_eq panic todo unimplemented unreachable write
			writeln matches dbg include_str include_bytes concat stringify env cfg line file drop`,
		leave: noteAssertions,
		on: map[string]handler{
			"use_declaration":          func(w *walker, n int) { rustUse(w, w.Field(n, "argument"), "") },
			"extern_crate_declaration": rustExternCrate,
			"mod_item":                 rustModule,
			"struct_item":              rustStruct,
			"union_item":               rustStruct,
			"enum_item":                rustEnum,
			"trait_item":               rustTrait,
			"impl_item":                rustImpl,
			"type_item":                rustAlias,
			"associated_type":          rustAlias,
			"const_item":               rustConstant,
			"static_item":              rustConstant,
			"macro_definition":         rustMacro,
			"function_item":            rustFunction,
			"function_signature_item":  rustFunction,
			"attribute_item":           noteAttribute,
			"attribute":                rustAttribute,
			"block":                    scoped,
			"if_expression":            scoped,
			"while_expression":         scoped,
			"let_declaration":          rustLet,
			"let_condition":            rustLetCondition,
			"for_expression":           rustFor,
			"match_expression":         rustMatch,
			"closure_expression":       rustClosure,
			"call_expression":          rustCall,
			"macro_invocation":         rustMacroCall,
			"field_expression":         func(w *walker, n int) { w.visit(w.Field(n, "value")) },
			"scoped_identifier":        rustPath,
			"scoped_type_identifier":   useHere,
			"type_identifier":          useHere,
			"identifier":               nameUse,
		},
	}
}

// rustUse reads a use declaration: each member is an import of its own.
func rustUse(w *walker, n int, prefix string) {
	path := func(end string) string {
		if prefix == "" || end == "" {
			return prefix + end
		}
		return prefix + "::" + end
	}
	switch w.Kind(n) {
	case "use_list":
		for c := range w.Children(n) {
			if w.Named(c) {
				rustUse(w, c, prefix)
			}
		}
	case "scoped_use_list":
		rustUse(w, w.Field(n, "list"), path(w.Content(w.Field(n, "path"))))
	case "use_wildcard":
		w.importing(n, path(w.Content(w.First(n))), "*", "")
	case "use_as_clause":
		rustImport(w, n, path(w.Content(w.Field(n, "path"))), w.Content(w.Field(n, "alias")))
	case "self":
		rustImport(w, n, prefix, "")
	case "line_comment", "block_comment", "":
	default:
		rustImport(w, n, path(w.Content(n)), "")
	}
}

// rustImport notes the import of a path: its last part is the member.
func rustImport(w *walker, n int, path, alias string) {
	path = strings.TrimSuffix(path, "::self")
	if i := strings.LastIndex(path, "::"); i >= 0 {
		w.importing(n, path[:i], path[i+2:], alias)
		return
	}
	w.importing(n, path, "", alias)
}

func rustExternCrate(w *walker, n int) {
	w.importing(n, w.Content(w.Field(n, "name")), "", w.Content(w.Field(n, "alias")))
}

func rustPublic(w *walker, n int) bool { return w.Child(n, "visibility_modifier") >= 0 }

func rustModule(w *walker, n int) {
	name, body := w.Content(w.Field(n, "name")), w.Field(n, "body")
	symbol := w.define(definition{kind: domain.KindModule, name: name, owner: w.owner, node: n, body: body, exported: rustPublic(w, n)})
	w.within(symbol, func() {
		w.belonging(dotted(w.owner, name), func() { scoped(w, body) })
	})
}

// rustTypeParameters binds type parameters; the bounds of a where clause are walked only.
func rustTypeParameters(w *walker, n int) {
	ofType := w.Kind(n) != "function_item" && w.Kind(n) != "function_signature_item"
	for c := range w.Children(w.Field(n, "type_parameters")) {
		if w.Kind(c) == "type_parameter" {
			w.bind(w.Content(w.Field(c, "name")), binding{typ: rustBound(w, w.Field(c, "bounds")), typeParam: true, ofType: ofType})
		}
	}
	for p := range w.Children(w.Child(n, "where_clause")) {
		if left := w.Content(w.Field(p, "left")); left != "" {
			if b, ok := w.lookup(left); ok && b.typeParam && b.typ == "" {
				w.bind(left, binding{typ: rustBound(w, w.Field(p, "bounds")), typeParam: true, ofType: b.ofType})
			}
		}
	}
}

// rustBound gives the first bound that may be a trait of the repository.
func rustBound(w *walker, bounds int) string {
	for c := range w.Children(bounds) {
		if typ := rustType(w, c); typ != "" && w.Named(c) && w.Kind(c) != "removed_trait_bound" && !w.g.builtins[typ] {
			return typ
		}
	}
	return ""
}

// rustTypeParts walks what a definition says about its type parameters.
func rustTypeParts(w *walker, n int) {
	for c := range w.Children(w.Field(n, "type_parameters")) {
		w.visit(w.Field(c, "bounds"))
		w.visit(w.Field(c, "default_type"))
	}
	w.visit(w.Child(n, "where_clause"))
}

func rustStruct(w *walker, n int) {
	d := definition{
		kind: domain.KindStruct, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, exported: rustPublic(w, n), bases: rustDerives(w, n),
	}
	body := w.Field(n, "body")
	if w.Kind(body) == "field_declaration_list" {
		d.body = body
	}
	w.push()
	defer w.pop()
	rustTypeParameters(w, n)
	w.showing(func() { d.fields = rustFields(w, body) })
	w.within(w.define(d), func() {
		rustTypeParts(w, n)
		w.visit(body)
	})
}

func rustFields(w *walker, body int) (fields []domain.Field) {
	at := 0
	for c := range w.Children(body) {
		name, typ := "", ""
		switch {
		case w.Kind(c) == "field_declaration":
			name, typ = w.Content(w.Field(c, "name")), rustType(w, w.Field(c, "type"))
		case w.FieldName(c) == "type":
			name, typ = string(rune('0'+at%10)), rustType(w, c)
			at++
		}
		if typ != "" {
			fields = append(fields, domain.Field{Name: w.intern(name), Type: w.intern(typ)})
		}
	}
	return fields
}

// rustDerives gives the traits that the attributes before a definition derive.
func rustDerives(w *walker, n int) (bases []domain.TypeRef) {
	at := w.Nodes[n].Start
	from := w.withAttributes(at)
	text, line := w.Text[from:at], w.Line(from)
	for {
		_, rest, ok := strings.Cut(text, "derive(")
		if !ok {
			return bases
		}
		list, after, ok := strings.Cut(rest, ")")
		if !ok {
			return bases
		}
		for name := range strings.SplitSeq(list, ",") {
			if name = fold(name, maxChain); name != "" {
				bases = append(bases, domain.TypeRef{Name: w.intern(name), Kind: domain.EdgeImplements, Line: line})
			}
		}
		text = after
	}
}

func rustEnum(w *walker, n int) {
	name := w.Content(w.Field(n, "name"))
	path := dotted(w.owner, name)
	body := w.Field(n, "body")
	w.push()
	defer w.pop()
	rustTypeParameters(w, n)
	symbol := w.define(definition{
		kind: domain.KindEnum, name: name, owner: w.owner, node: n, body: body, exported: rustPublic(w, n), bases: rustDerives(w, n),
	})
	w.within(symbol, func() {
		rustTypeParts(w, n)
		for c := range w.Children(body) {
			if w.Kind(c) != "enum_variant" {
				w.visit(c)
				continue
			}
			variant := w.define(definition{
				kind: domain.KindConstant, name: w.Content(w.Field(c, "name")), owner: path, node: c, typ: path,
				exported: rustPublic(w, n), fields: rustFields(w, w.Field(c, "body")),
			})
			w.within(variant, func() { w.others(c, "name") })
		}
	})
}

func rustTrait(w *walker, n int) {
	d := definition{
		kind: domain.KindTrait, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, body: w.Field(n, "body"), exported: rustPublic(w, n),
	}
	w.push()
	defer w.pop()
	rustTypeParameters(w, n)
	for c := range w.Children(w.Field(n, "bounds")) {
		if text := rustType(w, c); w.Named(c) && text != "" && w.Kind(c) != "lifetime" {
			name, _ := splitType(text, '<', '>')
			d.bases = append(d.bases, w.base(c, name, domain.EdgeInherits))
		}
	}
	w.within(w.define(d), func() {
		rustTypeParts(w, n)
		w.typed(dotted(w.owner, d.name), d.bases, func() { w.visit(d.body) })
	})
}

// rustImpl reads an implementation: its functions belong to the type, which gets the trait
// as a base.
func rustImpl(w *walker, n int) {
	w.push()
	defer w.pop()
	rustTypeParameters(w, n)
	target, trait := w.Field(n, "type"), w.Field(n, "trait")
	name, _ := splitType(rustText(w.Content(target)), '<', '>')
	path := dotted(w.owner, strings.ReplaceAll(name, "::", "."))
	var bases []domain.TypeRef
	if trait >= 0 {
		base, _ := splitType(rustText(w.Content(trait)), '<', '>')
		bases = append(bases, w.base(n, base, domain.EdgeImplements))
		_, param := w.lookup(name) // an implementation for all types that fit
		w.asserted = append(w.asserted, assertion{path, bases[0], !param && !w.g.builtins[name] && !strings.ContainsAny(name, "[(")})
		w.visit(w.Field(trait, "type_arguments"))
	}
	rustTypeParts(w, n)
	w.typed(path, bases, func() { w.visit(w.Field(n, "body")) })
}

func rustAlias(w *walker, n int) {
	typ := w.Field(n, "type")
	w.push()
	defer w.pop()
	rustTypeParameters(w, n)
	symbol := w.define(definition{
		kind: domain.KindType, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, typ: rustType(w, typ), exported: rustPublic(w, n),
	})
	w.within(symbol, func() {
		rustTypeParts(w, n)
		w.visit(w.Field(n, "bounds"))
		w.visit(typ)
	})
}

func rustConstant(w *walker, n int) {
	symbol := w.define(definition{
		kind: domain.KindConstant, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n,
		typ: rustType(w, w.Field(n, "type")), exported: rustPublic(w, n),
	})
	w.within(symbol, func() { w.others(n, "name") })
}

func rustMacro(w *walker, n int) {
	w.define(definition{
		kind: domain.KindFunction, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, until: w.Field(n, "name"),
		exported: strings.Contains(w.Text[w.withAttributes(w.Nodes[n].Start):w.Nodes[n].Start], "macro_export"),
	})
}

func rustFunction(w *walker, n int) {
	name, body := w.Content(w.Field(n, "name")), w.Field(n, "body")
	d := definition{
		kind: domain.KindFunction, name: name, owner: w.owner, node: n, body: body, exported: rustPublic(w, n),
	}
	if w.self != "" && w.owner == w.self {
		d.kind = domain.KindMethod
		if k := w.kindOf(w.symbol); k == domain.KindTrait || w.super == "" && w.Field(w.Parent(w.Parent(n)), "trait") >= 0 {
			d.exported = true // as visible as the trait
		}
	}
	w.push()
	defer w.pop()
	rustTypeParameters(w, n)
	w.showing(func() { d.typ = rustType(w, w.Field(n, "return_type")) })
	w.within(w.define(d), func() {
		rustTypeParts(w, n)
		params := w.Field(n, "parameters")
		rustBindParameters(w, params, "")
		w.visit(params)
		w.visit(w.Field(n, "return_type"))
		w.belonging(dotted(w.owner, name), func() { w.inside(body) })
	})
}

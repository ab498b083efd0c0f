package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// cTypedef reads typedefs: one of a struct or enum without a name names it.
func cTypedef(w *walker, n int) {
	typ := w.Field(n, "type")
	anonymous := w.Field(typ, "name") < 0 && w.Field(typ, "body") >= 0
	if w.Field(typ, "body") >= 0 && !anonymous {
		w.visit(typ)
		typ = none
	}
	first := true
	for c := range w.Children(n) {
		if w.FieldName(c) != "declarator" {
			continue
		}
		decl := cDeclared(w, c)
		name := w.Content(decl.name)
		if anonymous && first {
			first = false
			if w.Kind(typ) == "enum_specifier" {
				cDefineEnum(w, typ, n, name)
			} else {
				cDefineStruct(w, typ, n, name)
			}
			continue
		}
		d := definition{kind: domain.KindType, name: name, owner: w.owner, node: n, typ: cType(w, n, decl), exported: !w.hidden}
		if decl.function >= 0 || decl.pointer {
			d.typ = "func"
		}
		w.within(w.define(d), func() {
			if first {
				w.visit(typ)
			}
			w.visit(decl.params)
		})
		first = false
	}
}

func cStruct(w *walker, n int) {
	name := w.Field(n, "name")
	if w.Field(n, "body") < 0 {
		w.visit(name) // mentioned, not defined
		return
	}
	whole := cWhole(w, n)
	if up := w.Parent(n); w.Kind(up) == "declaration" || w.Kind(up) == "type_definition" {
		whole = n
	}
	_, bare := cOwner(w, name)
	if w.Kind(name) == "template_type" {
		bare = w.Content(w.Field(name, "name"))
	}
	cDefineStruct(w, n, whole, bare)
}

// cDefineStruct notes a struct, union or class; one without a name is walked only.
func cDefineStruct(w *walker, n, whole int, name string) {
	body := w.Field(n, "body")
	d := definition{kind: domain.KindStruct, name: name, owner: w.owner, node: whole, body: body, exported: !w.hidden}
	if w.Kind(n) == "class_specifier" {
		d.kind = domain.KindClass
	}
	if w.Kind(whole) == "type_definition" {
		d.body = 0 // the name comes last
	}
	for c := range w.Children(w.Child(n, "base_class_clause")) {
		switch w.Kind(c) {
		case "type_identifier", "qualified_identifier", "template_type":
			base, _ := splitType(fold(w.Content(c), maxChain), '<', '>')
			d.bases = append(d.bases, w.base(c, base, domain.EdgeInherits))
		}
	}
	d.fields = cFields(w, body)
	path := dotted(w.owner, name)
	if name == "" {
		path = w.owner
	}
	hidden := w.hidden
	w.hidden = d.kind == domain.KindClass
	w.within(w.define(d), func() {
		for c := range w.Children(w.Child(n, "base_class_clause")) {
			if k := w.Kind(c); k == "template_type" || k == "qualified_identifier" {
				for a := c; a < w.End(c); a++ {
					if w.Kind(a) == "template_argument_list" {
						w.visit(a)
						break
					}
				}
			}
		}
		w.push()
		w.bindFields(d.fields)
		w.typed(path, d.bases, func() { w.inside(w.Field(n, "body")) })
		w.pop()
	})
	w.hidden = hidden
}

// cppAccess follows public, protected and private.
func cppAccess(w *walker, n int) {
	if w.Kind(w.Parent(n)) == "field_declaration_list" {
		w.hidden = !strings.HasPrefix(w.Content(n), "public")
	}
}

func cFields(w *walker, body int) (fields []domain.Field) {
	for n := range w.Children(body) {
		if w.Kind(n) != "field_declaration" {
			continue
		}
		for c := range w.Children(n) {
			if w.FieldName(c) != "declarator" {
				continue
			}
			decl := cDeclared(w, c)
			if typ := cType(w, n, decl); typ != "" && decl.function < 0 {
				fields = append(fields, domain.Field{Name: w.intern(w.Content(decl.name)), Type: w.intern(typ)})
			}
		}
	}
	return fields
}

func cEnum(w *walker, n int) {
	if w.Field(n, "body") < 0 {
		w.visit(w.Field(n, "name"))
		return
	}
	cDefineEnum(w, n, n, w.Content(w.Field(n, "name")))
}

// cDefineEnum notes an enum and its members, which belong to it only in a scoped enum.
func cDefineEnum(w *walker, n, whole int, name string) {
	body := w.Field(n, "body")
	d := definition{kind: domain.KindEnum, name: name, owner: w.owner, node: whole, body: body, exported: !w.hidden}
	if w.Kind(whole) == "type_definition" {
		d.body = 0
	}
	symbol := w.define(d)
	owner := w.owner
	if w.Child(n, "class") >= 0 || w.Child(n, "struct") >= 0 {
		owner = dotted(w.owner, name)
	}
	w.within(symbol, func() {
		w.visit(w.Field(n, "base"))
		for c := range w.Children(body) {
			if w.Kind(c) != "enumerator" {
				w.visit(c)
				continue
			}
			w.define(definition{
				kind: domain.KindConstant, name: w.Content(w.Field(c, "name")), owner: owner, node: c, typ: dotted(w.owner, name), exported: !w.hidden,
			})
			w.visit(w.Field(c, "value"))
		}
	})
}

// cType gives the type that a declaration gives a name.
func cType(w *walker, n int, decl declared) string {
	if decl.pointer {
		return "func"
	}
	text := cTypeText(w, w.Field(n, "type"))
	if decl.array && text != "" {
		text += "[]"
	}
	return text
}

// cTypeText gives a type as written, without qualifiers and smart pointers around it.
func cTypeText(w *walker, n int) string {
	switch w.Kind(n) {
	case "", "placeholder_type_specifier", "auto", "decltype":
		return ""
	case "type_descriptor":
		return cTypeText(w, w.Field(n, "type"))
	case "struct_specifier", "union_specifier", "class_specifier", "enum_specifier":
		return fold(w.Content(w.Field(n, "name")), maxChain)
	case "primitive_type":
		if w.Content(n) == "void" {
			return ""
		}
	case "dependent_type":
		return cTypeText(w, w.First(n))
	}
	text := w.plainType(&cContainers, w.Content(n))
	return strings.TrimSpace(strings.TrimRight(strings.TrimPrefix(text, "const "), "*& "))
}

package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

func tsClass(w *walker, n int) {
	whole, exported := tsWhole(w, n)
	name := tsName(w, n)
	if up := w.Parent(n); name == "" && w.Kind(up) == "variable_declarator" {
		name = w.Content(w.Field(up, "name"))
	}
	if name == "" {
		scoped(w, n) // a class without a name
		return
	}
	tsDefineClass(w, n, definition{kind: domain.KindClass, name: name, owner: w.owner, node: whole, exported: exported})
}

func tsDefineClass(w *walker, n int, d definition) {
	d.body, d.from = w.Field(n, "body"), tsFrom(w, d.node)
	w.push()
	defer w.pop()
	tsBindTypeParameters(w, n)
	for c := range w.Children(w.Child(n, "class_heritage")) {
		switch w.Kind(c) {
		case "extends_clause":
			d.bases = append(d.bases, tsBases(w, c, domain.EdgeInherits)...)
		case "implements_clause":
			d.bases = append(d.bases, tsBases(w, c, domain.EdgeImplements)...)
		case "identifier", "member_expression": // JavaScript has no clauses
			d.bases = append(d.bases, w.base(c, w.Content(c), domain.EdgeInherits))
		}
	}
	w.showing(func() { d.fields = tsFields(w, d.body) })
	w.within(w.define(d), func() {
		tsDecorators(w, d.node, n)
		tsHeritageArguments(w, n)
		w.typed(dotted(d.owner, d.name), d.bases, func() { tsMembers(w, d.body) })
	})
}

// tsBases reads the types of an extends or implements clause.
func tsBases(w *walker, clause int, kind domain.EdgeKind) (bases []domain.TypeRef) {
	for c := range w.Children(clause) {
		name := c
		switch w.Kind(c) {
		case "generic_type":
			name = w.Field(c, "name")
		case "identifier", "member_expression", "type_identifier", "nested_type_identifier":
		default:
			continue
		}
		bases = append(bases, w.base(c, fold(w.Content(name), maxChain), kind))
	}
	return bases
}

// tsHeritageArguments walks the type arguments of base classes, and mixin calls.
func tsHeritageArguments(w *walker, n int) {
	w.visit(w.Field(n, "type_parameters"))
	for c := range w.Children(n) {
		if k := w.Kind(c); k != "class_heritage" && k != "extends_type_clause" {
			continue
		}
		for i := c; i < w.End(c); i++ {
			if k := w.Kind(i); k == "type_arguments" || k == "call_expression" {
				w.visit(i)
				i = w.End(i) - 1
			}
		}
	}
}

// tsDecorators walks the decorators of a class, wherever they stand.
func tsDecorators(w *walker, nodes ...int) {
	for i, n := range nodes {
		if i > 0 && n == nodes[0] {
			return
		}
		for c := range w.Children(n) {
			if w.Kind(c) == "decorator" {
				w.visit(c)
			}
		}
	}
}

// tsDecorator notes the call that a decorator without arguments is.
func tsDecorator(w *walker, n int) {
	expr := w.First(n)
	c := call{node: expr, receiver: none, args: 1}
	switch w.Kind(expr) {
	case "identifier":
		c.name = w.Content(expr)
	case "member_expression":
		c.name, c.receiver = w.Content(w.Field(expr, "property")), w.Field(expr, "object")
	default:
		w.visit(expr)
		return
	}
	w.calls(c)
}

// tsFields gives the fields of a class, interface or object type whose type is known:
// declared, initialized, a parameter of the constructor, or a getter.
func tsFields(w *walker, body int) []domain.Field {
	var fields []domain.Field
	seen := map[string]bool{}
	add := func(name, typ string) {
		if name != "" && typ != "" && !seen[name] {
			seen[name] = true
			fields = append(fields, domain.Field{Name: w.intern(name), Type: w.intern(typ)})
		}
	}
	for c := range w.Children(body) {
		switch w.Kind(c) {
		case "public_field_definition", "property_signature", "field_definition":
			typ := tsTypeText(w, w.Field(c, "type"))
			if typ == "" {
				typ = tsTypeOf(w, w.Field(c, "value"), maxSteps)
			}
			add(tsMemberName(w, c), typ)
		case "method_definition":
			switch {
			case w.Child(c, "get") >= 0:
				add(tsMemberName(w, c), tsTypeText(w, w.Field(c, "return_type")))
			case tsMemberName(w, c) == "constructor":
				tsConstructorFields(w, c, add)
			}
		}
	}
	return fields
}

// tsConstructorFields reads parameter properties and the assignments to this.
func tsConstructorFields(w *walker, n int, add func(name, typ string)) {
	w.push()
	defer w.pop()
	tsBindParameters(w, n)
	for p := range w.Children(w.Field(n, "parameters")) {
		if w.Child(p, "accessibility_modifier") >= 0 || w.Child(p, "readonly") >= 0 {
			name := w.Content(w.Field(p, "pattern"))
			b, _ := w.lookup(name)
			add(name, b.typ)
		}
	}
	body := w.Field(n, "body")
	for c := body; c >= 0 && c < w.End(body); c++ {
		switch w.Kind(c) {
		case "variable_declarator":
			tsBindDeclarator(w, c, true)
		case "assignment_expression":
			left := w.Field(c, "left")
			if w.Kind(left) == "member_expression" && w.Content(w.Field(left, "object")) == "this" {
				add(w.Content(w.Field(left, "property")), tsTypeOf(w, w.Field(c, "right"), maxSteps))
			}
		}
	}
}

func tsMemberName(w *walker, n int) string {
	if name := w.Field(n, "property"); name >= 0 {
		return w.Content(name)
	}
	return tsName(w, n)
}

// tsMembers walks the members of a class, interface or object type. Decorators stand
// beside the member that they adorn.
func tsMembers(w *walker, body int) {
	begin := 0
	for c := range w.Children(body) {
		switch w.Kind(c) {
		case "decorator":
			if begin == 0 {
				begin = c
			}
			continue
		case "method_definition", "abstract_method_signature", "method_signature":
			if !tsOverloaded(w, c) {
				tsMethod(w, c, c, begin)
			}
		case "public_field_definition", "field_definition":
			tsFieldMember(w, c, begin)
		case "property_signature":
			w.visit(w.Field(c, "type"))
		default:
			w.visit(c)
		}
		begin = 0
	}
}

func tsMethod(w *walker, member, function, begin int) {
	w.depth++
	defer func() { w.depth-- }()
	d := definition{
		kind: domain.KindMethod, name: tsMemberName(w, member), owner: w.owner, node: member, begin: begin,
		exported: tsPublic(w, member),
	}
	tsDefineFunction(w, function, d)
}

func tsPublic(w *walker, n int) bool {
	if strings.HasPrefix(tsMemberName(w, n), "#") {
		return false
	}
	access := w.Content(w.Child(n, "accessibility_modifier"))
	return access == "" || access == "public"
}

// tsFieldMember reads a field; one that holds a function is a method.
func tsFieldMember(w *walker, n, begin int) {
	value := w.Field(n, "value")
	if k := w.Kind(value); k == "arrow_function" || k == "function_expression" {
		tsMethod(w, n, value, begin)
		return
	}
	if name := tsMemberName(w, n); w.Child(n, "static") >= 0 && name == strings.ToUpper(name) {
		w.define(definition{
			kind: domain.KindConstant, name: name, owner: w.owner, node: n, begin: begin,
			typ: tsFieldType(w, n), exported: tsPublic(w, n),
		})
	}
	if begin > 0 {
		w.span(begin, n)
	}
	w.others(n, "name", "property")
}

func tsFieldType(w *walker, n int) string {
	if typ := tsTypeText(w, w.Field(n, "type")); typ != "" {
		return typ
	}
	return tsTypeOf(w, w.Field(n, "value"), maxSteps)
}

package lang

import (
	"strings"

	grammarphp "github.com/tree-sitter/tree-sitter-php/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("php", phpRules) }

func phpRules() rules {
	return rules{
		grammar:  grammarphp.LanguagePHP,
		comments: []string{"comment"},
		builtins: `self static parent string int float bool array object mixed void null iterable callable never false true Closure Exception Throwable
			count isset empty array_map array_filter array_merge in_array sprintf printf implode explode is_null is_array is_string strlen define defined
			json_encode json_decode trim str_replace substr date time var_dump array_keys array_values func_get_args call_user_func`,
		on: map[string]handler{
			"namespace_definition":              phpNamespace,
			"namespace_use_declaration":         phpUse,
			"require_expression":                phpInclude,
			"require_once_expression":           phpInclude,
			"include_expression":                phpInclude,
			"include_once_expression":           phpInclude,
			"class_declaration":                 phpClass,
			"interface_declaration":             phpClass,
			"trait_declaration":                 phpClass,
			"enum_declaration":                  phpClass,
			"enum_case":                         phpEnumCase,
			"const_declaration":                 phpConst,
			"property_declaration":              phpProperty,
			"method_declaration":                phpFunction,
			"function_definition":               phpFunction,
			"use_declaration":                   skip,
			"simple_parameter":                  phpParameter,
			"property_promotion_parameter":      phpParameter,
			"variadic_parameter":                phpParameter,
			"anonymous_function":                scoped,
			"arrow_function":                    scoped,
			"foreach_statement":                 phpForEach,
			"catch_clause":                      phpCatch,
			"assignment_expression":             phpAssignment,
			"function_call_expression":          phpCall,
			"member_call_expression":            phpMemberCall,
			"nullsafe_member_call_expression":   phpMemberCall,
			"scoped_call_expression":            phpScopedCall,
			"object_creation_expression":        phpNew,
			"class_constant_access_expression":  func(w *walker, n int) { phpTypeUse(w, w.First(n)) },
			"scoped_property_access_expression": func(w *walker, n int) { phpTypeUse(w, w.Field(n, "scope")) },
			"binary_expression":                 phpBinary,
			"named_type":                        func(w *walker, n int) { phpTypeUse(w, w.First(n)) },
			"attribute":                         phpAttribute,
		},
	}
}

func phpNamespace(w *walker, n int) {
	name := w.Content(w.Field(n, "name"))
	if w.facts.Package == "" {
		w.facts.Package = w.intern(name)
	}
	w.visit(w.Field(n, "body"))
}

// phpUse reads imports. Functions and constants are members of their namespace, classes
// are imported whole.
func phpUse(w *walker, n int) {
	prefix := w.Content(w.Child(n, "namespace_name"))
	kind := w.Content(w.Field(n, "type"))
	list := n
	if group := w.Field(n, "body"); group >= 0 {
		list = group
	}
	for c := range w.Children(list) {
		if w.Kind(c) != "namespace_use_clause" {
			continue
		}
		target, alias := strings.TrimPrefix(w.Content(w.First(c)), "\\"), w.Content(w.Field(c, "alias"))
		if prefix != "" {
			target = prefix + "\\" + target
		}
		member := kind
		if own := w.Field(c, "type"); own >= 0 {
			member = w.Content(own)
		}
		if i := strings.LastIndexByte(target, '\\'); i > 0 && (member == "function" || member == "const") {
			w.importing(c, target[:i], target[i+1:], alias)
		} else {
			w.importing(c, target, "", alias)
		}
	}
}

func phpInclude(w *walker, n int) {
	for c := n; c < w.End(n); c++ {
		if w.Kind(c) != "string" && w.Kind(c) != "encapsed_string" {
			continue
		}
		path := unquote(w.Content(c))
		if strings.HasPrefix(path, "/") {
			path = "." + path // __DIR__ . '/file.php'
		}
		w.importing(n, path, "", "")
		return
	}
	w.inside(n)
}

// phpFrom gives where a signature begins: after the attributes.
func phpFrom(w *walker, n int) int {
	for c := range w.Children(n) {
		if w.Kind(c) != "attribute_list" {
			return c
		}
	}
	return n
}

func phpPublic(w *walker, n int) bool {
	access := w.Content(w.Child(n, "visibility_modifier"))
	return access == "" || access == "public"
}

var phpKinds = map[string]domain.SymbolKind{
	"class_declaration": domain.KindClass, "interface_declaration": domain.KindInterface, "trait_declaration": domain.KindTrait, "enum_declaration": domain.KindEnum,
}

func phpClass(w *walker, n int) {
	body := w.Field(n, "body")
	d := definition{
		kind: phpKinds[w.Kind(n)], name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: phpFrom(w, n), body: body, exported: true,
	}
	path := dotted(w.owner, d.name)
	d.bases = phpBases(w, n, body)
	d.fields = phpFields(w, body, path)
	w.within(w.define(d), func() {
		w.visit(w.Field(n, "attributes"))
		w.typed(path, d.bases, func() { w.inside(body) })
	})
}

func phpBases(w *walker, n, body int) (bases []domain.TypeRef) {
	add := func(clause int, kind domain.EdgeKind) {
		for c := range w.Children(clause) {
			if k := w.Kind(c); k == "name" || k == "qualified_name" {
				bases = append(bases, w.base(c, w.Content(c), kind))
			}
		}
	}
	add(w.Child(n, "base_clause"), domain.EdgeInherits)
	add(w.Child(n, "class_interface_clause"), domain.EdgeImplements)
	for c := range w.Children(body) {
		if w.Kind(c) == "use_declaration" {
			add(c, domain.EdgeEmbeds)
		}
	}
	return bases
}

// phpFields gives the properties whose type is known: declared, promoted from a parameter,
// or assigned in the constructor.
func phpFields(w *walker, body int, self string) []domain.Field {
	set := newFieldSet()
	was := w.self
	w.self = self
	defer func() { w.self = was }()
	for c := range w.Children(body) {
		switch w.Kind(c) {
		case "property_declaration":
			for e := range w.Children(c) {
				if w.Kind(e) == "property_element" {
					typ := phpType(w, w.Field(c, "type"))
					if typ == "" {
						typ = phpTypeOf(w, w.Field(e, "default_value"), maxSteps)
					}
					set.add(w, strings.TrimPrefix(w.Content(w.Field(e, "name")), "$"), typ)
				}
			}
		case "method_declaration":
			if w.Content(w.Field(c, "name")) == "__construct" {
				phpConstructorFields(w, c, set)
			}
		}
	}
	return set.fields
}

func phpConstructorFields(w *walker, n int, set *fieldSet) {
	w.push()
	defer w.pop()
	for p := range w.Children(w.Field(n, "parameters")) {
		typ := phpType(w, w.Field(p, "type"))
		w.bindLocal(w.Content(w.Field(p, "name")), typ)
		if w.Kind(p) == "property_promotion_parameter" {
			set.add(w, strings.TrimPrefix(w.Content(w.Field(p, "name")), "$"), typ)
		}
	}
	body := w.Field(n, "body")
	for c := body; c >= 0 && c < w.End(body); c++ {
		if w.Kind(c) != "assignment_expression" {
			continue
		}
		left, typ := w.Field(c, "left"), phpTypeOf(w, w.Field(c, "right"), maxSteps)
		switch {
		case w.Kind(left) == "variable_name":
			w.bindLocal(w.Content(left), typ)
		case w.Kind(left) == "member_access_expression" && w.Content(w.Field(left, "object")) == "$this":
			set.add(w, w.Content(w.Field(left, "name")), typ)
		}
	}
}

func phpEnumCase(w *walker, n int) {
	w.define(definition{
		kind: domain.KindConstant, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: phpFrom(w, n), typ: w.self, exported: true,
	})
	w.visit(w.Field(n, "value"))
}

func phpConst(w *walker, n int) {
	for c := range w.Children(n) {
		if w.Kind(c) != "const_element" {
			continue
		}
		value := w.Last(c)
		symbol := w.define(definition{
			kind: domain.KindConstant, name: w.Content(w.First(c)), owner: w.owner, node: n, from: phpFrom(w, n),
			typ: phpTypeOf(w, value, maxSteps), exported: phpPublic(w, n),
		})
		w.within(symbol, func() { w.visit(value) })
	}
}

func phpProperty(w *walker, n int) {
	w.visit(w.Field(n, "attributes"))
	w.visit(w.Field(n, "type"))
	for c := range w.Children(n) {
		if w.Kind(c) == "property_element" {
			w.visit(w.Field(c, "default_value"))
		}
	}
	w.visit(w.Child(n, "property_hook_list"))
}

func phpFunction(w *walker, n int) {
	body := w.Field(n, "body")
	d := definition{
		kind: domain.KindFunction, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: phpFrom(w, n), body: body,
		typ: phpType(w, w.Field(n, "return_type")), exported: true,
	}
	if w.Kind(n) == "method_declaration" {
		d.kind, d.exported = domain.KindMethod, phpPublic(w, n)
	}
	symbol := -1
	if w.Kind(w.Parent(w.Parent(n))) != "anonymous_class" { // else it belongs to what encloses it
		symbol = w.define(d)
	}
	w.within(symbol, func() {
		w.push()
		owner := w.owner
		if symbol >= 0 {
			owner = dotted(w.owner, d.name)
		}
		w.belonging(owner, func() { w.others(n, "name") })
		w.pop()
	})
}

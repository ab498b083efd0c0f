package lang

import (
	"strings"
	"unsafe"

	grammarc "github.com/tree-sitter/tree-sitter-c/bindings/go"
	grammarcpp "github.com/tree-sitter/tree-sitter-cpp/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

// C and C++ share their handlers: the grammar of C++ extends that of C.
func init() {
	register("c", func() rules { return cRules(grammarc.Language) })
	register("cpp", func() rules { return cRules(grammarcpp.Language) })
}

func cRules(grammar func() unsafe.Pointer) rules {
	return rules{
		grammar:  grammar,
		shared:   true,
		comments: []string{"comment"},
		builtins: `size_t ssize_t ptrdiff_t intptr_t uintptr_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t bool wchar_t va_list FILE
			auto string string_view std NULL TRUE FALSE static_cast dynamic_cast const_cast reinterpret_cast defined offsetof va_start va_end va_arg`,
		enter: cDefined,
		on: map[string]handler{
			"preproc_include":                cInclude,
			"preproc_def":                    cMacro,
			"preproc_function_def":           cMacro,
			"function_definition":            cFunction,
			"declaration":                    cDeclaration,
			"field_declaration":              cDeclaration,
			"type_definition":                cTypedef,
			"struct_specifier":               cStruct,
			"union_specifier":                cStruct,
			"class_specifier":                cStruct,
			"enum_specifier":                 cEnum,
			"namespace_definition":           cppNamespace,
			"namespace_alias_definition":     cppNamespaceAlias,
			"using_declaration":              cppUsing,
			"alias_declaration":              cppAlias,
			"concept_definition":             cppConcept,
			"template_declaration":           cppTemplate,
			"parameter_declaration":          cParameter,
			"optional_parameter_declaration": cParameter,
			"compound_statement":             scoped,
			"if_statement":                   scoped,
			"for_statement":                  scoped,
			"while_statement":                scoped,
			"switch_statement":               scoped,
			"catch_clause":                   scoped,
			"for_range_loop":                 cppForRange,
			"lambda_expression":              cppLambda,
			"field_initializer":              cppInitializer,
			"call_expression":                cCall,
			"new_expression":                 cppNew,
			"compound_literal_expression":    cppLiteral,
			"field_expression":               func(w *walker, n int) { w.visit(w.Field(n, "argument")) },
			"qualified_identifier":           cppQualified,
			"type_identifier":                useHere,
			"access_specifier":               cppAccess,
			"identifier":                     cName,
		},
	}
}

func cInclude(w *walker, n int) { w.importing(n, unquote(w.Content(w.Field(n, "path"))), "", "") }

// cMacro notes macros: with parameters they are functions, with a value constants. What has
// neither only guards or switches.
func cMacro(w *walker, n int) {
	d := definition{kind: domain.KindConstant, name: w.Content(w.Field(n, "name")), node: n, exported: true}
	if params := w.Field(n, "parameters"); params >= 0 {
		d.kind, d.until = domain.KindFunction, params
	} else if w.Field(n, "value") < 0 {
		return
	}
	w.define(d)
}

// cDefined collects the functions that the file defines: their declarations are no symbols.
func cDefined(w *walker, root int) {
	for n := root; n < w.End(root); n++ {
		if w.Kind(n) == "function_definition" {
			d := cDeclared(w, w.Field(n, "declarator"))
			if owner, name := cOwner(w, d.name); name != "" {
				w.seen[dotted(lastPart(owner), name)] = true
			}
		}
	}
}

// cName notes a function of the file that is named without being called.
func cName(w *walker, n int) {
	if name := w.Content(n); w.seen[name] && !w.isLocal(name) {
		w.uses(n, name)
	}
}

// declared is what a declarator says.
type declared struct {
	name     int  // the name's node
	function int  // the function_declarator, if it declares a function
	params   int  // the parameters of a function, or of a pointer to one
	pointer  bool // a pointer to a function
	array    bool
}

// cDeclared takes a declarator apart.
func cDeclared(w *walker, n int) declared {
	d := declared{name: none, function: none, params: none}
	for n >= 0 {
		next := w.Field(n, "declarator")
		switch w.Kind(n) {
		case "identifier", "field_identifier", "type_identifier", "qualified_identifier", "destructor_name", "operator_name",
			"operator_cast", "template_function", "template_method", "primitive_type":
			d.name = n
			return d
		case "function_declarator":
			d.function, d.params = n, w.Field(n, "parameters")
		case "array_declarator":
			d.array = true
		case "pointer_declarator":
			if d.function >= 0 && w.Kind(w.Parent(n)) == "parenthesized_declarator" {
				d.function, d.pointer = none, true
			}
		case "init_declarator":
		case "reference_declarator", "parenthesized_declarator", "attributed_declarator":
			next = w.Last(n)
			if w.Kind(n) == "attributed_declarator" {
				next = w.First(n)
			}
		default:
			return d
		}
		n = next
	}
	return d
}

// cOwner gives the class that a declared name belongs to, and the name itself.
func cOwner(w *walker, name int) (owner, bare string) {
	var scopes []string
	for w.Kind(name) == "qualified_identifier" {
		scope, _ := splitType(fold(w.Content(w.Field(name, "scope")), maxChain), '<', '>')
		if scope != "" && !w.seen["namespace "+scope] {
			scopes = append(scopes, scope)
		}
		name = w.Field(name, "name")
	}
	switch w.Kind(name) {
	case "template_function", "template_method":
		name = w.Field(name, "name")
	case "operator_cast":
		return strings.Join(scopes, "."), "operator " + fold(w.Content(w.Field(name, "type")), maxChain)
	}
	return strings.Join(scopes, "."), fold(w.Content(name), maxChain)
}

// cWhole gives the definition with the template clause before it.
func cWhole(w *walker, n int) int {
	for w.Kind(w.Parent(n)) == "template_declaration" {
		n = w.Parent(n)
	}
	return n
}

func cStatic(w *walker, n int) bool {
	for c := range w.Children(n) {
		if w.Kind(c) == "storage_class_specifier" && w.Content(c) == "static" {
			return true
		}
	}
	return false
}

func cFunction(w *walker, n int) {
	decl := cDeclared(w, w.Field(n, "declarator"))
	body := w.Field(n, "body")
	d := definition{kind: domain.KindFunction, node: cWhole(w, n), body: body, exported: !cStatic(w, n) && !w.hidden}
	if list := w.Child(n, "field_initializer_list"); list >= 0 {
		d.body = list
	}
	d.owner, d.name = cOwner(w, decl.name)
	cDefineFunction(w, n, decl, d)
}

// cDefineFunction notes a function and walks its parts.
func cDefineFunction(w *walker, n int, decl declared, d definition) {
	self := w.self
	switch {
	case w.self != "" && w.owner == w.self:
		d.owner, d.kind, d.exported = w.self, domain.KindMethod, !w.hidden
	case d.owner != "":
		d.kind, self = domain.KindMethod, d.owner
		if d.name == lastPart(d.owner) || strings.HasPrefix(d.name, "~") {
			d.exported = true
		}
	case w.owner != "":
		d.owner = w.owner
	}
	d.typ = cType(w, n, decl)
	if trailing := w.Child(decl.function, "trailing_return_type"); trailing >= 0 {
		d.typ = cTypeText(w, w.First(trailing))
	}
	w.within(w.define(d), func() {
		was := w.self
		w.self = self
		w.push()
		w.visit(w.Field(n, "type"))
		for c := range w.Children(decl.function) { // the parameters
			if w.FieldName(c) != "declarator" {
				w.visit(c)
			}
		}
		w.belonging(dotted(d.owner, d.name), func() { w.others(n, "type", "declarator") })
		w.pop()
		w.self = was
	})
}

// cDeclaration reads declarations of variables, fields and functions. Their common type is
// walked once, by the first of them.
func cDeclaration(w *walker, n int) {
	typ := w.Field(n, "type")
	visitType := func() {
		w.visit(typ)
		typ = none
	}
	inFunction, inClass := w.kindOf(w.symbol).Function(), w.self != "" && w.owner == w.self
	if w.Field(typ, "body") >= 0 || inFunction || inClass && cFieldsOnly(w, n) {
		visitType()
	}
	for c := range w.Children(n) {
		if w.FieldName(c) != "declarator" {
			if w.FieldName(c) != "type" {
				w.visit(c)
			}
			continue
		}
		decl := cDeclared(w, c)
		switch {
		case inFunction:
			cLocal(w, n, c, decl)
		case decl.function >= 0 || w.Kind(decl.name) == "operator_cast":
			cPrototype(w, n, decl)
			typ = none
		case inClass:
			cStaticField(w, n, c, decl)
		default:
			w.within(cGlobal(w, n, decl), func() {
				visitType()
				w.visit(w.Field(c, "value"))
			})
		}
	}
	visitType()
}

// cFieldsOnly reports whether a declaration in a class declares no function.
func cFieldsOnly(w *walker, n int) bool {
	return cDeclared(w, w.Field(n, "declarator")).function < 0
}

// cPrototype notes a function that is declared here and defined in another file.
func cPrototype(w *walker, n int, decl declared) {
	d := definition{kind: domain.KindFunction, node: cWhole(w, n), exported: !cStatic(w, n) && !w.hidden}
	d.owner, d.name = cOwner(w, decl.name)
	if w.seen[dotted(lastPart(dotted(w.self, d.owner)), d.name)] {
		return
	}
	w.depth++
	cDefineFunction(w, n, decl, d)
	w.depth--
}

// cLocal binds a variable of a function. A declaration with arguments constructs it.
func cLocal(w *walker, n, at int, decl declared) {
	value := w.Field(at, "value")
	typ := cType(w, n, decl)
	constructs := w.Kind(value) == "argument_list" || w.Kind(value) == "initializer_list"
	if decl.function >= 0 {
		constructs = true // it reads as a function's declaration, which hardly stands here
		value = w.Field(decl.function, "parameters")
	}
	if name, _ := splitType(typ, '<', '>'); constructs && cIsClass(w, w.Field(n, "type")) {
		w.calls(call{node: at, name: lastPart(name), receiver: none, args: w.arguments(value)})
	}
	if k := w.Kind(w.Field(n, "type")); k == "placeholder_type_specifier" || k == "auto" {
		typ = cTypeOf(w, value, maxSteps)
	}
	if w.Kind(value) != "parameter_list" {
		w.visit(value)
	}
	w.bindLocal(w.Content(decl.name), typ)
}

func cIsClass(w *walker, typ int) bool {
	switch w.Kind(typ) {
	case "type_identifier", "qualified_identifier", "template_type":
		return !w.g.builtins[w.Content(typ)]
	}
	return false
}

// cGlobal notes a variable, unless another file defines it.
func cGlobal(w *walker, n int, decl declared) int {
	owner, name := cOwner(w, decl.name)
	typ := cType(w, n, decl)
	if k := w.Kind(w.Field(n, "type")); k == "placeholder_type_specifier" {
		typ = cTypeOf(w, w.Field(w.Field(n, "declarator"), "value"), maxSteps)
	}
	w.bind(name, binding{typ: typ})
	if w.Content(w.First(n)) == "extern" {
		return -1
	}
	return w.define(definition{
		kind: domain.KindConstant, name: name, owner: owner, node: cWhole(w, n), typ: typ, exported: !cStatic(w, n) && !w.hidden,
	})
}

// cStaticField notes a constant of a class.
func cStaticField(w *walker, n, at int, decl declared) {
	symbol := -1
	if text := w.Text[w.Nodes[n].Start:w.Nodes[at].Start]; strings.Contains(text, "static") && strings.Contains(text, "const") {
		symbol = w.define(definition{
			kind: domain.KindConstant, name: w.Content(decl.name), owner: w.self, node: n, typ: cType(w, n, decl), exported: !w.hidden,
		})
	}
	w.within(symbol, func() { w.visit(w.Field(at, "value")) })
}

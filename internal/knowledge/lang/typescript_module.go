package lang

import (
	"github.com/harvest-engine/harvest/internal/domain"
)

func tsImport(w *walker, n int) {
	source := unquote(w.Content(w.Field(n, "source")))
	clause := w.Child(n, "import_clause")
	if required := w.Child(n, "import_require_clause"); required >= 0 {
		w.importing(n, unquote(w.Content(w.Field(required, "source"))), "", w.Content(w.First(required)))
		return
	}
	if clause < 0 {
		w.importing(n, source, "", "")
		return
	}
	for c := range w.Children(clause) {
		switch w.Kind(c) {
		case "identifier":
			w.importing(c, source, "default", w.Content(c))
		case "namespace_import":
			w.importing(c, source, "*", w.Content(w.First(c)))
		case "named_imports":
			tsSpecifiers(w, c, source)
		}
	}
}

// tsSpecifiers reads the names in the braces of an import or of an export from a module.
func tsSpecifiers(w *walker, list int, source string) {
	for c := range w.Children(list) {
		if k := w.Kind(c); k == "import_specifier" || k == "export_specifier" {
			w.importing(c, source, unquote(w.Content(w.Field(c, "name"))), unquote(w.Content(w.Field(c, "alias"))))
		}
	}
}

// tsExport reads exports: those from another module are imports too.
func tsExport(w *walker, n int) {
	clause := w.Child(n, "export_clause")
	if source := w.Field(n, "source"); source >= 0 {
		target := unquote(w.Content(source))
		if namespace := w.Child(n, "namespace_export"); namespace >= 0 {
			w.importing(n, target, "*", w.Content(w.First(namespace)))
		} else if clause < 0 {
			w.importing(n, target, "*", "")
		}
		tsSpecifiers(w, clause, target)
		return
	}
	for c := range w.Children(clause) {
		if w.Kind(c) == "export_specifier" {
			name, alias := unquote(w.Content(w.Field(c, "name"))), unquote(w.Content(w.Field(c, "alias")))
			if alias == "" {
				alias = name
			}
			w.exporting(name, alias)
		}
	}
	if clause >= 0 {
		return
	}
	if declared := w.Field(n, "declaration"); declared >= 0 && w.Child(n, "default") >= 0 {
		if name := w.Content(w.Field(declared, "name")); name != "" {
			w.exporting(name, "default")
		}
	}
	value := w.Field(n, "value")
	if value < 0 && w.Child(n, "=") >= 0 {
		value = w.Last(n) // export = x
	}
	if value < 0 {
		w.others(n, "decorator") // those belong to the class
		return
	}
	tsExportValue(w, n, value)
}

// tsExportValue reads the expression that a module is as a value: its default export.
func tsExportValue(w *walker, n, value int) {
	d := definition{kind: domain.KindConstant, name: "default", node: n, exported: true}
	switch w.Kind(value) {
	case "identifier":
		w.exporting(w.Content(value), "default")
		w.visit(value)
	case "arrow_function", "function_expression":
		d.kind = domain.KindFunction
		tsDefineFunction(w, value, d)
	case "object":
		tsObject(w, value, d)
	case "class":
		if name := w.Content(w.Field(value, "name")); name != "" {
			w.exporting(name, "default")
		}
		w.visit(value)
	case "new_expression", "call_expression", "await_expression", "as_expression", "satisfies_expression":
		if inner := tsDecorated(w, value); inner != "" {
			w.exporting(inner, "default")
			w.visit(value)
			return
		}
		d.typ = tsTypeOf(w, value, maxSteps)
		w.within(w.define(d), func() { w.visit(value) })
	default:
		w.visit(value)
	}
}

// tsDecorated gives the component that a call is given and gives back in another guise:
// memo(Panel), connect(state)(Panel).
func tsDecorated(w *walker, n int) string {
	if w.Kind(n) != "call_expression" {
		return ""
	}
	args := w.named(w.Field(n, "arguments"))
	if len(args) == 0 || w.Kind(args[0]) != "identifier" || !upperFirst(w.Content(args[0])) {
		return ""
	}
	return w.Content(args[0])
}

// exporting notes that the module hands a name of its own on.
func (w *walker) exporting(name, as string) {
	w.facts.Exports = append(w.facts.Exports, domain.Export{Name: w.intern(name), As: w.intern(as)})
}

// tsMarkExports marks what the file exports by name. Exports under the same name say nothing
// more.
func tsMarkExports(w *walker) {
	names := make(map[string]bool, len(w.facts.Exports))
	kept := w.facts.Exports[:0]
	for _, e := range w.facts.Exports {
		names[e.Name] = true
		if e.Name != e.As {
			kept = append(kept, e)
		}
	}
	if w.facts.Exports = kept; len(kept) == 0 {
		w.facts.Exports = nil
	}
	for i := range w.facts.Symbols {
		if s := &w.facts.Symbols[i]; s.Receiver == "" && names[s.Name] {
			s.Exported = true
		}
	}
}

// tsModuleVars binds the module's variables before any function uses them.
func tsModuleVars(w *walker, root int) {
	for statement := range w.Children(root) {
		if w.Kind(statement) == "export_statement" {
			statement = w.Field(statement, "declaration")
		}
		if k := w.Kind(statement); k != "lexical_declaration" && k != "variable_declaration" {
			continue
		}
		for c := range w.Children(statement) {
			if w.Kind(c) == "variable_declarator" {
				tsBindDeclarator(w, c, false)
			}
		}
	}
}

// tsBindDeclarator binds the names of a variable declaration.
func tsBindDeclarator(w *walker, n int, local bool) {
	name, value := w.Field(n, "name"), w.Field(n, "value")
	if !local && tsRequired(w, value) != "" {
		return // an import, not a variable
	}
	if values := tsListed(w, value); w.Kind(name) == "array_pattern" && values != nil {
		for i, element := range w.named(name) {
			if i < len(values) {
				tsBindPattern(w, element, tsTypeOf(w, values[i], maxSteps), local)
			}
		}
		return
	}
	if w.Kind(name) != "identifier" {
		tsBindPattern(w, name, tsFieldType(w, n), local)
		return
	}
	typ := ""
	switch w.Kind(value) {
	case "arrow_function", "function_expression", "generator_function", "class":
		if !local {
			return // a symbol; calls of it are resolved as those of any function
		}
		typ = "func"
	case "object":
		if !local {
			typ = w.Content(name) // its methods are symbols that belong to it
		}
	}
	if declared := tsFieldType(w, n); declared != "" {
		typ = declared
	}
	w.bind(w.Content(name), binding{typ: typ, local: local})
}

// tsListed gives the elements of a list that is written out, or awaited in parallel.
func tsListed(w *walker, n int) []int {
	if w.Kind(n) == "await_expression" {
		if n = w.First(n); w.Content(w.Field(n, "function")) != "Promise.all" {
			return nil
		}
		n = w.First(w.Field(n, "arguments"))
	}
	if w.Kind(n) != "array" {
		return nil
	}
	return w.named(n)
}

// tsRequired gives the module of require("module") and of await import("module").
func tsRequired(w *walker, n int) string {
	if w.Kind(n) == "member_expression" {
		n = w.Field(n, "object")
	}
	if w.Kind(n) == "parenthesized_expression" {
		n = w.First(n)
	}
	imported := w.Kind(n) == "await_expression"
	if imported {
		n = w.First(n)
	}
	function := w.Field(n, "function")
	if w.Kind(n) != "call_expression" || imported != (w.Kind(function) == "import") || !imported && w.Content(function) != "require" {
		return ""
	}
	if arg := w.First(w.Field(n, "arguments")); w.Kind(arg) == "string" {
		return unquote(w.Content(arg))
	}
	return ""
}

// tsVariable reads one declared variable: that of a module is a symbol.
func tsVariable(w *walker, n int) {
	name, value := w.Field(n, "name"), w.Field(n, "value")
	if module := tsRequired(w, value); module != "" {
		tsRequire(w, n, module)
		return
	}
	if !tsAtModule(w, n) {
		w.visit(w.Field(n, "type"))
		w.visit(value)
		w.visit(tsPatternDefaults(w, name))
		tsBindDeclarator(w, n, true)
		return
	}
	if w.Kind(name) != "identifier" {
		w.visit(value)
		return
	}
	whole, exported := tsWhole(w, n)
	d := definition{name: w.Content(name), owner: w.owner, node: whole, exported: exported}
	if list := w.Parent(n); w.Child(list, ",") >= 0 {
		d.node = n // one of several
	}
	switch w.Kind(value) {
	case "arrow_function", "function_expression", "generator_function":
		d.kind = domain.KindFunction
		tsHintComponent(w, w.Field(n, "type"), value)
		symbol := len(w.facts.Symbols)
		tsDefineFunction(w, value, d)
		w.within(symbol, func() { w.visit(w.Field(n, "type")) })
	case "class":
		d.kind = domain.KindClass
		tsDefineClass(w, value, d)
	case "object":
		d.kind = domain.KindConstant
		d.typ = tsTypeText(w, w.Field(n, "type"))
		tsObject(w, value, d)
		w.visit(w.Field(n, "type"))
	default:
		d.kind, d.typ = domain.KindConstant, tsFieldType(w, n)
		w.within(w.define(d), func() { w.others(n, "name") })
	}
}

// tsHintComponent tells a function that is declared to be a component what it is given.
func tsHintComponent(w *walker, annotation, function int) {
	name, args := splitType(fold(w.Content(w.First(annotation)), maxChain), '<', '>')
	switch lastPart(name) {
	case "FC", "VFC", "FunctionComponent":
		if len(args) == 1 {
			w.hints[function] = args[0]
		}
	}
}

// tsAtModule reports whether a variable is one of the module or of a namespace.
func tsAtModule(w *walker, n int) bool {
	whole, _ := tsWhole(w, n)
	switch up := w.Parent(whole); w.Kind(up) {
	case "program":
		return true
	case "statement_block":
		k := w.Kind(w.Parent(up))
		return k == "internal_module" || k == "module"
	}
	return false
}

// tsRequire notes the imports of const x = require("m") and const {a, b: c} = require("m").
func tsRequire(w *walker, n int, module string) {
	name, member := w.Field(n, "name"), ""
	if value := w.Field(n, "value"); w.Kind(value) == "member_expression" {
		member = w.Content(w.Field(value, "property"))
	}
	if w.Kind(name) == "identifier" {
		w.importing(n, module, member, w.Content(name))
		return
	}
	for c := range w.Children(name) {
		switch w.Kind(c) {
		case "shorthand_property_identifier_pattern":
			w.importing(c, module, w.Content(c), "")
		case "pair_pattern":
			w.importing(c, module, w.Content(w.Field(c, "key")), w.Content(w.Field(c, "value")))
		}
	}
}

// tsObject notes a constant object; the functions in it are methods that belong to it.
func tsObject(w *walker, object int, d definition) {
	if d.body == 0 && d.typ == "" {
		d.body = object
	}
	owner := dotted(d.owner, d.name)
	w.within(w.define(d), func() {
		w.typed(owner, nil, func() {
			for c := range w.Children(object) {
				value := w.Field(c, "value")
				switch k := w.Kind(value); {
				case w.Kind(c) == "method_definition":
					tsDefineFunction(w, c, definition{kind: domain.KindMethod, name: tsName(w, c), owner: owner, node: c, exported: d.exported})
				case k == "arrow_function" || k == "function_expression":
					name := unquote(w.Content(w.Field(c, "key")))
					tsDefineFunction(w, value, definition{kind: domain.KindMethod, name: name, owner: owner, node: c, exported: d.exported})
				default:
					w.visit(c)
				}
			}
		})
	})
}

// tsAssignment reads assignments; those that give a module or a class a function define it.
func tsAssignment(w *walker, n int) {
	left, right := w.Field(n, "left"), w.Field(n, "right")
	if k := w.Kind(right); w.symbol < 0 && w.Kind(left) == "member_expression" && (k == "function_expression" || k == "arrow_function") {
		whole, _ := tsWhole(w, n)
		d := definition{kind: domain.KindFunction, name: w.Content(w.Field(left, "property")), node: whole, exported: true}
		object := w.Field(left, "object")
		switch text := w.Content(object); {
		case text == "exports" || text == "module.exports":
		case text == "module":
			d.name = "default"
		case w.Content(w.Field(object, "property")) == "prototype":
			d.kind, d.owner = domain.KindMethod, w.Content(w.Field(object, "object"))
		default:
			d.owner = fold(text, maxChain)
		}
		w.typed(d.owner, nil, func() { tsDefineFunction(w, right, d) })
		return
	}
	w.visit(left)
	if w.symbol < 0 && w.Content(left) == "module.exports" {
		tsExportValue(w, n, right)
		return
	}
	if object := w.Content(w.Field(left, "object")); w.symbol < 0 && w.Kind(right) == "identifier" && (object == "exports" || object == "module.exports") {
		w.exporting(w.Content(right), w.Content(w.Field(left, "property")))
	}
	w.visit(right)
	if b, ok := w.lookup(w.Content(left)); ok && b.typ == "" && w.Kind(left) == "identifier" {
		b.typ = tsTypeOf(w, right, maxSteps)
		w.bind(w.Content(left), b)
	}
}

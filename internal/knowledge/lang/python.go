package lang

import (
	"strings"

	python "github.com/tree-sitter/tree-sitter-python/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("python", pyRules) }

func pyRules() rules {
	return rules{
		grammar:  python.Language,
		comments: []string{"comment"},
		builtins: `Any Awaitable Callable ClassVar Coroutine Dict False Final FrozenSet Generator Generic Iterable Iterator List Literal Mapping
			MutableMapping NoReturn None Optional Protocol Self Sequence Set True Tuple Type TypeAlias TypeVar Union
			abs all any bool bytearray bytes callable classmethod complex dict dir divmod enumerate filter float frozenset getattr
			hasattr hash id int isinstance issubclass iter len list map max memoryview min next object open ord chr print property range repr
			reversed round set setattr delattr slice sorted staticmethod str sum super tuple type vars zip Exception ValueError TypeError
			KeyError RuntimeError NotImplementedError IndexError AttributeError StopIteration OSError NotImplemented BaseException
			TimeoutError ConnectionError FileNotFoundError PermissionError ImportError AssertionError KeyboardInterrupt`,
		enter: pyModuleVars,
		on: map[string]handler{
			"class_definition":         func(w *walker, n int) { pyClass(w, n, n) },
			"function_definition":      func(w *walker, n int) { pyFunction(w, n, n) },
			"decorated_definition":     pyDecorated,
			"decorator":                pyDecorator,
			"import_statement":         pyImport,
			"import_from_statement":    pyImportFrom,
			"future_import_statement":  pyImportFrom,
			"type_alias_statement":     pyTypeAlias,
			"assignment":               pyAssignment,
			"named_expression":         pyWalrus,
			"global_statement":         pyGlobal,
			"for_statement":            pyFor,
			"for_in_clause":            pyFor,
			"as_pattern":               pyAs,
			"case_clause":              pyCase,
			"if_statement":             pyIf,
			"assert_statement":         pyAssert,
			"list_comprehension":       pyComprehension,
			"set_comprehension":        pyComprehension,
			"dictionary_comprehension": pyComprehension,
			"generator_expression":     pyComprehension,
			"lambda":                   pyLambda,
			"call":                     pyCall,
			"attribute":                func(w *walker, n int) { w.visit(w.Field(n, "object")) },
			"keyword_argument":         func(w *walker, n int) { w.visit(w.Field(n, "value")) },
			"type":                     pyTypeUse,
			"identifier":               nameUse,
			"class_pattern":            pyClassPattern,
		},
	}
}

func pyExported(name string) bool {
	return !strings.HasPrefix(name, "_") || strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}

// pyModuleVars binds the module's variables before any function uses them.
func pyModuleVars(w *walker, root int) {
	for c := range w.Children(root) {
		if a := w.First(c); w.Kind(c) == "expression_statement" && w.Kind(a) == "assignment" {
			pyBindAssignment(w, a)
		}
	}
}

func pyImport(w *walker, n int) {
	for c := range w.Children(n) {
		if w.FieldName(c) != "name" || !w.Named(c) {
			continue
		}
		if w.Kind(c) == "aliased_import" {
			w.importing(c, w.Content(w.Field(c, "name")), "", w.Content(w.Field(c, "alias")))
		} else {
			w.importing(c, w.Content(c), "", "")
		}
	}
}

func pyImportFrom(w *walker, n int) {
	target := "__future__"
	if module := w.Field(n, "module_name"); module >= 0 {
		target = w.Content(module)
	}
	for c := range w.Children(n) {
		switch {
		case w.Kind(c) == "wildcard_import":
			w.importing(c, target, "*", "")
		case w.FieldName(c) != "name" || !w.Named(c):
		case w.Kind(c) == "aliased_import":
			w.importing(c, target, w.Content(w.Field(c, "name")), w.Content(w.Field(c, "alias")))
		default:
			w.importing(c, target, w.Content(c), "")
		}
	}
}

func pyDecorated(w *walker, n int) {
	switch def := w.Field(n, "definition"); w.Kind(def) {
	case "class_definition":
		pyClass(w, def, n)
	case "function_definition":
		pyFunction(w, def, n)
	}
}

// pyDecorator notes the call that a decorator without arguments is.
func pyDecorator(w *walker, n int) {
	expr := w.First(n)
	c := call{node: expr, receiver: none, args: 1}
	switch w.Kind(expr) {
	case "identifier":
		if c.name = w.Content(expr); w.g.builtins[c.name] {
			return
		}
	case "attribute":
		c.name, c.receiver = w.Content(w.Field(expr, "attribute")), w.Field(expr, "object")
		c.recvType = pyReceiverType(w, c.receiver)
	default:
		w.visit(expr)
		return
	}
	w.calls(c)
}

// pyDecorators walks the decorators of a definition; they belong to what they adorn.
func pyDecorators(w *walker, whole int) {
	for c := range w.Children(whole) {
		if w.Kind(c) == "decorator" {
			w.visit(c)
		}
	}
}

func pyHasDecorator(w *walker, whole int, names ...string) bool {
	if w.Kind(whole) != "decorated_definition" {
		return false
	}
	for c := range w.Children(whole) {
		for _, name := range names {
			if w.Kind(c) == "decorator" && lastPart(w.Content(w.First(c))) == name {
				return true
			}
		}
	}
	return false
}

// pyDocstring gives the string that a body begins with.
func pyDocstring(w *walker, body int) string {
	first := w.First(body)
	if w.Kind(first) == "comment" {
		return ""
	}
	text := w.First(first)
	if w.Kind(first) != "expression_statement" || w.Kind(text) != "string" {
		return ""
	}
	return cleanDoc(w.Content(w.Child(text, "string_content")))
}

func pyClass(w *walker, n, whole int) {
	name, body := w.Content(w.Field(n, "name")), w.Field(n, "body")
	path := dotted(w.owner, name)
	d := definition{
		kind: domain.KindClass, name: name, owner: w.owner, node: whole, from: n, body: body,
		doc: pyDocstring(w, body), exported: pyExported(name),
	}
	supers := w.Field(n, "superclasses")
	for c := range w.Children(supers) {
		base := pyBase(w, c)
		switch lastPart(base) {
		case "":
			continue
		case "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag":
			d.kind = domain.KindEnum
		case "Protocol":
			d.kind = domain.KindInterface
		}
		if !w.g.builtins[base] || base == "Exception" {
			d.bases = append(d.bases, w.base(c, base, domain.EdgeInherits))
		}
	}
	d.until = max(supers, w.Field(n, "name"))
	d.fields = pyFields(w, body, path)
	if d.kind == domain.KindEnum {
		for i := range d.fields {
			d.fields[i].Type = w.intern(path) // a member is one of the enum
		}
	}
	w.within(w.define(d), func() {
		if whole != n {
			pyDecorators(w, whole)
		}
		w.push()
		pyTypeParams(w, w.Field(n, "type_parameters"))
		pyBaseArguments(w, supers)
		w.typed(path, d.bases, func() { w.visit(body) })
		w.pop()
	})
}

// pyBase gives the name of a base class: "models.Model" of models.Model[T].
func pyBase(w *walker, n int) string {
	switch w.Kind(n) {
	case "identifier", "attribute":
		return fold(w.Content(n), maxChain)
	case "subscript":
		return pyBase(w, w.Field(n, "value"))
	}
	return ""
}

// pyBaseArguments walks what a class's list of bases holds besides their names.
func pyBaseArguments(w *walker, supers int) {
	for c := range w.Children(supers) {
		switch w.Kind(c) {
		case "identifier", "attribute":
		case "subscript":
			w.others(c, "value")
		default:
			w.visit(c)
		}
	}
}

func pyFunction(w *walker, n, whole int) {
	name, body := w.Content(w.Field(n, "name")), w.Field(n, "body")
	result := w.Field(n, "return_type")
	d := definition{
		kind: domain.KindFunction, name: name, owner: w.owner, node: whole, from: n, body: body,
		doc: pyDocstring(w, body), typ: pyTypeText(w, result), exported: pyExported(name),
		until: max(result, w.Field(n, "parameters")),
	}
	method := w.self != "" && w.owner == w.self
	if method {
		d.kind = domain.KindMethod
	} else if w.owner != "" {
		d.exported = false
	}
	w.within(w.define(d), func() {
		if whole != n {
			pyDecorators(w, whole)
		}
		w.push()
		pyTypeParams(w, w.Field(n, "type_parameters"))
		params := w.Field(n, "parameters")
		pyBindParams(w, params, method && !pyHasDecorator(w, whole, "staticmethod"))
		w.visit(params)
		w.visit(result)
		w.belonging(dotted(w.owner, name), func() { w.visit(body) })
		w.pop()
	})
}

// pyBindParams binds parameters; the first of a method is the object or its class.
func pyBindParams(w *walker, params int, method bool) {
	for c := range w.Children(params) {
		if !w.Named(c) {
			continue
		}
		name, typ := c, w.Field(c, "type")
		if w.Kind(c) != "identifier" {
			if name = w.Field(c, "name"); name < 0 {
				name = w.First(c)
			}
		}
		text := pyTypeText(w, typ)
		switch w.Kind(name) {
		case "list_splat_pattern":
			name, text = w.First(name), pyMany("tuple", "tuple[", text)
		case "dictionary_splat_pattern":
			name, text = w.First(name), pyMany("dict", "dict[str, ", text)
		}
		if typ < 0 && text == "" {
			text = pyTypeOf(w, w.Field(c, "value"), maxSteps)
		}
		if method {
			text, method = w.self, false
		}
		w.bindLocal(w.Content(name), text)
	}
}

// pyMany gives the type of a parameter that takes many arguments of a type.
func pyMany(bare, open, of string) string {
	if of == "" {
		return bare
	}
	return open + of + "]"
}

// pyTypeParams binds the type parameters of def f[T: Bound], class C[T] and type A[T].
func pyTypeParams(w *walker, list int) {
	for c := range w.Children(list) {
		name, bound, _ := strings.Cut(w.Content(c), ":")
		w.bind(strings.Trim(name, "* "), binding{typ: strings.TrimSpace(bound), typeParam: true})
	}
}

func pyTypeAlias(w *walker, n int) {
	left, right := w.Field(n, "left"), w.Field(n, "right")
	name := leading(w.Content(left))
	w.push()
	defer w.pop()
	if generic := w.First(left); w.Kind(generic) == "generic_type" {
		pyTypeParams(w, w.Child(generic, "type_parameter"))
	}
	symbol := w.define(definition{
		kind: domain.KindType, name: name, owner: w.owner, node: n, typ: pyTypeText(w, right), exported: pyExported(name),
	})
	w.within(symbol, func() { w.visit(right) })
}

package lang

import (
	"strings"

	grammarscala "github.com/tree-sitter/tree-sitter-scala/bindings/go"

	"github.com/harvest-engine/harvest/internal/domain"
)

func init() { register("scala", scalaRules) }

func scalaRules() rules {
	return rules{
		grammar:  grammarscala.Language,
		comments: []string{"comment", "block_comment"},
		builtins: `Int Long Short Byte Double Float Boolean Char String Unit Any AnyRef AnyVal Nothing Null Array List Seq Vector Map Set Option Some None Either
			Left Right Try Success Failure Future Throwable Exception RuntimeException IllegalArgumentException Iterable Iterator Tuple2 Nil this super
			println print require assert implicitly summon classOf ??? s f`,
		enter: scalaTopLevel,
		on: map[string]handler{
			"package_clause":         scalaPackage,
			"import_declaration":     scalaImport,
			"class_definition":       scalaClass,
			"trait_definition":       scalaClass,
			"object_definition":      scalaClass,
			"enum_definition":        scalaClass,
			"package_object":         scalaClass,
			"given_definition":       scalaGiven,
			"extension_definition":   scalaExtension,
			"simple_enum_case":       scalaCase,
			"full_enum_case":         scalaCase,
			"function_definition":    scalaFunction,
			"function_declaration":   scalaFunction,
			"val_definition":         scalaValue,
			"var_definition":         scalaValue,
			"val_declaration":        scalaValue,
			"var_declaration":        scalaValue,
			"type_definition":        scalaAlias,
			"parameter":              scalaParameter,
			"class_parameter":        scalaParameter,
			"block":                  scoped,
			"indented_block":         scoped,
			"for_expression":         scoped,
			"enumerator":             scalaEnumerator,
			"match_expression":       scalaMatch,
			"case_clause":            scalaClause,
			"lambda_expression":      scalaLambda,
			"call_expression":        scalaCall,
			"infix_expression":       scalaInfix,
			"field_expression":       scalaField,
			"instance_expression":    scalaNew,
			"annotation":             scalaAnnotation,
			"type_identifier":        useHere,
			"stable_type_identifier": useHere,
			"identifier":             valueUse,
		},
	}
}

func scalaPackage(w *walker, n int) {
	w.facts.Package = w.intern(dotted(w.facts.Package, w.Content(w.Field(n, "name")))) // clauses nest
	w.visit(w.Field(n, "body"))
}

// scalaImport reads imports: the last name of a path is the member.
func scalaImport(w *walker, n int) {
	var path []string
	at := none
	for c := range w.Children(n) {
		if w.FieldName(c) == "path" && w.Kind(c) != "." {
			path = append(path, w.Content(c))
			at = c
		}
		switch w.Kind(c) {
		case "namespace_wildcard", "wildcard":
			w.importing(n, strings.Join(path, "."), "*", "")
			return
		case "namespace_selectors":
			scalaSelectors(w, c, strings.Join(path, "."))
			return
		case "as_renamed_identifier", "arrow_renamed_identifier":
			w.importing(n, strings.Join(path, "."), w.Content(w.Field(c, "name")), w.Content(w.Field(c, "alias")))
			return
		}
	}
	if len(path) < 2 {
		w.importing(n, w.Content(at), "", "")
		return
	}
	w.importing(n, strings.Join(path[:len(path)-1], "."), path[len(path)-1], "")
}

func scalaSelectors(w *walker, list int, target string) {
	for c := range w.Children(list) {
		switch w.Kind(c) {
		case "identifier", "type_identifier":
			w.importing(c, target, w.Content(c), "")
		case "namespace_wildcard", "wildcard":
			w.importing(c, target, "*", "")
		case "arrow_renamed_identifier", "as_renamed_identifier":
			if alias := w.Content(w.Field(c, "alias")); alias != "_" {
				w.importing(c, target, w.Content(w.Field(c, "name")), alias)
			}
		}
	}
}

// scalaTopLevel binds the values of the file before any function uses them.
func scalaTopLevel(w *walker, root int) {
	for c := range w.Children(root) {
		if k := w.Kind(c); k == "val_definition" || k == "var_definition" {
			w.bind(w.Content(w.Field(c, "pattern")), binding{typ: scalaValueType(w, c)})
		}
	}
}

func scalaPublic(w *walker, n int) bool {
	access := w.Content(w.Child(w.Child(n, "modifiers"), "access_modifier"))
	return !strings.HasPrefix(access, "private") && !strings.HasPrefix(access, "protected")
}

// scalaFrom gives where a signature begins: after the annotations.
func scalaFrom(w *walker, n int) int {
	for c := range w.Children(n) {
		if w.Kind(c) != "annotation" {
			return c
		}
	}
	return n
}

var scalaKinds = map[string]domain.SymbolKind{
	"class_definition": domain.KindClass, "trait_definition": domain.KindTrait, "object_definition": domain.KindClass, "enum_definition": domain.KindEnum,
	"package_object": domain.KindModule,
}

func scalaClass(w *walker, n int) {
	body, extend := w.Field(n, "body"), w.Field(n, "extend")
	d := definition{
		kind: scalaKinds[w.Kind(n)], name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: scalaFrom(w, n), body: max(body, 0), exported: scalaPublic(w, n),
	}
	w.push()
	defer w.pop()
	scalaTypeParameters(w, n)
	d.bases = scalaBases(w, extend)
	d.fields = scalaFields(w, n, body)
	w.bindFields(d.fields)
	w.within(w.define(d), func() {
		for c := range w.Children(n) {
			if w.Kind(c) == "annotation" {
				w.visit(c)
			}
		}
		scalaTypeBounds(w, n)
		w.typed(dotted(w.owner, d.name), d.bases, func() {
			for c := range w.Children(n) {
				if w.Kind(c) == "class_parameters" {
					w.visit(c)
				}
			}
			scalaBaseArguments(w, extend)
			w.inside(body)
		})
	})
}

func scalaTypeParameters(w *walker, n int) {
	for list := range w.Children(n) {
		if w.Kind(list) != "type_parameters" {
			continue
		}
		for i, c := 0, list+1; c < w.End(list); c = w.End(c) {
			if w.FieldName(c) == "name" || w.Kind(c) == "identifier" {
				bound := ""
				if next := w.End(c); w.Kind(next) == "upper_bound" && next < w.End(list) {
					bound = scalaType(w, w.Field(next, "type"))
				}
				w.bind(w.Content(c), binding{typ: bound, typeParam: true})
				i++
			}
		}
	}
}

func scalaTypeBounds(w *walker, n int) {
	for list := range w.Children(n) {
		if w.Kind(list) != "type_parameters" {
			continue
		}
		for c := range w.Children(list) {
			if w.FieldName(c) == "bound" {
				w.inside(c)
			}
		}
	}
}

// scalaBases reads what a class extends: the first is a class or a trait, the others are
// traits.
func scalaBases(w *walker, extend int) (bases []domain.TypeRef) {
	kind := domain.EdgeInherits
	for c := range w.Children(extend) {
		if w.FieldName(c) != "type" || !w.Named(c) {
			continue
		}
		for _, typ := range scalaCompound(w, c) {
			name, _ := splitType(fold(w.Content(typ), maxChain), '[', ']')
			bases = append(bases, w.base(typ, name, kind))
			kind = domain.EdgeImplements
		}
	}
	return bases
}

// scalaCompound gives the parts of A with B.
func scalaCompound(w *walker, n int) []int {
	if w.Kind(n) != "compound_type" {
		return []int{n}
	}
	var parts []int
	for c := range w.Children(n) {
		if w.Named(c) {
			parts = append(parts, scalaCompound(w, c)...)
		}
	}
	return parts
}

func scalaBaseArguments(w *walker, extend int) {
	first := true
	for c := range w.Children(extend) {
		if w.FieldName(c) == "type" && w.Named(c) {
			for i := c; i < w.End(c); i++ {
				if w.Kind(i) == "type_arguments" {
					w.visit(i)
					i = w.End(i) - 1
				}
			}
		}
		if w.FieldName(c) == "arguments" {
			if first {
				w.calls(call{node: c, name: lastPart(w.super), receiver: none, args: w.arguments(c)})
				first = false
			}
			w.visit(c)
		}
	}
}

// scalaFields gives the values of a class, of its body and of its parameters.
func scalaFields(w *walker, n, body int) (fields []domain.Field) {
	add := func(name, typ string) {
		if name != "" && typ != "" {
			fields = append(fields, domain.Field{Name: w.intern(name), Type: w.intern(typ)})
		}
	}
	for list := range w.Children(n) {
		if w.Kind(list) != "class_parameters" {
			continue
		}
		for c := range w.Children(list) {
			add(w.Content(w.Field(c, "name")), scalaType(w, w.Field(c, "type")))
		}
	}
	for c := range w.Children(body) {
		switch w.Kind(c) {
		case "val_definition", "var_definition":
			if pattern := w.Field(c, "pattern"); w.Kind(pattern) == "identifier" {
				add(w.Content(pattern), scalaValueType(w, c))
			}
		case "val_declaration", "var_declaration":
			add(w.Content(w.Field(c, "name")), scalaType(w, w.Field(c, "type")))
		}
	}
	return fields
}

// scalaGiven reads a given instance; one without a name is named by its type.
func scalaGiven(w *walker, n int) {
	name := w.Content(w.Field(n, "name"))
	typ := w.Field(n, "return_type")
	if name == "" {
		name = "given_" + strings.Trim(strings.NewReplacer("[", "_", "]", "", ", ", "_").Replace(fold(w.Content(typ), maxReceiver)), "_")
	}
	body := w.Field(n, "body")
	symbol := w.define(definition{
		kind: domain.KindConstant, name: name, owner: w.owner, node: n, until: typ, typ: scalaType(w, typ), exported: scalaPublic(w, n),
	})
	w.within(symbol, func() {
		w.visit(typ)
		w.belonging(dotted(w.owner, name), func() { scoped(w, body) })
	})
}

// scalaExtension reads extension methods, which belong to the type that they extend.
func scalaExtension(w *walker, n int) {
	w.push()
	defer w.pop()
	params := w.Child(n, "parameters")
	w.visit(params)
	target, _ := splitType(scalaType(w, w.Field(w.First(params), "type")), '[', ']')
	w.belonging(target, func() {
		for c := range w.Children(n) {
			if c > params {
				w.visit(c)
			}
		}
	})
}

func scalaCase(w *walker, n int) {
	symbol := w.define(definition{
		kind: domain.KindConstant, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, typ: w.self, exported: true, fields: scalaFields(w, n, none),
	})
	w.within(symbol, func() { w.others(n, "name") })
}

func scalaFunction(w *walker, n int) {
	body := w.Field(n, "body")
	d := definition{
		kind: domain.KindFunction, name: w.Content(w.Field(n, "name")), owner: w.owner, node: n, from: scalaFrom(w, n), exported: scalaPublic(w, n), body: max(body, 0),
	}
	enclosing := w.kindOf(w.symbol)
	if w.self != "" && w.owner == w.self || enclosing == domain.KindConstant || w.owner != "" && !enclosing.Function() {
		d.kind = domain.KindMethod
	}
	w.push()
	defer w.pop()
	scalaTypeParameters(w, n)
	d.typ = scalaType(w, w.Field(n, "return_type"))
	symbol := -1
	if w.Kind(w.Parent(w.Parent(n))) != "instance_expression" { // else it belongs to what encloses it
		symbol = w.define(d)
	}
	w.within(symbol, func() {
		scalaTypeBounds(w, n)
		owner := w.owner
		if symbol >= 0 {
			owner = dotted(w.owner, d.name)
		}
		for c := range w.Children(n) {
			if k := w.Kind(c); k == "parameters" || k == "annotation" {
				w.visit(c)
			}
		}
		w.visit(w.Field(n, "return_type"))
		w.belonging(owner, func() { w.visit(body) })
	})
}

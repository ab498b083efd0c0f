package lang

import "strings"

var rustContainers = containers{
	open: '<', shut: '>',
	first:   words("Vec VecDeque HashSet BTreeSet LinkedList BinaryHeap IndexSet SmallVec Receiver Sender Iter IntoIter"),
	last:    words("HashMap BTreeMap IndexMap DashMap FxHashMap"),
	through: words("Option Result Box Rc Arc RefCell Cell Mutex RwLock Pin Cow MutexGuard Ref RefMut Weak OnceCell OnceLock LazyLock Lazy ManuallyDrop Poll"),
	picks:   words("get get_mut first last pop next nth first_mut last_mut remove pop_front pop_back front back find peek recv max_by_key min_by_key insert"),
	keeps: words(`iter iter_mut into_iter drain filter rev skip take values values_mut into_values chain peekable cloned copied as_slice
		skip_while take_while step_by inspect`),
}

var rustTypes = typer{
	containers: &rustContainers,
	names:      words("identifier"),
	elements: words(`map for_each filter flat_map filter_map find any all position inspect take_while skip_while partition max_by_key min_by_key
		sort_by_key sort_by sort_unstable_by_key sort_unstable_by retain and_then map_err for_each_concurrent then`),
}

func init() { rustTypes.of = rustTypeOf }

// rustSequences are methods that sequences alone have.
var rustSequences = words("sort_by_key sort_by sort_unstable_by_key sort_unstable_by retain position partition max_by_key min_by_key take_while skip_while")

// rustIdentity are methods whose result is, for what we know of types, their receiver: the
// wrappers they open are left out of types.
var rustIdentity = words(`unwrap expect unwrap_or unwrap_or_default unwrap_or_else as_ref as_mut as_deref as_deref_mut clone to_owned borrow
	borrow_mut lock ok_or ok_or_else ok cloned copied context with_context map_err get_or_insert_with by_ref upgrade await`)

// rustType gives a type as it matters to calls: without references, wrappers and dyn.
func rustType(w *walker, n int) string {
	switch w.Kind(n) {
	case "", "unit_type", "never_type", "tuple_type", "lifetime":
		return ""
	case "function_type":
		return "func"
	case "reference_type", "pointer_type":
		return rustType(w, w.Field(n, "type"))
	case "dynamic_type", "abstract_type":
		return rustType(w, w.Field(n, "trait"))
	case "bounded_type":
		return rustType(w, w.First(n))
	}
	text := rustText(w.Content(n))
	if b, ok := w.lookup(text); ok && b.typeParam {
		return w.argument(text, b)
	}
	if text == "Self" {
		return w.self
	}
	if rest, ok := strings.CutPrefix(text, "Self::"); ok {
		return member(w.self, rest)
	}
	return text
}

// rustText strips a type as text.
func rustText(text string) string {
	text = fold(text, maxChain)
	for range 6 {
		was := text
		for _, prefix := range []string{"&", "*const ", "*mut ", "mut ", "dyn ", "impl "} {
			text = strings.TrimPrefix(text, prefix)
		}
		if strings.HasPrefix(text, "'") {
			_, text, _ = strings.Cut(text, " ")
		}
		if text = rustContainers.plain(text); text == was {
			break
		}
	}
	switch {
	case text == "_" || text == "()":
		return ""
	case strings.HasPrefix(text, "Fn(") || strings.HasPrefix(text, "FnMut(") || strings.HasPrefix(text, "FnOnce("):
		return "func"
	}
	return text
}

func rustElement(typ string) string {
	if inner, ok := strings.CutPrefix(typ, "["); ok && strings.HasSuffix(inner, "]") {
		inner, _, _ = strings.Cut(strings.TrimSuffix(inner, "]"), ";")
		return rustText(inner)
	}
	if inner, ok := strings.CutPrefix(typ, "Iterator<Item = "); ok {
		return rustText(strings.TrimSuffix(inner, ">"))
	}
	return rustText(rustContainers.element(typ))
}

func rustBindParameters(w *walker, list int, hint string) {
	for c := range w.Children(list) {
		switch w.Kind(c) {
		case "self_parameter":
			w.bindLocal("self", w.self)
		case "parameter":
			typ := rustType(w, w.Field(c, "type"))
			if pattern := w.Field(c, "pattern"); w.Kind(pattern) == "self" {
				w.bindLocal("self", w.self)
			} else {
				rustBind(w, pattern, typ)
			}
		default:
			if w.Named(c) {
				rustBind(w, c, hint)
			}
		}
	}
}

// rustBind binds the names of a pattern that a value of type typ is matched with.
func rustBind(w *walker, n int, typ string) {
	switch w.Kind(n) {
	case "identifier":
		if name := w.Content(n); !upperFirst(name) {
			w.bindLocal(name, typ)
		}
	case "mut_pattern", "ref_pattern", "reference_pattern", "captured_pattern", "or_pattern", "match_pattern":
		for c := range w.Children(n) {
			if w.FieldName(c) != "condition" && w.Named(c) {
				rustBind(w, c, typ)
			}
		}
	case "tuple_struct_pattern":
		variant := w.Field(n, "type")
		at := 0
		for c := range w.Children(n) {
			if c == variant || !w.Named(c) {
				continue
			}
			inner := "" // of Some and Ok it is the value itself
			if name := w.Content(variant); name == "Some" || name == "Ok" {
				inner = typ
			} else if name != "Err" {
				inner = w.fieldOf(rustVariant(w, variant), string(rune('0'+at%10)))
			}
			rustBind(w, c, inner)
			at++
		}
	case "struct_pattern":
		of := rustVariant(w, w.Field(n, "type"))
		for c := range w.Children(n) {
			name, inner := w.Field(c, "name"), w.Field(c, "pattern")
			if inner >= 0 {
				rustBind(w, inner, w.fieldOf(of, w.Content(name)))
			} else if name >= 0 {
				w.bindLocal(w.Content(name), w.fieldOf(of, w.Content(name)))
			}
		}
	case "tuple_pattern", "slice_pattern":
		for c := range w.Children(n) {
			if w.Named(c) {
				rustBind(w, c, "")
			}
		}
	}
}

// rustVariant gives the dotted name of a struct or of a variant of an enum.
func rustVariant(w *walker, n int) string {
	text := fold(w.Content(n), maxChain)
	if rest, ok := strings.CutPrefix(text, "Self"); ok {
		text = w.self + rest
	}
	return strings.ReplaceAll(text, "::", ".")
}

func rustLet(w *walker, n int) {
	value := w.Field(n, "value")
	w.visit(w.Field(n, "type"))
	w.visit(value)
	typ := rustType(w, w.Field(n, "type"))
	if typ == "" || strings.HasSuffix(typ, "<_>") {
		typ = rustTypeOf(w, value, maxSteps)
	}
	pattern := w.Field(n, "pattern")
	rustPatternUses(w, pattern)
	rustBind(w, pattern, typ)
	w.visit(w.Field(n, "alternative"))
}

// rustPatternUses walks the types that a pattern names.
func rustPatternUses(w *walker, pattern int) {
	if w.Kind(pattern) != "identifier" {
		w.visit(pattern)
	}
}

func rustLetCondition(w *walker, n int) {
	value, pattern := w.Field(n, "value"), w.Field(n, "pattern")
	w.visit(value)
	rustPatternUses(w, pattern)
	rustBind(w, pattern, rustTypeOf(w, value, maxSteps))
}

func rustFor(w *walker, n int) {
	value, pattern := w.Field(n, "value"), w.Field(n, "pattern")
	w.visit(value)
	w.push()
	over := rustTypeOf(w, value, maxSteps)
	names := w.named(pattern)
	switch {
	case w.Kind(pattern) == "tuple_pattern" && len(names) == 2 && rustEnumerates(w, value):
		rustBind(w, names[0], "usize")
		rustBind(w, names[1], rustElement(over))
	case w.Kind(pattern) == "tuple_pattern" && len(names) == 2:
		if _, args := splitType(over, '<', '>'); len(args) >= 2 {
			rustBind(w, names[0], rustText(args[0]))
			rustBind(w, names[1], rustElement(over))
		} else {
			rustBind(w, pattern, "")
		}
	default:
		rustBind(w, pattern, rustElement(over))
	}
	w.visit(w.Field(n, "body"))
	w.pop()
}

func rustEnumerates(w *walker, value int) bool {
	return w.Content(w.Field(w.Field(value, "function"), "field")) == "enumerate"
}

func rustMatch(w *walker, n int) {
	value := w.Field(n, "value")
	w.visit(value)
	typ := rustTypeOf(w, value, maxSteps)
	for arm := range w.Children(w.Field(n, "body")) {
		if w.Kind(arm) != "match_arm" {
			w.visit(arm)
			continue
		}
		w.push()
		pattern := w.Field(arm, "pattern")
		rustBind(w, pattern, typ)
		w.visit(pattern)
		w.visit(w.Field(arm, "value"))
		w.pop()
	}
}

func rustClosure(w *walker, n int) {
	w.push()
	params := w.Field(n, "parameters")
	rustBindParameters(w, params, w.hints[n])
	for c := range w.Children(params) {
		w.visit(w.Field(c, "type"))
	}
	w.visit(w.Field(n, "return_type"))
	w.visit(w.Field(n, "body"))
	w.pop()
}

func rustCall(w *walker, n int) {
	function, list := w.Field(n, "function"), w.Field(n, "arguments")
	target := function
	if w.Kind(function) == "generic_function" {
		target = w.Field(function, "function")
		w.visit(w.Field(function, "type_arguments"))
	}
	c := call{node: n, receiver: none, args: w.arguments(list)}
	switch w.Kind(target) {
	case "identifier":
		if c.name = w.Content(target); w.g.builtins[c.name] && !rustMacros[c.name] && !w.isLocal(c.name) {
			c.name = ""
		}
	case "scoped_identifier":
		c.name, c.receiver = w.Content(w.Field(target, "name")), w.Field(target, "path")
		c.recvType = rustPathType(w, c.receiver)
		w.visit(c.receiver)
	case "field_expression":
		field := w.Field(target, "field")
		c.node, c.name, c.receiver = field, w.Content(field), w.Field(target, "value")
		c.recvType = rustTypes.receiver(w, c.receiver)
		if closure := w.First(list); w.Kind(closure) == "closure_expression" && rustTypes.elements[c.name] {
			w.hints[closure] = c.recvType // of an Option or a Result it is the value itself
			if rustSequences[c.name] || rustIterates(w, c.receiver) {
				w.hints[closure] = rustElement(c.recvType)
			}
		}
		w.visit(c.receiver)
	default:
		w.visit(target)
	}
	w.calls(c)
	w.visit(list)
}

// rustIterates reports whether an expression surely is an iterator: the result of a method
// that gives one.
func rustIterates(w *walker, n int) bool {
	name := w.Content(w.Field(w.Field(n, "function"), "field"))
	return rustContainers.keeps[name] || name == "map" || name == "enumerate"
}

// rustPathType gives the type that a path names, as far as it surely is one.
func rustPathType(w *walker, n int) string {
	text := w.Content(n)
	if b, ok := w.lookup(text); ok && b.typeParam {
		return b.typ
	}
	if rest, ok := strings.CutPrefix(text, "Self"); ok && rest == "" {
		return w.self
	}
	switch w.Kind(n) {
	case "bracketed_type":
		inner := w.First(n)
		if w.Kind(inner) == "qualified_type" {
			inner = w.Field(inner, "type")
		}
		return rustType(w, inner)
	case "generic_type":
		return fold(w.Content(w.Field(n, "type")), maxChain)
	}
	if upperFirst(lastPart(text)) {
		return fold(text, maxChain)
	}
	return ""
}

// rustPath reads a path in an expression: the type in it is noted.
func rustPath(w *walker, n int) {
	name := w.Content(w.Field(n, "name"))
	if w.Kind(w.Parent(n)) == "scoped_identifier" && upperFirst(name) {
		w.uses(n, fold(w.Content(n), maxChain))
		return
	}
	if path := w.Field(n, "path"); w.Content(path) == "Self" {
		return
	}
	w.visit(w.Field(n, "path"))
}

// rustTypeOf gives the type of an expression as far as the file tells, as a chain.
func rustTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier":
		return rustTypes.name(w, w.Content(n))
	case "self":
		return w.self
	case "scoped_identifier":
		return rustScoped(w, n, "")
	case "field_expression":
		return rustTypes.member(w, w.Field(n, "value"), w.Content(w.Field(n, "field")), steps)
	case "call_expression":
		return rustCallType(w, n, steps)
	case "struct_expression":
		return rustType(w, w.Field(n, "name"))
	case "reference_expression":
		return rustTypeOf(w, w.Field(n, "value"), steps)
	case "try_expression", "await_expression", "parenthesized_expression", "unary_expression":
		return rustTypeOf(w, w.First(n), steps)
	case "type_cast_expression":
		return rustType(w, w.Field(n, "type"))
	case "index_expression":
		return rustElement(rustTypeOf(w, w.First(n), steps))
	case "string_literal", "raw_string_literal":
		return "str"
	case "if_expression":
		return rustTypeOf(w, w.Last(w.Field(n, "consequence")), steps)
	case "block", "unsafe_block":
		return rustTypeOf(w, w.Last(n), steps)
	}
	return ""
}

// rustScoped gives the type of a path in a value's place, or with suffix "()" of its call.
func rustScoped(w *walker, n int, suffix string) string {
	path, name := w.Field(n, "path"), w.Content(w.Field(n, "name"))
	if typ := rustPathType(w, path); typ != "" {
		switch {
		case suffix != "" && (name == "new" || name == "default" || name == "from" || upperFirst(name)):
			return typ // by convention, or by definition of a variant
		case suffix == "" && name != strings.ToUpper(name):
			return typ // a variant
		}
		return step(typ, name+suffix)
	}
	return fold(w.Content(n), maxChain) + suffix
}

func rustCallType(w *walker, n, steps int) string {
	function := w.Field(n, "function")
	if w.Kind(function) == "generic_function" {
		function = w.Field(function, "function")
	}
	switch w.Kind(function) {
	case "identifier":
		name := w.Content(function)
		if name == "Some" || name == "Ok" {
			return rustTypeOf(w, w.First(w.Field(n, "arguments")), steps)
		}
		if w.isLocal(name) || w.g.builtins[name] && !rustMacros[name] {
			return ""
		}
		return name + "()"
	case "scoped_identifier":
		if path := w.Content(w.Field(function, "path")); rustContainers.through[path] && path != "Result" && path != "Option" {
			return rustTypeOf(w, w.First(w.Field(n, "arguments")), steps) // Box::new(x), Arc::clone(&x)
		}
		return rustScoped(w, function, "()")
	case "field_expression":
		value, name := w.Field(function, "value"), w.Content(w.Field(function, "field"))
		typ := rustTypeOf(w, value, steps)
		if rustIdentity[name] || name == "enumerate" || rustContainers.keeps[name] && strings.Contains(typ, "!") {
			return typ
		}
		return rustText(rustTypes.access(w, value, typ, name+"()"))
	}
	return ""
}

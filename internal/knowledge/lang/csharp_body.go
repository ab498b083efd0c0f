package lang

import "strings"

var csContainers = containers{
	open: '<', shut: '>',
	first: words(`List IList ICollection IEnumerable IReadOnlyList IReadOnlyCollection HashSet ISet Queue Stack LinkedList IQueryable DbSet
		IAsyncEnumerable ConcurrentBag ConcurrentQueue ImmutableList ImmutableArray Span ReadOnlySpan ObservableCollection Collection`),
	last:    words("Dictionary IDictionary IReadOnlyDictionary ConcurrentDictionary SortedDictionary ImmutableDictionary"),
	through: words("Task ValueTask Nullable Lazy"),
	picks: words(`First FirstOrDefault Single SingleOrDefault Last LastOrDefault ElementAt Find Dequeue Peek Pop FirstAsync FirstOrDefaultAsync
		SingleAsync SingleOrDefaultAsync FindAsync GetValueOrDefault Min Max GetOrAdd`),
	keeps: words("Where OrderBy OrderByDescending ThenBy Take Skip Reverse Distinct ToList ToArray ToListAsync AsEnumerable AsQueryable Concat Include AsNoTracking ToHashSet"),
}

var csTypes = typer{
	containers: &csContainers, names: words("identifier"), paths: words("member_access_expression"),
	elements: words(`Select Where Any All First FirstOrDefault Single SingleOrDefault ForEach OrderBy OrderByDescending GroupBy SelectMany Sum Count Max Min
		ToDictionary Find FindAll RemoveAll Include AnyAsync FirstOrDefaultAsync`),
}

func init() { csTypes.of = csTypeOf }

func csType(w *walker, n int) string {
	switch w.Kind(n) {
	case "", "implicit_type", "tuple_type":
		return ""
	case "function_pointer_type":
		return "func"
	case "nullable_type", "ref_type", "scoped_type":
		return csType(w, w.Field(n, "type"))
	case "type":
		return csType(w, w.First(n))
	}
	text := w.plainType(&csContainers, w.Content(n))
	if text == "void" || text == "var" {
		return ""
	}
	return strings.TrimSuffix(text, "?")
}

// csTypeUse notes the types that a type names.
func csTypeUse(w *walker, n int) {
	for c := n; c >= 0 && c < w.End(n); c++ {
		switch w.Kind(c) {
		case "identifier":
			w.uses(c, w.Content(c))
		case "qualified_name":
			text, _ := splitType(fold(w.Content(c), maxChain), '<', '>')
			w.uses(c, text)
			for a := c; a < w.End(c); a++ {
				if w.Kind(a) == "type_argument_list" {
					csTypeUse(w, a)
					break
				}
			}
			c = w.End(c) - 1
		}
	}
}

// csParameters reads a list of parameters; one that takes many has no node of its own.
func csParameters(w *walker, n int) {
	if name := w.Field(n, "name"); name >= 0 {
		typ := w.Field(n, "type")
		csTypeUse(w, typ)
		w.bindLocal(w.Content(name), csType(w, typ))
	}
	w.others(n, "type", "name")
}

func csParameter(w *walker, n int) {
	typ := w.Field(n, "type")
	csTypeUse(w, typ)
	w.bindLocal(w.Content(w.Field(n, "name")), csType(w, typ))
	w.others(n, "type", "name")
}

func csLocal(w *walker, n int) {
	typ := w.Field(n, "type")
	csTypeUse(w, typ)
	declared := csType(w, typ)
	for c := range w.Children(n) {
		if w.Kind(c) != "variable_declarator" {
			continue
		}
		value := w.Last(c)
		w.others(c, "name")
		text := declared
		if text == "" && value != w.Field(c, "name") {
			text = csTypeOf(w, value, maxSteps)
		}
		w.bindLocal(w.Content(w.Field(c, "name")), text)
	}
}

// csPattern binds the name of "x is T name", "case T name", "out T name" and "catch (T name)".
func csPattern(w *walker, n int) {
	typ := w.Field(n, "type")
	csTypeUse(w, typ)
	if name := w.Field(n, "name"); name >= 0 {
		w.bindLocal(w.Content(name), csType(w, typ))
	}
}

func csForEach(w *walker, n int) {
	w.push()
	right, typ := w.Field(n, "right"), w.Field(n, "type")
	csTypeUse(w, typ)
	w.visit(right)
	text := csType(w, typ)
	if text == "" {
		text = csContainers.element(csTypeOf(w, right, maxSteps))
	}
	left := w.Field(n, "left")
	if w.Kind(left) == "identifier" {
		w.bindLocal(w.Content(left), text)
	}
	w.visit(w.Field(n, "body"))
	w.pop()
}

func csLambda(w *walker, n int) {
	w.push()
	params := w.Field(n, "parameters")
	hint := w.hints[n]
	switch w.Kind(params) {
	case "parameter_list":
		for c := range w.Children(params) {
			if w.Kind(c) == "parameter" && w.Field(c, "type") < 0 {
				w.bindLocal(w.Content(w.Field(c, "name")), hint)
				hint = ""
			} else {
				w.visit(c)
			}
		}
	default:
		w.bindLocal(w.Content(params), hint)
	}
	w.visit(w.Field(n, "body"))
	w.pop()
}

// csArgument walks an argument's value; its name is a parameter's.
func csArgument(w *walker, n int) { w.others(n, "name") }

func csTyped(w *walker, n int) {
	csTypeUse(w, w.Field(n, "type"))
	w.others(n, "type")
}

func csAs(w *walker, n int) {
	w.visit(w.Field(n, "left"))
	csTypeUse(w, w.Field(n, "right"))
}

// csMemberName gives the name in a member access, without its type arguments.
func csMemberName(w *walker, n int) (name string, node int) {
	node = n
	if w.Kind(n) == "generic_name" {
		node = w.First(n)
		csTypeUse(w, w.Child(n, "type_argument_list"))
	}
	return w.Content(node), node
}

func csCall(w *walker, n int) {
	function, list := w.Field(n, "function"), w.Field(n, "arguments")
	c := call{node: n, receiver: none, args: w.arguments(list)}
	switch w.Kind(function) {
	case "identifier", "generic_name":
		if c.name, c.node = csMemberName(w, function); c.name == "nameof" {
			c.name = ""
		}
	case "member_access_expression":
		c.name, c.node = csMemberName(w, w.Field(function, "name"))
		c.receiver = w.Field(function, "expression")
	case "conditional_access_expression":
		binding := w.Last(function)
		if w.Kind(binding) != "member_binding_expression" {
			w.visit(function)
			break
		}
		c.name, c.node = csMemberName(w, w.Field(binding, "name"))
		c.receiver = w.Field(function, "condition")
	default:
		w.visit(function)
	}
	if c.receiver >= 0 {
		c.recvType = csTypes.receiver(w, c.receiver)
		for arg := range w.Children(list) {
			if lambda := w.Last(arg); w.Kind(lambda) == "lambda_expression" {
				csTypes.hint(w, lambda, c.name, c.recvType)
			}
		}
	}
	w.calls(c)
	w.visit(c.receiver)
	w.visit(list)
}

func csNew(w *walker, n int) {
	typ, list := w.Field(n, "type"), w.Field(n, "arguments")
	text, _ := splitType(fold(w.Content(typ), maxChain), '<', '>')
	c := call{node: n, name: lastPart(text), receiver: none, args: w.arguments(list)}
	c.before = strings.TrimSuffix(strings.TrimSuffix(text, c.name), ".")
	if !w.g.builtins[c.name] {
		w.calls(c)
	}
	for a := typ; a >= 0 && a < w.End(typ); a++ {
		if w.Kind(a) == "type_argument_list" {
			csTypeUse(w, a)
			break
		}
	}
	w.visit(list)
	for c := range w.Children(w.Field(n, "initializer")) {
		if w.Kind(c) == "assignment_expression" {
			w.visit(w.Field(c, "right")) // the left is a member
		} else {
			w.visit(c)
		}
	}
}

var csLiterals = map[string]string{
	"string_literal": "string", "interpolated_string_expression": "string", "verbatim_string_literal": "string", "integer_literal": "int", "boolean_literal": "bool",
}

// csTypeOf gives the type of an expression as far as the file tells, as a chain.
func csTypeOf(w *walker, n, steps int) string {
	if n < 0 || steps == 0 {
		return ""
	}
	steps--
	switch w.Kind(n) {
	case "identifier":
		return csTypes.name(w, w.Content(n))
	case "this":
		return w.self
	case "base":
		return w.super
	case "member_access_expression":
		return csTypes.member(w, w.Field(n, "expression"), w.Content(w.Field(n, "name")), steps)
	case "conditional_access_expression":
		if binding := w.Last(n); w.Kind(binding) == "member_binding_expression" {
			return csTypes.member(w, w.Field(n, "condition"), w.Content(w.Field(binding, "name")), steps)
		}
	case "invocation_expression":
		return csCallType(w, n, steps)
	case "object_creation_expression", "cast_expression", "array_creation_expression":
		return csType(w, w.Field(n, "type"))
	case "as_expression":
		return csType(w, w.Field(n, "right"))
	case "await_expression", "parenthesized_expression", "postfix_unary_expression":
		return csTypeOf(w, w.First(n), steps)
	case "element_access_expression":
		return csContainers.element(csTypeOf(w, w.Field(n, "expression"), steps))
	case "conditional_expression":
		return csTypeOf(w, w.Field(n, "consequence"), steps)
	case "binary_expression":
		if w.Content(w.Field(n, "operator")) == "??" {
			return csTypeOf(w, w.Field(n, "left"), steps)
		}
	case "assignment_expression":
		return csTypeOf(w, w.Field(n, "right"), steps)
	}
	return csLiterals[w.Kind(n)]
}

func csCallType(w *walker, n, steps int) string {
	function := w.Field(n, "function")
	object, name := none, function
	switch w.Kind(function) {
	case "member_access_expression":
		object, name = w.Field(function, "expression"), w.Field(function, "name")
	case "conditional_access_expression":
		object, name = w.Field(function, "condition"), w.Field(w.Last(function), "name")
	}
	if w.Kind(name) == "generic_name" {
		name = w.First(name)
	}
	if w.Kind(name) != "identifier" {
		return ""
	}
	if object >= 0 {
		if w.Content(name) == "ConfigureAwait" {
			return csTypeOf(w, object, steps)
		}
		return csContainers.plain(csTypes.method(w, object, w.Content(name), steps))
	}
	if w.isLocal(w.Content(name)) {
		return ""
	}
	return w.Content(name) + "()"
}

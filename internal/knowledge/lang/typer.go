package lang

import "strings"

// typer finds types of expressions in languages that write them much alike.
type typer struct {
	of         func(w *walker, n, steps int) string // the type of any expression
	containers *containers
	names      map[string]bool                     // kinds of nodes that are a lone name
	paths      map[string]bool                     // kinds of nodes that are a member of something
	elements   map[string]bool                     // methods that hand each element to a function
	field      func(w *walker, name string) string // the type of a field that is named without this; may be nil
}

// receiver is of, but nothing for a lone name that is not bound: it may be a class, a
// module or a package.
func (t *typer) receiver(w *walker, n int) string {
	if t.names[w.Kind(n)] {
		if b, ok := w.lookup(w.Content(n)); ok || t.field == nil {
			return b.typ
		}
		return t.field(w, w.Content(n))
	}
	return t.of(w, n, maxSteps)
}

// name gives the type of a lone name: that of the variable, or else the name itself, which
// then means a class or something of another file.
func (t *typer) name(w *walker, name string) string {
	if b, ok := w.lookup(name); ok {
		return b.typ
	}
	if t.field != nil {
		if typ := t.field(w, name); typ != "" {
			return typ
		}
	}
	return name
}

// member gives the type of object.name.
func (t *typer) member(w *walker, object int, name string, steps int) string {
	return t.access(w, object, t.of(w, object, steps), name)
}

// method gives the type of object.name(…).
func (t *typer) method(w *walker, object int, name string, steps int) string {
	return t.access(w, object, t.of(w, object, steps), name+"()")
}

// access gives the type of a member of object, whose own type is base; "name()" is the
// result of a method. Whoever has looked for the base hands it on: to look twice at each
// level of a chain would take a time that doubles with each.
func (t *typer) access(w *walker, object int, base, name string) string {
	kind := w.Kind(object)
	if t.names[kind] && !selfWords[w.Content(object)] {
		if _, bound := w.lookup(w.Content(object)); !bound && (t.field == nil || t.field(w, w.Content(object)) == "") {
			return member(w.Content(object), name)
		}
	}
	if method, ok := strings.CutSuffix(name, "()"); ok {
		if typ, known := t.containers.call(base, method); known {
			return typ
		}
	}
	if t.paths[kind] && !strings.ContainsAny(base, "!(") && t.unbound(w, object) {
		return member(base, name) // a.b.C.name, of a package or a nested class
	}
	return w.fieldOf(base, name)
}

// unbound reports whether a path begins with a name that is no variable and no this.
func (t *typer) unbound(w *walker, n int) bool {
	head := leading(w.Content(n))
	_, bound := w.lookup(head)
	return !bound && head != "" && !selfWords[head]
}

var selfWords = words("this self super base $this")

// hint tells a function that is given to a method of a container what its parameter is.
func (t *typer) hint(w *walker, function int, method, recvType string) {
	if function >= 0 && t.elements[method] {
		w.hints[function] = t.containers.element(recvType)
	}
}

// plainType gives a type as written without its wrappers, and the bound of a type
// parameter in place of its name.
func (w *walker) plainType(c *containers, text string) string {
	text = c.plain(fold(text, maxChain))
	if b, ok := w.lookup(text); ok && b.typeParam {
		return w.argument(text, b)
	}
	return text
}

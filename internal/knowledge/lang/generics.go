package lang

import "strings"

// splitType takes a generic type apart: "Map<K, List<V>>" is "Map" with "K" and "List<V>".
func splitType(typ string, open, shut byte) (name string, args []string) {
	i := strings.IndexByte(typ, open)
	if i < 0 || len(typ) == 0 || typ[len(typ)-1] != shut {
		return typ, nil
	}
	depth, from := 0, i+1
	for at := i + 1; at < len(typ); at++ {
		switch c := typ[at]; {
		case c == '<' || c == '[' || c == '(':
			depth++
		case (c == '>' || c == ']' || c == ')') && depth > 0:
			depth--
		case c == ',' && depth == 0, at == len(typ)-1:
			args = append(args, strings.TrimSpace(typ[from:at]))
			from = at + 1
		}
	}
	return strings.TrimSpace(typ[:i]), args
}

// containers tells which type argument is the element of a well-known generic type.
type containers struct {
	open, shut byte
	first      map[string]bool // List<T>: T
	last       map[string]bool // Map<K, V>: V
	through    map[string]bool // Optional<T>, Box<T>: the argument stands for the whole
	picks      map[string]bool // methods that give an element: get, first, next …
	keeps      map[string]bool // methods that give a container of the same elements: filter, iter …
}

// call gives the result of a method of a well-known container, as far as it is one.
func (c *containers) call(typ, method string) (result string, known bool) {
	name, args := splitType(typ, c.open, c.shut)
	base := lastPart(name)
	if len(args) == 0 && !strings.HasSuffix(typ, "[]") || strings.Contains(name, "!") {
		return "", false
	}
	if !c.first[base] && !c.last[base] && !strings.HasSuffix(typ, "[]") {
		return "", false
	}
	switch {
	case c.picks[method]:
		return c.element(typ), true
	case c.keeps[method]:
		return typ, true
	}
	return "", false
}

// plain takes wrappers away that a call goes through: "Box<Shape>" is "Shape".
func (c *containers) plain(typ string) string {
	for range 4 {
		name, args := splitType(typ, c.open, c.shut)
		if len(args) == 0 || !c.through[lastPart(name)] {
			break
		}
		typ = args[0]
	}
	if bound, ok := strings.CutPrefix(typ, "? extends "); ok {
		return bound
	}
	return typ
}

// element gives the type of an element of a container.
func (c *containers) element(typ string) string {
	if strings.Contains(typ, "!") || strings.HasSuffix(typ, ")") {
		return step(typ, "[]")
	}
	if rest, ok := strings.CutSuffix(typ, "[]"); ok {
		return c.plain(rest)
	}
	name, args := splitType(typ, c.open, c.shut)
	switch name = lastPart(name); {
	case len(args) == 0:
		return step(typ, "[]")
	case c.first[name]:
		return c.plain(args[0])
	case c.last[name]:
		return c.plain(args[len(args)-1])
	}
	return step(typ, "[]")
}

// key gives the type of a map's key, or of any other container's element.
func (c *containers) key(typ string) string {
	if name, args := splitType(typ, c.open, c.shut); len(args) > 1 && c.last[lastPart(name)] {
		return c.plain(args[0])
	}
	return c.element(typ)
}

package resolve

import (
	"strings"
)

// rules is what differs between languages.
type rules interface {
	// module gives the key of the module that a file belongs to.
	module(w *World, f *file) string
	// bind fills in what the imports of a file mean.
	bind(w *World, f *file)
	// child finds a module below another by its name; nil for none.
	child(w *World, m *module, name string) *module
	// global finds a name that no scope of the file knows, inside the type or module in.
	global(v *view, f *file, in *class, name string) target
	// rank orders files that define the same name; less is better.
	rank(f *file) int
	// main gives what a module is where it is used as a value: its default export. alias is
	// the name that it is given.
	main(v *view, m *module, alias string) []sym
	// traits gives the properties of a language of the family.
	traits(language string) traits
}

// plainRules are those of a language that has nothing of the kind.
type plainRules struct{}

func (plainRules) child(*World, *module, string) *module { return nil }

func (plainRules) global(*view, *file, *class, string) target { return target{} }

func (plainRules) rank(*file) int { return 0 }

func (plainRules) main(*view, *module, string) []sym { return nil }

// traits are properties of a language that the search asks for.
type traits struct {
	reopens         bool            // one type may have several definitions in a module
	strictOwners    bool            // methods stand in the module of their type
	strictTypes     bool            // a type's name that no scope knows is none of the repository's
	declaresModules bool            // modules are declared where they are files of their own
	reexports       bool            // a module hands on what it imports
	implicitThis    bool            // a bare name may be a member of the type around
	closed          bool            // a type has no members but those that are seen
	declarations    bool            // functions are declared in headers and defined elsewhere
	flat            bool            // one module is the whole repository: the nearest definition counts
	usesSymbols     bool            // what is used may be any symbol, not only a type
	uniqueFuncs     bool            // a function that no scope knows may be the only one of that name
	conversions     bool            // a call of a type converts a value
	extensions      bool            // files add methods to types that are not the repository's
	iterator        string          // the method of a type by which it is iterated over
	structural      bool            // a type satisfies an interface by having its methods
	functionValues  bool            // fields and variables are known by the functions given to them
	receiverParam   []string        // names of a first parameter that calls do not pass
	constructors    []string        // names of constructors; "" stands for the type's own
	self            map[string]bool // names of the type around, as a type
	builtin         map[string]bool // types that are never the repository's
	keeps           map[string]bool // methods of containers that give a container of the same elements
	through         map[string]bool // methods of wrappers that give what is wrapped
	common          map[string]bool // names too frequent to tell anything
	open, shut      byte            // brackets around type arguments
	prefixes        []string        // what may stand before a type: "*", "&mut "
	wrappers        map[string]bool // generic types that stand for their argument: Box, Promise, Optional
}

// plain strips a type of pointers, qualifiers, wrappers and arguments; it is "" for arrays,
// functions and the like, which have no members of ours.
func (t *traits) plain(text string) string {
	for range 8 {
		text = t.trim(text)
		i := strings.IndexByte(text, t.open)
		if i < 0 {
			break
		}
		if i == 0 || text[len(text)-1] != t.shut || i == len(text)-2 {
			return ""
		}
		if !t.wrappers[lastPart(text[:i])] {
			text = text[:i]
			break
		}
		args := splitArguments(text[i+1 : len(text)-1])
		if len(args) == 0 {
			return ""
		}
		text = args[0]
	}
	if strings.ContainsAny(text, " ()[]{}<>|&*,=") {
		return ""
	}
	return text
}

// trim takes off what stands before and behind a type, and the null of a union.
func (t *traits) trim(text string) string {
	for again := true; again; {
		again = false
		text = strings.TrimSpace(text)
		for _, p := range t.prefixes {
			if rest, ok := strings.CutPrefix(text, p); ok && rest != "" {
				text, again = rest, true
			}
		}
		if rest, ok := strings.CutPrefix(text, "'"); ok && t.open == '<' { // a lifetime
			if _, rest, ok = strings.Cut(rest, " "); ok {
				text, again = rest, true
			}
		}
	}
	if rest, ok := strings.CutPrefix(text, "Union["); ok && strings.HasSuffix(rest, "]") {
		text = strings.Join(splitArguments(rest[:len(rest)-1]), " | ")
	}
	text, _, _ = strings.Cut(text, " + ")
	text = strings.TrimRight(text, "?!&* ")
	if strings.Contains(text, "|") && !strings.ContainsAny(text, "({") {
		for part := range strings.SplitSeq(text, "|") {
			switch part = strings.TrimSpace(part); part {
			case "None", "null", "undefined", "nil", "":
			default:
				return part
			}
		}
	}
	return text
}

// union gives the types of a union; of any other type itself.
func (t *traits) union(text string) []string {
	if rest, ok := strings.CutPrefix(text, "Union["); ok && strings.HasSuffix(rest, "]") {
		return append(splitArguments(rest[:len(rest)-1]), text)
	}
	if !strings.Contains(text, " | ") || strings.ContainsAny(text, "({[<") {
		return []string{text}
	}
	return strings.Split(text, " | ")
}

// element gives the type of a container's elements; "" where it is not written.
func (t *traits) element(text string) string {
	text = t.trim(text)
	switch {
	case strings.HasPrefix(text, "map["):
		if end := closing(text, 3); end > 0 {
			return text[end+1:]
		}
	case strings.HasPrefix(text, "["):
		if end := closing(text, 0); end > 0 && end+1 < len(text) {
			return text[end+1:]
		} else if end == len(text)-1 && end > 1 { // Rust: [T] and [T; 4]
			elem, _, _ := strings.Cut(text[1:end], ";")
			return elem
		}
	case strings.HasSuffix(text, "[]"):
		return text[:len(text)-2]
	case strings.HasPrefix(text, "chan "):
		return text[len("chan "):]
	}
	args := t.arguments(text)
	if len(args) == 0 {
		return ""
	}
	return args[len(args)-1]
}

// arguments gives the type arguments of a type as written.
func (t *traits) arguments(text string) []string {
	text = t.trim(text)
	i := strings.IndexByte(text, t.open)
	if i <= 0 || text[len(text)-1] != t.shut || strings.HasPrefix(text, "map[") {
		return nil
	}
	return splitArguments(text[i+1 : len(text)-1])
}

// splitArguments splits at the commas that stand in no bracket.
func splitArguments(text string) []string {
	var args []string
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '<', '[', '(', '{':
			depth++
		case '>', ']', ')', '}':
			depth--
		case ',':
			if depth == 0 {
				args = append(args, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	if last := strings.TrimSpace(text[from:]); last != "" {
		args = append(args, last)
	}
	return args
}

// closing gives the place of the bracket that closes the one at i, or -1.
func closing(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// lastPart is the last element of a qualified name in any language.
func lastPart(name string) string { return lastOf(dottedName(name)) }

// set makes a set of the words of a text.
func set(words string) map[string]bool {
	s := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		s[w] = true
	}
	return s
}

package resolve

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// call finds what a call calls, and how sure that is.
func (r *resolver) call(ref *domain.Reference) ([]sym, domain.How) {
	if ref.Receiver == "" && ref.RecvType == "" {
		return r.plainCall(ref)
	}
	val, known := r.receiver(ref)
	if known {
		if val.module != nil {
			return r.defined(functions(r.inside(target{module: val.module}, ref.Name).syms)), domain.HowScoped
		}
		if val.class != nil {
			syms := functions(r.member(val.class, ref.Name))
			if len(syms) == 0 {
				syms = r.alternative(val, ref.Name)
			}
			if len(syms) > 0 || !r.looseMember(val.class) {
				return syms, domain.HowScoped
			}
		}
	}
	if val.external && r.traits.extensions {
		return r.extension(ref, val)
	}
	if val.external || strings.HasPrefix(ref.Receiver, "super") {
		return nil, ""
	}
	return r.byName(ref, val)
}

// alternative finds a member in the other types of a union: the first is looked at before.
func (r *resolver) alternative(val value, name string) []sym {
	for _, part := range r.traits.union(val.text)[1:] {
		if other := r.evaluate(typed{part, val.file, val.in}); other.class != nil {
			if syms := functions(r.member(other.class, name)); len(syms) > 0 {
				return syms
			}
		}
	}
	return nil
}

// extension finds a method that a file of the repository adds to a type of another: of a
// String it may be one of str.
func (r *resolver) extension(ref *domain.Reference, val value) ([]sym, domain.How) {
	bare := r.plain(val.text)
	var fit []sym
	for _, s := range r.f.family.methods[ref.Name] {
		of := s.symbol().Receiver
		if c := s.file.classes[of]; bare != "" && (of == bare || of == "str" && bare == "String") && c != nil && len(c.syms) == 0 {
			fit = append(fit, s)
		}
	}
	return r.near(fit), domain.HowScoped
}

// looseMember reports whether a type may have members that are not seen: it has a supertype
// that is not in the repository.
func (r *resolver) looseMember(c *class) bool {
	if r.traits.closed {
		return false
	}
	loose := false
	r.climb(c, func(c *class) bool {
		loose = len(c.bases) > len(r.basesOf(c)) || len(c.syms) == 0
		return loose
	})
	return loose
}

// receiver gives the value of a call's receiver; known is false where nothing is known of it.
func (r *resolver) receiver(ref *domain.Reference) (val value, known bool) {
	in := r.enclosing(ref.From)
	if ref.RecvType != "" {
		val = r.evaluate(typed{ref.RecvType, r.f, in})
		if val.class != nil || val.module != nil || val.external {
			return val, true
		}
		if ref.Local {
			return val, false
		}
	}
	if ref.Local || !isPath(ref.Receiver) {
		return val, false
	}
	t := r.path(r.f, in, ref.Receiver)
	if !t.found() {
		first, _, _ := strings.Cut(dottedName(ref.Receiver), ".")
		_, imported := r.f.names[first]
		external := t.external || r.traits.strictTypes && !imported
		return value{external: external}, external
	}
	val = r.valueOf(t)
	return val, val.class != nil || val.module != nil || val.external
}

// isPath reports whether a receiver is names and separators alone.
func isPath(text string) bool {
	return text != "" && !strings.ContainsAny(text, "()[]{}\"'`?!+-*/<> ,")
}

// plainCall finds a function that is called by its bare name.
func (r *resolver) plainCall(ref *domain.Reference) ([]sym, domain.How) {
	if syms := r.localFunction(ref.From, ref.Name); len(syms) > 0 {
		return syms, domain.HowScoped
	}
	if ref.Local {
		return nil, ""
	}
	in := r.enclosing(ref.From)
	if r.traits.implicitThis { // before its fields, which a call does not mean
		for c := in; c != nil; c = outer(c.file, c) {
			if syms := functions(r.member(c, ref.Name)); len(syms) > 0 {
				return syms, domain.HowScoped
			}
		}
	}
	t := r.path(r.f, in, ref.Name)
	if t.module != nil && len(t.syms) == 0 {
		t.syms = r.f.family.rules.main(r.view, t.module, ref.Name)
	}
	if syms := r.defined(functions(t.syms)); len(syms) > 0 {
		return syms, domain.HowScoped
	}
	if t.found() || t.external || !r.traits.uniqueFuncs || r.traits.common[ref.Name] {
		return nil, ""
	}
	if syms := r.f.family.funcs[ref.Name]; len(syms) > 0 && oneName(syms) {
		return r.near(syms), domain.HowName
	}
	return nil, ""
}

// defined gives, for functions that only a header declares, what defines them: the only
// source of that name, or the nearest.
func (r *resolver) defined(syms []sym) []sym {
	if len(syms) == 0 || !r.traits.declarations || r.f.family.rules.rank(syms[0].file) == 0 || syms[0].symbol().Receiver != "" {
		return syms
	}
	header := syms[0].file
	var best sym
	again := false
	for _, s := range r.f.family.funcs[syms[0].symbol().Name] {
		if r.f.family.rules.rank(s.file) > 0 {
			continue
		}
		switch {
		case best.file == nil || distance(header.dir, s.file.dir) < distance(header.dir, best.file.dir):
			best, again = s, false
		case distance(header.dir, s.file.dir) == distance(header.dir, best.file.dir):
			again = true
		}
	}
	if best.file == nil || again {
		return syms
	}
	return []sym{best}
}

// oneName reports whether symbols are definitions of one thing: a function, with its
// declarations elsewhere.
func oneName(syms []sym) bool {
	for _, s := range syms[1:] {
		if s.file.module != syms[0].file.module && !(stemOf(s.file.path) == stemOf(syms[0].file.path)) {
			return false
		}
	}
	return true
}

// byName finds a method by its name alone, where that is likely to be right: no other type
// has a method of that name and number of arguments, and the name tells something.
func (r *resolver) byName(ref *domain.Reference, val value) ([]sym, domain.How) {
	if r.traits.common[ref.Name] || val.text != "" && r.traits.strictTypes && len(r.plain(val.text)) > 2 {
		return nil, "" // shorter ones are type parameters
	}
	var fit []sym
	for _, s := range r.f.family.methods[ref.Name] {
		if s.symbol().Kind.Function() && accepts(s.symbol(), ref.Args, r.traits.receiverParam) {
			fit = append(fit, s)
		}
	}
	if len(fit) == 0 {
		return nil, ""
	}
	fit = r.near(fit)
	if len(fit) != 1 && !r.oneHierarchy(fit) {
		if fit = r.namedLike(ref.Receiver, fit); len(fit) != 1 {
			return nil, ""
		}
	}
	return fit[:1], domain.HowName
}

// namedLike leaves those methods whose type the receiver is called after: order of Order,
// old_invoice of Invoice.
func (r *resolver) namedLike(receiver string, syms []sym) []sym {
	word := strings.ToLower(lastOf(receiver))
	if r.traits.strictTypes || !isPath(receiver) || len(word) < 3 {
		return nil
	}
	var kept []sym
	for _, s := range syms {
		name := strings.ToLower(lastOf(s.symbol().Receiver))
		if rest, ok := strings.CutSuffix(word, name); ok && (rest == "" || strings.HasSuffix(rest, "_")) || strings.ReplaceAll(word, "_", "") == name {
			kept = append(kept, s)
		}
	}
	return kept
}

// near leaves those of symbols that stand nearest to the file: in it, else in its module,
// else all.
func (r *resolver) near(syms []sym) []sym {
	for _, close := range []func(sym) bool{
		func(s sym) bool { return s.file == r.f },
		func(s sym) bool { return s.file.module == r.f.module },
	} {
		var kept []sym
		for _, s := range syms {
			if close(s) {
				kept = append(kept, s)
			}
		}
		if len(kept) > 0 {
			return kept
		}
	}
	return syms
}

// oneHierarchy reports whether methods belong to one type and its subtypes, the first being
// the topmost's; it sorts syms so.
func (r *resolver) oneHierarchy(syms []sym) bool {
	if len(syms) > 8 {
		return false
	}
	for i, s := range syms {
		top := r.ownerClass(s)
		if top == nil {
			return false
		}
		if r.above(top, syms) {
			syms[0], syms[i] = syms[i], syms[0]
			return true
		}
	}
	return false
}

// above reports whether top is the type, or a supertype of the types, of all of syms.
func (r *resolver) above(top *class, syms []sym) bool {
	for _, s := range syms {
		c := r.ownerClass(s)
		if c == nil {
			return false
		}
		found := false
		r.climb(c, func(c *class) bool {
			found = c == top
			return found
		})
		if !found {
			return false
		}
	}
	return true
}

// arity chooses, of several definitions of one name, the one that takes that number of
// arguments; the first where none or several do.
func (r *resolver) arity(syms []sym, args int) sym {
	if len(syms) == 1 {
		return syms[0]
	}
	syms = r.best(syms)
	for _, exact := range []bool{true, false} {
		for _, s := range syms {
			least, most := parameters(s.symbol(), r.traits.receiverParam)
			if args >= 0 && (exact && least == args && most == args || !exact && least <= args && args <= most) {
				return s
			}
		}
	}
	return syms[0]
}

// accepts reports whether a function can be called with that number of arguments.
func accepts(s *domain.Symbol, args int, receiverParam []string) bool {
	least, most := parameters(s, receiverParam)
	return args < 0 || least <= args && args <= most
}

// parameters reads from a signature how few and how many arguments a function takes.
func parameters(s *domain.Symbol, receiverParam []string) (least, most int) {
	const many = 1 << 16
	rest, open := afterName(s.Signature, s.Name)
	if open < 0 {
		return 0, many
	}
	end := matching(rest, open)
	if end < 0 {
		return 0, many // the signature was cut
	}
	for i, p := range splitArguments(rest[open+1 : end]) {
		switch {
		case p == "" || p == "/" || p == "*" || p == "void" && i == 0:
			continue
		case i == 0 && isReceiver(p, receiverParam):
			continue
		case strings.Contains(p, "...") || strings.HasPrefix(p, "*") && len(receiverParam) > 0 || strings.HasPrefix(p, "params ") || strings.HasPrefix(p, "vararg "):
			return least, many
		}
		most++
		if !strings.Contains(p, "=") && !strings.Contains(p, "?:") && !strings.HasSuffix(p, "?") {
			least++
		}
	}
	return least, most
}

// afterName gives what follows a function's name in its signature, and where its parameters
// begin there; -1 for none.
func afterName(signature, name string) (rest string, open int) {
	for rest = signature; ; {
		at := strings.Index(rest, name)
		if at < 0 || name == "" {
			return "", -1
		}
		rest = rest[at+len(name):]
		if trimmed := strings.TrimLeft(rest, " "); trimmed != "" && strings.ContainsRune("([<=:", rune(trimmed[0])) {
			return rest, strings.IndexByte(rest, '(')
		}
	}
}

// isReceiver reports whether a parameter is the receiver, which calls don't pass.
func isReceiver(p string, names []string) bool {
	word := strings.TrimLeft(p, "&")
	word = strings.TrimPrefix(word, "mut ")
	if i := strings.IndexAny(word, ":, "); i >= 0 {
		word = word[:i]
	}
	for _, n := range names {
		if word == n {
			return true
		}
	}
	return false
}

// matching gives the place of the parenthesis that closes the one at i, or -1.
func matching(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

package resolve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Resolve gives the edges that start in a file of the World. facts are those of the file,
// with references. The order of edges is fixed.
func (w *World) Resolve(path string, facts *domain.FileFacts) []domain.Edge {
	known := w.byPath[path]
	if known == nil {
		return nil
	}
	r := &resolver{view: w.view(known), refs: facts.References, seen: make(map[domain.Edge]bool, len(facts.References)/2)}
	r.structure()
	for i := range r.refs {
		r.reference(&r.refs[i])
	}
	slices.SortFunc(r.edges, compareEdges)
	return r.edges
}

func compareEdges(a, b domain.Edge) int {
	return cmp.Or(
		cmp.Compare(a.From, b.From), cmp.Compare(a.Line, b.Line), strings.Compare(string(a.Kind), string(b.Kind)),
		strings.Compare(a.To.Path, b.To.Path), strings.Compare(a.To.Local, b.To.Local),
	)
}

// resolver collects the edges of one file.
type resolver struct {
	*view
	refs  []domain.Reference
	edges []domain.Edge
	seen  map[domain.Edge]bool
}

// edge notes an edge. Of kinds other than calls, one between two symbols is enough.
func (r *resolver) edge(from int, to sym, kind domain.EdgeKind, line int, how domain.How) {
	e := domain.Edge{From: from, To: to.key(), Kind: kind, Line: line, How: how}
	key := e
	key.How = ""
	if kind != domain.EdgeCalls {
		key.Line = 0
		if to.file == r.f && to.i == from {
			return
		}
	}
	if !r.seen[key] {
		r.seen[key] = true
		r.edges = append(r.edges, e)
	}
}

// structure notes the edges that follow from definitions: members and supertypes.
func (r *resolver) structure() {
	for i := range r.f.facts.Symbols {
		s := &r.f.facts.Symbols[i]
		if !typeLike(s.Kind) {
			continue
		}
		c := r.f.classes[s.QualifiedName()]
		if c == nil {
			continue
		}
		r.contains(i, s, c)
		for _, b := range s.Bases {
			r.base(i, s, c, b)
		}
		r.satisfies(i, s, c)
		if len(c.syms) > 0 && c.syms[0] == (sym{r.f, i}) {
			for _, b := range c.foreign {
				r.conforms(i, s, c, b)
			}
		}
	}
}

// contains notes the members of a type at its first definition, and of each other
// definition those that stand in its own file.
func (r *resolver) contains(i int, s *domain.Symbol, c *class) {
	first := len(c.syms) > 0 && c.syms[0] == (sym{r.f, i})
	var members []sym
	for _, list := range c.members {
		for _, m := range list {
			if first || m.file == r.f && c.syms[0].file != r.f {
				members = append(members, m)
			}
		}
	}
	slices.SortFunc(members, func(a, b sym) int {
		return cmp.Or(strings.Compare(a.file.path, b.file.path), cmp.Compare(a.i, b.i))
	})
	for _, m := range members {
		line := s.StartLine
		if m.file == r.f {
			line = m.symbol().StartLine
		}
		r.edge(i, m, domain.EdgeContains, line, domain.HowScoped)
	}
}

// base notes the edge to a supertype. Where the language writes classes and interfaces
// alike, what was found decides between inherits and implements.
func (r *resolver) base(i int, s *domain.Symbol, c *class, b domain.TypeRef) {
	val := r.evaluate(typed{b.Name, r.f, outer(r.f, c)})
	if val.class == nil || len(val.class.syms) == 0 || val.class == c {
		return
	}
	kind := b.Kind
	abstract := val.class.kind() == domain.KindInterface || val.class.kind() == domain.KindTrait
	if kind == domain.EdgeInherits && abstract && s.Kind != domain.KindInterface && s.Kind != domain.KindTrait && s.Kind != domain.KindModule {
		kind = domain.EdgeImplements
	}
	how := domain.HowScoped
	if !r.scoped(val.class, b.Name) {
		how = domain.HowName
	}
	r.edge(i, val.class.syms[0], kind, b.Line, how)
}

// conforms notes the edge to a supertype that another file declares.
func (r *resolver) conforms(i int, s *domain.Symbol, c *class, b conformance) {
	if val := r.evaluate(typed{b.base.Name, b.file, nil}); val.class != nil && len(val.class.syms) > 0 && val.class != c {
		r.edge(i, val.class.syms[0], b.base.Kind, s.StartLine, domain.HowScoped)
	}
}

// outer gives the type around a type, in which its supertypes are named.
func outer(f *file, c *class) *class {
	if at := strings.LastIndexByte(c.name, '.'); at >= 0 {
		return f.classes[c.name[:at]]
	}
	return nil
}

// scoped reports whether a name as written leads to the class by scope or import, and not
// only because no other type is called so.
func (v *view) scoped(c *class, name string) bool {
	t := v.path(v.f, nil, v.plain(name))
	return v.classOf(t.syms) == c || c.file == v.f || c.module == v.f.module
}

// reference notes the edge of one reference, where it has one.
func (r *resolver) reference(ref *domain.Reference) {
	if ref.Kind == domain.EdgeUses {
		r.use(ref)
		return
	}
	if strings.HasPrefix(ref.RecvType, "=") || r.traits.functionValues && r.held(ref) {
		r.callValue(ref)
		return
	}
	syms, how := r.call(ref)
	if len(syms) == 0 {
		return
	}
	to := r.arity(syms, ref.Args)
	if typeLike(to.symbol().Kind) {
		if made, ok := r.constructor(to, ref.Args); ok {
			to = made
		} else if r.traits.conversions {
			r.edge(ref.From, to, domain.EdgeUses, ref.Line, how)
			return
		}
	}
	r.edge(ref.From, to, domain.EdgeCalls, ref.Line, how)
}

// use notes the use of a type.
func (r *resolver) use(ref *domain.Reference) {
	name := ref.Name
	if ref.Receiver != "" {
		name = ref.Receiver + "." + name
	}
	if r.traits.usesSymbols {
		for _, f := range r.f.module.files {
			if syms := f.nested[name]; len(syms) > 0 {
				r.edge(ref.From, syms[0], domain.EdgeUses, ref.Line, domain.HowScoped)
				return
			}
		}
		return
	}
	val := r.typeValue(typed{name, r.f, r.enclosing(ref.From)})
	if val.class == nil || len(val.class.syms) == 0 {
		return
	}
	how := domain.HowScoped
	if !r.scoped(val.class, name) {
		how = domain.HowName
	}
	r.edge(ref.From, val.class.syms[0], domain.EdgeUses, ref.Line, how)
}

// constructor gives the function that makes objects of a type, where it has one.
func (r *resolver) constructor(to sym, args int) (sym, bool) {
	c := r.classOf([]sym{to})
	if c == nil {
		return sym{}, false
	}
	for _, name := range r.traits.constructors {
		if name == "" {
			name = to.symbol().Name
		}
		if list := functionsOnly(r.member(c, name)); len(list) > 0 {
			return r.arity(list, args), true
		}
	}
	return sym{}, false
}

func functionsOnly(syms []sym) []sym {
	return slices.DeleteFunc(slices.Clone(syms), func(s sym) bool { return !s.symbol().Kind.Function() })
}

package resolve

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Bounds of what is said of Go's interfaces: of how many types are embedded in each other, and
// how many interfaces one type is said to satisfy.
const (
	maxEmbedded  = 6
	maxSatisfied = 200
	maxRare      = 64 // methods of one name: what more types have says little
)

// contract is an interface with all its methods and their types, as signatureOf writes them.
type contract struct {
	class   *class
	methods map[string]string
	closed  bool // it has methods that other packages can't have
	wide    bool // types have its methods whether they mean it or not: both packages must know of each other
}

// contracts are the interfaces of the repository, each under that of its method names which
// the fewest types have.
type contracts struct {
	once  sync.Once
	under map[string][]contract
	types sync.Map // sym → string: what signatureOf said
}

// satisfies notes the interfaces of the repository that a Go type has the methods of, whoever
// declares them: its package need not know of them.
func (r *resolver) satisfies(i int, s *domain.Symbol, c *class) {
	if !r.traits.structural || s.Kind == domain.KindInterface || s.Kind == domain.KindModule || len(c.syms) == 0 || c.syms[0] != (sym{r.f, i}) {
		return
	}
	set := map[string]sym{}
	if !r.methodSet(c, set, 0) || len(set) == 0 || strings.Contains(s.Signature, s.Name+"[") {
		return
	}
	var found []contract
	for name := range set {
		for _, contract := range r.contracts().under[name] {
			if r.fulfils(c, set, contract) {
				found = append(found, contract)
			}
		}
	}
	if len(found) > maxSatisfied {
		return
	}
	slices.SortFunc(found, func(a, b contract) int {
		return cmp.Or(strings.Compare(a.class.file.path, b.class.file.path), strings.Compare(a.class.name, b.class.name))
	})
	for _, contract := range found {
		r.edge(i, contract.class.syms[0], domain.EdgeImplements, s.StartLine, domain.HowScoped)
	}
}

// fulfils reports whether a type has all methods of an interface.
func (v *view) fulfils(c *class, set map[string]sym, want contract) bool {
	switch {
	case want.closed && want.class.module != c.module,
		isGoTest(want.class.file) && !isGoTest(c.file),
		want.wide && !imports(c.module, want.class.module) && !imports(want.class.module, c.module):
		return false
	}
	for name := range want.methods {
		if _, ok := set[name]; !ok {
			return false
		}
	}
	for name, signature := range want.methods {
		if v.signatureOf(set[name]) != signature {
			return false
		}
	}
	return true
}

// imports reports whether a package is another or imports it.
func imports(m, other *module) bool {
	if m == other {
		return true
	}
	for _, f := range m.files {
		for _, t := range f.names {
			if t.module == other {
				return true
			}
		}
	}
	return false
}

func isGoTest(f *file) bool { return strings.HasSuffix(f.path, "_test.go") }

// methodSet collects the methods of a type, and those of the types embedded in it that none
// nearer hides. ok is false where the nesting has no end.
func (v *view) methodSet(c *class, set map[string]sym, depth int) (ok bool) {
	if depth > maxEmbedded {
		return false
	}
	for name, list := range c.members {
		m := v.best(list)[0]
		if _, hidden := set[name]; !hidden && m.symbol().Kind == domain.KindMethod {
			set[name] = m
		}
	}
	for _, s := range c.syms {
		for _, b := range s.symbol().Bases {
			if b.Kind != domain.EdgeEmbeds {
				continue
			}
			if below := v.evaluate(typed{b.Name, s.file, c}).class; below != nil && below != c && !v.methodSet(below, set, depth+1) {
				return false
			}
		}
	}
	return true
}

// contracts gives the interfaces of the view's family.
func (v *view) contracts() *contracts {
	all := v.f.family.contracts
	all.once.Do(func() {
		all.under = map[string][]contract{}
		for _, f := range v.w.files {
			if f.family != v.f.family {
				continue
			}
			of := v.w.view(f)
			for i := range f.facts.Symbols {
				if s := &f.facts.Symbols[i]; s.Kind == domain.KindInterface {
					of.collectContract(f.classes[s.QualifiedName()], s, all)
				}
			}
		}
	})
	return all
}

// collectContract notes an interface whose methods are all known.
func (v *view) collectContract(c *class, s *domain.Symbol, all *contracts) {
	if c == nil || len(c.syms) == 0 || strings.Contains(s.Signature, s.Name+"[") || v.f.inFunction(s.Receiver) {
		return
	}
	one := contract{class: c, methods: map[string]string{}}
	if !v.contractMethods(c, &one, 0) || len(one.methods) == 0 {
		return
	}
	rarest := ""
	for name := range one.methods {
		n, least := len(v.f.family.methods[name]), len(v.f.family.methods[rarest])
		if rarest == "" || n < least || n == least && name < rarest {
			rarest = name
		}
	}
	path := "/" + c.file.path
	one.wide = len(v.f.family.methods[rarest]) > maxRare || strings.Contains(path, "/testdata/") || strings.Contains(path, "/vendor/")
	all.under[rarest] = append(all.under[rarest], one)
}

func (v *view) contractMethods(c *class, into *contract, depth int) (ok bool) {
	if depth > maxEmbedded || c.kind() != domain.KindInterface {
		return false
	}
	for name, list := range c.members {
		signature := v.signatureOf(list[0])
		if signature == "" {
			return false
		}
		into.methods[name] = signature
		first, _ := utf8.DecodeRuneInString(name)
		into.closed = into.closed || !unicode.IsUpper(first)
	}
	for _, s := range c.syms {
		for _, b := range s.symbol().Bases {
			if methods, known := wellKnown[v.qualified(s.file, b.Name)]; known {
				for name, signature := range methods {
					into.methods[name] = signature
				}
				continue
			}
			below := v.evaluate(typed{b.Name, s.file, c}).class
			if below == nil || below == c || !v.contractMethods(below, into, depth+1) {
				return false
			}
		}
	}
	return true
}

// wellKnown are interfaces of the standard library that others are often made of.
var wellKnown = map[string]map[string]string{
	"error":          {"Error": "()(string)"},
	"fmt.Stringer":   {"String": "()(string)"},
	"io.Closer":      {"Close": "()(error)"},
	"io.Reader":      {"Read": "([]uint8)(int,error)"},
	"io.Writer":      {"Write": "([]uint8)(int,error)"},
	"io.ReadCloser":  {"Read": "([]uint8)(int,error)", "Close": "()(error)"},
	"io.WriteCloser": {"Write": "([]uint8)(int,error)", "Close": "()(error)"},
	"io.ReadWriter":  {"Read": "([]uint8)(int,error)", "Write": "([]uint8)(int,error)"},
	"sort.Interface": {"Len": "()(int)", "Less": "(int,int)(bool)", "Swap": "(int,int)()"},
	"net/http.Handler": {
		"ServeHTTP": "(net/http.ResponseWriter,*net/http.Request)()",
	},
}

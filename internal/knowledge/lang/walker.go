package lang

import (
	"context"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/lang/syntax"
)

// none is the node that is not there.
const none = syntax.None

// maxDepth bounds the nesting of handlers; what is deeper is left out and counted as an
// error. Nodes without a handler cost no depth.
const maxDepth = 1500

// walker reads one tree into facts.
type walker struct {
	*syntax.Tree
	g     *grammar
	facts domain.FileFacts

	symbol int    // the enclosing symbol; -1 at file level
	owner  string // where symbols defined here belong: enclosing types and functions, dotted
	self   string // the type that self or this means here; "" outside of types
	super  string // the first base of that type
	hidden bool   // symbols defined here can not be seen from outside
	depth  int

	doc      docState
	scopes   []scope
	idle     []scope // emptied scopes, for reuse
	interned map[string]string
	used     map[useKey]struct{}
	asserted []assertion
	gave     map[domain.Given]bool
	shown    bool // what is read is seen by other files
	// generic are those of fieldTypes that are a type parameter of the class.
	generic map[string]bool
	// fieldTypes are the types of the fields of classes noted so far, by "Class.field".
	fieldTypes map[string]string
	// hints are the types that the parameters of closures get from the call they are given to.
	hints map[int]string
	// matched and placeholder are the types of what case clauses match and what a bare _ is.
	matched, placeholder string
	seen                 map[string]bool // names of constants noted already, where a language assigns them again and again
}

// assertion says that a type of the file has a base that is declared apart from it.
type assertion struct {
	name      string
	base      domain.TypeRef
	elsewhere bool // the type may be one of another file
}

func walk(ctx context.Context, g *grammar, src []byte) (domain.FileFacts, error) {
	tree, err := g.lang.Parse(ctx, src)
	if err != nil {
		return domain.FileFacts{}, err
	}
	defer tree.Close()
	w := &walker{
		Tree: tree, g: g, symbol: -1,
		interned: make(map[string]string, 64), used: make(map[useKey]struct{}, 16),
		seen: make(map[string]bool), fieldTypes: make(map[string]string), hints: make(map[int]string), gave: make(map[domain.Given]bool), generic: make(map[string]bool),
	}
	w.facts = domain.FileFacts{Language: g.name, Errors: tree.Errors()}
	w.push()
	if g.rules.enter != nil {
		g.rules.enter(w, 0)
	}
	w.inside(0)
	if g.rules.leave != nil {
		g.rules.leave(w)
	}
	return w.facts, nil
}

// visit hands n to its handler, or walks through it.
func (w *walker) visit(n int) {
	if n >= 0 {
		w.span(n, w.End(n))
	}
}

// inside walks what is below n.
func (w *walker) inside(n int) {
	if n >= 0 {
		w.span(n+1, w.End(n))
	}
}

// span walks the nodes from ≤ n < to. Nodes without a handler are stepped into by just
// going on, so that depth costs no stack.
func (w *walker) span(from, to int) {
	for n := from; n < to; {
		node := &w.Nodes[n]
		if int(node.Kind) < len(w.g.table) {
			if h := w.g.table[node.Kind]; h != nil {
				w.handle(h, n)
				n = w.End(n)
				continue
			}
		}
		n++
	}
}

func (w *walker) handle(h handler, n int) {
	if w.depth == maxDepth {
		w.facts.Errors++
		return
	}
	w.depth++
	h(w, n)
	w.depth--
}

// others walks the children of n but those in the given roles.
func (w *walker) others(n int, roles ...string) {
next:
	for c := range w.Children(n) {
		for _, role := range roles {
			if w.FieldName(c) == role {
				continue next
			}
		}
		w.visit(c)
	}
}

// named gives the children of n that are rules of the grammar, but comments.
func (w *walker) named(n int) []int {
	var nodes []int
	for c := range w.Children(n) {
		if w.Named(c) && !strings.HasSuffix(w.Kind(c), "comment") {
			nodes = append(nodes, c)
		}
	}
	return nodes
}

// scoped is a handler that walks below n in a scope of its own.
func scoped(w *walker, n int) {
	w.push()
	w.inside(n)
	w.pop()
}

// skip is a handler that leaves n out.
func skip(*walker, int) {}

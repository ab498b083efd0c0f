package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Bounds of what a reference tells of its receiver, in bytes. Longer expressions say too
// little to be worth their room, and chains of n calls would take n² bytes.
const (
	maxReceiver = 100
	maxChain    = 200
	maxSteps    = 24 // nodes that one look for a type goes through
)

// call is a call about to be noted.
type call struct {
	node     int // where its line is
	name     string
	receiver int             // the expression before the name; none for a plain call
	before   string          // its text, where it is no node of its own
	recvType string          // of the receiver
	args     int             // -1 unknown
	kind     domain.EdgeKind // "" for calls; uses for a function that is named, not called
}

// calls notes a call.
func (w *walker) calls(c call) {
	if c.name == "" || len(c.name) > maxChain {
		return
	}
	if c.kind == "" {
		c.kind = domain.EdgeCalls
	}
	ref := domain.Reference{
		From: w.symbol, Name: w.intern(c.name), Kind: c.kind, Line: w.Line(w.Nodes[c.node].Start), Args: c.args,
	}
	if c.receiver >= 0 || c.before != "" {
		text := c.before
		if c.receiver >= 0 {
			text = w.Content(c.receiver)
		}
		ref.Receiver = w.intern(fold(text, maxReceiver))
		ref.RecvType = w.intern(w.bounded(c.recvType))
		ref.Local = w.isLocal(leading(text))
	} else {
		ref.RecvType = w.intern(w.bounded(c.recvType))
		ref.Local = w.isLocal(c.name)
	}
	w.facts.References = append(w.facts.References, ref)
}

type useKey struct {
	from int
	name string
	line int
}

// uses notes that a type is named at n: "Name" or "pkg.Name".
func (w *walker) uses(n int, name string) {
	if name == "" || name == "_" || len(name) > maxChain || w.g.builtins[name] {
		return
	}
	b, bound := w.lookup(name)
	if bound && b.typeParam {
		return
	}
	receiver := ""
	if i := strings.LastIndexAny(name, ".:\\"); i >= 0 {
		receiver, name = strings.TrimRight(name[:i], ":"), name[i+1:]
	}
	line := w.Line(w.Nodes[n].Start)
	key := useKey{w.symbol, name, line}
	if _, again := w.used[key]; again || name == "" {
		return
	}
	w.used[key] = struct{}{}
	w.facts.References = append(w.facts.References, domain.Reference{
		From: w.symbol, Name: w.intern(name), Receiver: w.intern(receiver), Kind: domain.EdgeUses, Line: line,
	})
}

// useHere is a handler for nodes whose whole text is the name of a type.
func useHere(w *walker, n int) { w.uses(n, w.Content(n)) }

// nameUse is a handler for names that stand as values: one that is written as types are,
// and is not local, is noted.
func nameUse(w *walker, n int) {
	name := w.Content(n)
	if upperFirst(name) && name != strings.ToUpper(name) && !w.isLocal(name) {
		w.uses(n, name)
	}
}

// valueUse is nameUse for languages whose fields may be named alone: those are bound.
func valueUse(w *walker, n int) {
	if _, bound := w.lookup(w.Content(n)); !bound {
		nameUse(w, n)
	}
}

// arguments counts the arguments in a list; -1 where one stands for many.
func (w *walker) arguments(list int, spread ...string) int {
	if list < 0 {
		return 0
	}
	count := 0
	for c := range w.Children(list) {
		if !w.Named(c) || strings.HasSuffix(w.Kind(c), "comment") {
			continue
		}
		for _, kind := range spread {
			if w.Kind(c) == kind {
				return -1
			}
		}
		count++
	}
	return count
}

// step adds a step to a chain of types; see domain.Reference. Nothing known stays so.
func step(base, next string) string {
	if base == "" || next == "" || len(base)+len(next) > maxChain {
		return ""
	}
	return base + "!" + next
}

// member adds a member to an expression that is a dotted name so far, or a chain.
func member(base, name string) string {
	if base == "" || name == "" {
		return ""
	}
	return base + "." + name
}

// bounded gives a chain as it is kept: not too long, and with the bound of a type
// parameter in place of its name.
func (w *walker) bounded(chain string) string {
	if len(chain) > maxChain {
		return ""
	}
	head, rest, more := strings.Cut(chain, "!")
	if b, ok := w.lookup(head); ok && b.typeParam {
		if b.typ == "" || !more {
			return b.typ
		}
		chain = b.typ + "!" + rest
	}
	return fold(chain, maxChain)
}

// leading gives the first name of an expression.
func leading(text string) string {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '_' || c == '$' || c == '@' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 {
			continue
		}
		return text[:i]
	}
	return text
}

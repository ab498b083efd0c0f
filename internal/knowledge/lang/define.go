package lang

import (
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Bounds of Symbol.Signature and Symbol.Receiver, in bytes. Only text that is broken, or
// nested beyond reason, has longer receivers.
const (
	maxSignature = 500
	maxOwner     = 500
)

// definition is a symbol about to be noted.
type definition struct {
	kind     domain.SymbolKind
	name     string
	owner    string // Symbol.Receiver
	node     int    // the whole definition
	begin    int    // where it begins, if before node: at a decorator beside it
	from     int    // where the signature begins; none: with the node
	body     int    // what the signature ends before; none: with the node
	until    int    // or else what it ends with
	doc      string // "": the comment before the node
	typ      string
	exported bool
	bases    []domain.TypeRef
	fields   []domain.Field
}

// define notes a symbol and gives its index, or -1 where the name is missing.
func (w *walker) define(d definition) int {
	if d.name == "" || d.name == "_" || len(d.name) > maxChain || len(d.owner) > maxOwner {
		return -1
	}
	node := w.Nodes[d.node]
	from, to := node.Start, node.End
	if d.begin > 0 {
		node.Start = w.Nodes[d.begin].Start
	}
	if d.from > 0 {
		from = w.Nodes[d.from].Start
	}
	switch {
	case d.until > 0:
		to = w.Nodes[d.until].End
	case d.body > 0:
		to = w.Nodes[d.body].Start
	}
	if d.doc == "" {
		d.doc = w.docBefore(node.Start)
	}
	if w.g.rules.doc != nil {
		d.doc = w.g.rules.doc(d.doc)
	}
	start := w.Line(w.withAttributes(node.Start))
	if node.End > node.Start {
		node.End-- // a node may end with its line break
	}
	w.facts.Symbols = append(w.facts.Symbols, domain.Symbol{
		Name: w.intern(d.name), Receiver: w.intern(d.owner), Kind: d.kind,
		Signature: w.signature(from, to), Doc: d.doc,
		StartLine: start, EndLine: max(start, w.Line(node.End)),
		Exported: d.exported, Bases: d.bases, Type: w.intern(d.typ), Fields: d.fields,
	})
	for _, f := range d.fields {
		key := dotted(d.owner, d.name, f.Name)
		w.fieldTypes[key] = f.Type
		if b, ok := w.lookup(f.Type); ok && b.ofType {
			w.generic[key] = true
		}
	}
	return len(w.facts.Symbols) - 1
}

// kindOf gives the kind of a symbol noted before, "" for file level.
func (w *walker) kindOf(symbol int) domain.SymbolKind {
	if symbol < 0 {
		return ""
	}
	return w.facts.Symbols[symbol].Kind
}

// within runs read with symbol as the enclosing one. A symbol of -1 changes nothing.
func (w *walker) within(symbol int, read func()) {
	if symbol < 0 {
		read()
		return
	}
	was := w.symbol
	w.symbol = symbol
	read()
	w.symbol = was
}

// belonging runs read with owner as the place of the symbols it defines.
func (w *walker) belonging(owner string, read func()) {
	was := w.owner
	w.owner = owner
	read()
	w.owner = was
}

// typed runs read inside the type of that dotted name.
func (w *walker) typed(name string, bases []domain.TypeRef, read func()) {
	self, super := w.self, w.super
	w.self, w.super = name, ""
	for _, b := range bases {
		if b.Kind == domain.EdgeInherits {
			w.super = b.Name
			break
		}
	}
	w.belonging(name, read)
	w.self, w.super = self, super
}

// base notes a supertype of a definition.
func (w *walker) base(n int, name string, kind domain.EdgeKind) domain.TypeRef {
	return domain.TypeRef{Name: w.intern(name), Kind: kind, Line: w.Line(w.Nodes[n].Start)}
}

// importing notes an import.
func (w *walker) importing(n int, target, name, alias string) {
	if target == "" || len(target) > maxOwner {
		return
	}
	if alias == name {
		alias = ""
	}
	w.facts.Imports = append(w.facts.Imports, domain.Import{
		Target: w.intern(target), Name: w.intern(name), Alias: w.intern(alias), Line: w.Line(w.Nodes[n].Start),
	})
}

// signature folds the text from ≤ … < to into one line without what opens the body.
func (w *walker) signature(from, to uint32) string {
	if to < from {
		return ""
	}
	// A long initializer is not worth folding whole.
	text := w.Text[from:min(to, from+4*maxSignature)]
	return strings.Clone(cut(strings.TrimRight(fold(text, maxSignature), " {:=;,"), maxSignature))
}

// dotted joins the parts of a qualified name, without empty ones.
func dotted(parts ...string) string {
	kept := parts[:0:0]
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ".")
}

// noteAssertions gives the types of the file the bases that were declared apart from them, and
// notes those of types of other files.
func noteAssertions(w *walker) {
	for _, a := range w.asserted {
		here := false
		for i := range w.facts.Symbols {
			s := &w.facts.Symbols[i]
			if s.QualifiedName() == a.name && (s.Kind.Class() || s.Kind == domain.KindType) {
				s.Bases = append(s.Bases, a.base)
				here = true
			}
		}
		if !here && a.elsewhere {
			w.facts.Conformances = append(w.facts.Conformances, domain.Conformance{Type: w.intern(a.name), Base: a.base})
		}
	}
}

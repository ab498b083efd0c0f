package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/knowledge/gotypes"
)

// exact completes resolutions: for Go files with what the type checker says.
func (w *world) exact(ctx context.Context, all []resolution) ([]graph.ResolvedFile, error) {
	answers := map[string]*gotypes.Answers{}
	wanted := map[*gotypes.Package][]string{}
	var units []*gotypes.Package // in their order, which is that of imports
	for _, r := range all {
		if r.unit == nil {
			continue
		}
		if wanted[r.unit] == nil {
			units = append(units, r.unit)
		}
		wanted[r.unit] = append(wanted[r.unit], w.files[r.at].Path)
	}
	for _, unit := range units {
		some, err := w.program.Check(ctx, unit, wanted[unit])
		if err != nil {
			return nil, fmt.Errorf("check package %s: %w", unit.Dir, err)
		}
		for path, a := range some {
			answers[path] = a
		}
	}
	resolved := make([]graph.ResolvedFile, len(all))
	for i, r := range all {
		f := w.files[r.at]
		edges := r.edges
		if a := answers[f.Path]; a != nil && r.unit != nil {
			edges = w.merge(r, a)
		}
		resolved[i] = graph.ResolvedFile{ID: f.Resolved, Path: f.Path, Blob: f.Blob, Facts: r.facts, Edges: edges}
	}
	return resolved, nil
}

// spot is a name on a line.
type spot struct {
	line int
	name string
}

// merge puts the type checker's word over that of names: what it judged is as it says, what
// it could not judge stays.
func (w *world) merge(r resolution, a *gotypes.Answers) []domain.Edge {
	judged, values := make(map[spot]bool, len(a.Calls)), map[spot]bool{}
	for _, c := range a.Calls {
		if c.Value && !c.Assigned {
			values[spot{c.Line, c.Name}] = true // of functions given to it elsewhere the checker knows nothing
		} else {
			judged[spot{c.Line, c.Name}] = true
		}
	}
	used := map[domain.SymbolKey]bool{}
	for _, u := range a.Uses {
		if key, ok := w.keyOf(u.Target); ok {
			used[key] = true
		}
	}
	var edges []domain.Edge
	for _, e := range r.edges {
		switch {
		case e.Kind == domain.EdgeCalls && judged[spot{e.Line, nameOf(e.To.Local)}]:
			continue
		case e.Kind == domain.EdgeCalls && e.How == domain.HowName && values[spot{e.Line, nameOf(e.To.Local)}]:
			continue
		case e.Kind == domain.EdgeImplements:
			continue
		case e.Kind != domain.EdgeContains && e.Kind != domain.EdgeCalls && used[e.To]:
			e.How = domain.HowExact
		}
		edges = append(edges, e)
	}
	edges = append(edges, w.calls(r, a.Calls)...)
	edges = append(edges, w.implementations(r, a.Implementations)...)
	for _, e := range r.edges { // those that the checker could not see: interfaces of packages that are not imported
		if e.Kind == domain.EdgeImplements && !slices.ContainsFunc(edges, func(have domain.Edge) bool {
			return have.Kind == e.Kind && have.From == e.From && have.To == e.To
		}) {
			edges = append(edges, e)
		}
	}
	slices.SortFunc(edges, func(a, b domain.Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Line, b.Line), strings.Compare(string(a.Kind), string(b.Kind)),
			strings.Compare(a.To.Path, b.To.Path), strings.Compare(a.To.Local, b.To.Local))
	})
	return slices.CompactFunc(edges, func(a, b domain.Edge) bool {
		a.How = b.How
		return a == b
	})
}

func (w *world) calls(r resolution, calls []gotypes.Call) []domain.Edge {
	from := make(map[spot]int, len(r.facts.References))
	for _, ref := range r.facts.References {
		if ref.Kind == domain.EdgeCalls {
			from[spot{ref.Line, ref.Name}] = ref.From
		}
	}
	var edges []domain.Edge
	seen := map[domain.Edge]bool{}
	for _, c := range calls {
		to, ok := w.keyOf(c.Target)
		if !ok {
			continue
		}
		at, known := from[spot{c.Line, c.Name}]
		if !known {
			at = innermost(r.facts.Symbols, c.Line)
		}
		e := domain.Edge{From: at, To: to, Kind: domain.EdgeCalls, Line: c.Line, How: domain.HowExact}
		if c.Assigned {
			e.How = domain.HowScoped
		}
		if !seen[e] {
			seen[e] = true
			edges = append(edges, e)
		}
	}
	return edges
}

func (w *world) implementations(r resolution, found []gotypes.Implementation) []domain.Edge {
	var edges []domain.Edge
	for _, i := range found {
		from := find(r.facts.Symbols, i.Type)
		to, ok := w.keyOf(i.Interface)
		if from < 0 || !ok {
			continue
		}
		edges = append(edges, domain.Edge{From: from, To: to, Kind: domain.EdgeImplements, Line: r.facts.Symbols[from].StartLine, How: domain.HowExact})
	}
	return edges
}

// keyOf gives the symbol that the type checker means; ok is false where the graph has none.
func (w *world) keyOf(s gotypes.Symbol) (domain.SymbolKey, bool) {
	o, ok := w.locals[s.Path]
	if !ok {
		return domain.SymbolKey{}, false
	}
	i := find(o.symbols, s)
	if i < 0 {
		return domain.SymbolKey{}, false
	}
	return domain.SymbolKey{Path: s.Path, Local: o.names[i]}, true
}

// find gives the place of a symbol; -1 for none.
func find(symbols []domain.Symbol, s gotypes.Symbol) int {
	for i := range symbols {
		if c := &symbols[i]; c.Name == s.Name && c.Receiver == s.Receiver {
			return i
		}
	}
	return -1
}

// innermost gives the place of the last symbol to begin whose lines hold a line; -1 for none.
func innermost(symbols []domain.Symbol, line int) int {
	found := -1
	for i := range symbols {
		if symbols[i].StartLine <= line && line <= symbols[i].EndLine {
			found = i
		}
	}
	return found
}

// nameOf gives the bare name in a Local.
func nameOf(local string) string {
	local, _, _ = strings.Cut(local, "@")
	return local[strings.LastIndexByte(local, '.')+1:]
}

package offline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// relationPlan says how the ends of one kind of edge are found and told.
type relationPlan struct {
	tool  string
	field string // the input's field for the symbol
	lead  string // of the list; %s stands for the symbol
	none  string
}

var (
	callers    = relationPlan{"find_callers", "function_name", "`%s` is called from:", "Nothing in the repository calls `%s` as far as the graph knows."}
	callees    = relationPlan{"find_callees", "function_name", "`%s` calls:", "`%s` calls nothing in the repository as far as the graph knows."}
	references = relationPlan{"find_references", "name", "`%s` is referred to from:", "Nothing in the repository refers to `%s` as far as the graph knows."}
)

const (
	maxTargets = 2  // symbols of one name whose edges are followed
	maxEdges   = 25 // edges shown of each
	shownSites = 3  // edges of which the surrounding lines are shown
)

// relation answers who is at the other end of a symbol's edges.
func (p *plan) relation(q question, got found, r relationPlan) string {
	targets := targetsOf(q, got)
	if len(targets) == 0 {
		return p.mentions(q, got)
	}
	edges := make([][]finding, len(targets))
	for i, t := range targets {
		edges[i] = p.edges(r, t)
	}
	if p.waiting() {
		return ""
	}
	sites := map[place][]numbered{}
	for _, list := range edges {
		for _, e := range list[:min(len(list), shownSites)] {
			sites[e.place] = p.surroundings(e.place)
		}
	}
	if p.waiting() {
		return ""
	}
	w := newWriter("")
	for i, t := range targets {
		if len(edges[i]) == 0 {
			w.line(r.none+" It is defined in `%s` %s.\n", t.name, t.file, t.span(t.end))
			continue
		}
		w.line(r.lead+"\n", t.name)
		for _, e := range edges[i][:min(len(edges[i]), maxEdges)] {
			w.line("- %s %s%s", e.label(), e.cite(), e.doubt())
		}
		if more := len(edges[i]) - maxEdges; more > 0 {
			w.line("- … and %d more", more)
		}
		w.line("\nIt is defined in `%s` %s.\n", t.file, t.span(t.end))
		for _, e := range edges[i][:min(len(edges[i]), shownSites)] {
			w.site(e, sites[e.place])
		}
	}
	w.others("Other symbols with a similar name", got.rest(q, targets), 5)
	return w.String()
}

// targetsOf gives the symbols whose edges the question is about: those of its names, or the
// likeliest one. Where a name is no symbol here but stands in the code, as one of a library
// does, there is none.
func targetsOf(q question, got found) []finding {
	targets := got.exact(q)
	if len(targets) == 0 && !got.mention(q.names) {
		targets = got.top(1)
	}
	if len(targets) > 1 && targets[0].score > 1.3*targets[1].score {
		targets = targets[:1]
	}
	return targets[:min(len(targets), maxTargets)]
}

// edges follows a symbol's edges. A type has no callers of its own: who refers to it counts.
func (p *plan) edges(r relationPlan, t finding) []finding {
	in := input{"repo": t.repo, "version": t.version, "file": t.file, r.field: t.name}
	found := p.find(r.tool, in)
	if len(found) == 0 && r.tool == callers.tool && !p.waiting() {
		found = p.find(references.tool, input{"repo": t.repo, "version": t.version, "file": t.file, "name": t.name})
	}
	// What holds a symbol does not refer to it.
	found = slices.DeleteFunc(found, func(f finding) bool { return f.relation == "" || strings.HasPrefix(f.relation, "contains") })
	slices.SortStableFunc(found, func(a, b finding) int { return rankFile(a.file) - rankFile(b.file) })
	return found
}

func rankFile(file string) int {
	if isTest(file) {
		return 1
	}
	return 0
}

// passive says what an edge is, seen from its target.
var passive = map[string]string{
	"calls": "called by", "inherits": "inherited by", "implements": "implemented by", "embeds": "embedded by", "uses": "used by",
}

// label names an edge's other end, with what it is to the symbol where that is not plain.
func (f finding) label() string {
	verb, _, more := strings.Cut(f.relation, " ")
	if more { // "implements from"
		return fmt.Sprintf("%s `%s`", cmp.Or(passive[verb], verb+" by"), f.name)
	}
	return "`" + f.name + "`"
}

func (f finding) doubt() string {
	if f.how == "name" {
		return " (likely: known by its name alone)"
	}
	return ""
}

// surroundings reads the lines around a place.
func (p *plan) surroundings(at place) []numbered {
	const around = 3
	from := max(1, at.line-around)
	for _, f := range p.find("read_file", input{"repo": at.repo, "version": at.version, "file": at.file, "start_line": from, "end_line": at.line + around}) {
		return f.source
	}
	return nil
}

// site shows the lines around an edge's place.
func (w *writer) site(e finding, lines []numbered) {
	if len(lines) == 0 {
		return
	}
	w.line("`%s` %s\n\n```%s", e.file, e.cite(), language(e.file))
	for _, l := range lines {
		w.line("%s", l.text)
	}
	w.line("```\n")
}

// path answers how one symbol reaches another.
func (p *plan) path(q question, at focus) string {
	if len(q.names) < 2 {
		q.names = unique(append(q.names, q.words...))
	}
	if len(q.names) < 2 {
		return p.nothing(q, at)
	}
	from, to := q, q
	from.names, to.names = q.names[:1], q.names[1:2]
	from.words, to.words = nil, nil
	starts, ok1 := p.gather(from, at)
	goals, ok2 := p.gather(to, at)
	if !ok1 || !ok2 {
		return ""
	}
	if len(starts.symbols) == 0 || len(goals.symbols) == 0 {
		return p.nothing(q, at)
	}
	chain, reversed := p.chain(starts.symbols, goals.symbols)
	if p.waiting() {
		return ""
	}
	start, goal := starts.symbols[0], goals.symbols[0]
	if len(chain) == 0 {
		shown := p.sources([]finding{start, goal})
		w := newWriter(fmt.Sprintf("No chain of calls from `%s` to `%s` was found, in either direction.", start.name, goal.name))
		for _, s := range shown {
			w.line("`%s` is defined in `%s` %s.", s.name, s.file, s.span(s.end))
			w.extract(s, q, 16)
		}
		return w.String()
	}
	sites := make([][]numbered, len(chain))
	for i, step := range chain[1:min(len(chain), 6)] {
		sites[i+1] = p.surroundings(step.place)
	}
	if p.waiting() {
		return ""
	}
	return pathText(chain, sites, reversed, goal)
}

// chain looks for a chain of calls between the likeliest of both ends, and if there is
// none for one the other way round. A type stands for its methods: its name leads there.
func (p *plan) chain(starts, goals []finding) (steps []finding, reversed bool) {
	type pair struct{ from, to finding }
	var pairs []pair
	for i, s := range starts[:min(len(starts), 2)] {
		for j, g := range goals[:min(len(goals), 2)] {
			if i+j < 2 {
				pairs = append(pairs, pair{s, g})
			}
		}
	}
	for _, x := range pairs {
		if steps = p.findPath(x.from, x.to); len(steps) > 1 {
			return steps, false
		}
	}
	if p.waiting() {
		return nil, false
	}
	if steps = p.findPath(pairs[0].to, pairs[0].from); len(steps) > 1 {
		return steps, true
	}
	return nil, false
}

func (p *plan) findPath(from, to finding) []finding {
	if from.repo != to.repo || from.version != to.version {
		return nil
	}
	return p.find("find_path", input{"repo": from.repo, "version": from.version,
		"from": from.name, "from_file": from.file, "to": to.name, "to_file": to.file})
}

func pathText(chain []finding, sites [][]numbered, reversed bool, goal finding) string {
	first, end := chain[0], chain[len(chain)-1]
	lead := fmt.Sprintf("`%s` reaches `%s` in %d calls:", first.name, end.name, len(chain)-1)
	if len(chain) == 2 {
		lead = fmt.Sprintf("`%s` calls `%s` itself:", first.name, end.name)
	}
	if reversed {
		lead = "There is no chain in the direction asked for, but one the other way round. " + lead
	}
	w := newWriter(lead)
	w.line("1. `%s` starts in `%s` %s", first.name, first.file, first.cite())
	for i, step := range chain[1:] {
		w.line("%d. it calls `%s` %s%s, defined at %s", i+2, step.name, step.cite(), step.doubt(), step.home.cite())
	}
	w.line("\n```mermaid\ngraph LR")
	for i, step := range chain {
		w.line("  n%d[\"%s\"]", i, step.name)
		if i > 0 {
			w.line("  n%d --> n%d", i-1, i)
		}
	}
	w.line("```\n")
	for i, step := range chain {
		w.site(step, sites[i])
	}
	if !reversed && end.home.file == goal.file {
		w.line("`%s` is defined in `%s` %s.", goal.name, goal.file, goal.span(goal.end))
	}
	return w.String()
}

package offline

import (
	"fmt"
	"slices"
	"strings"
)

// notice is the first line of every answer.
const notice = "*No language model wrote this: it is what rules found in the code graph and in the sources.*"

// answer runs the question's plan. Its text counts only where the plan wants nothing.
func (p *plan) answer(q question) string {
	if q.empty() {
		return p.clarify()
	}
	repos := parseRepos(p.ask("list_repositories", input{}).text)
	if p.waiting() {
		return ""
	}
	if len(repos) == 0 && p.offered["list_repositories"] {
		return notice + "\n\nNothing found: no repository has been read yet."
	}
	at := focusOf(q, repos)
	q = q.within(at)
	switch q.kind {
	case kindList:
		return p.list(repos)
	case kindOverview:
		return p.overview(at)
	case kindPath:
		return p.path(q, at)
	case kindChanged:
		return p.changed(q, at)
	case kindFile, kindImports:
		return p.file(q, at)
	case kindConfigured:
		return p.configured(q, at)
	}
	got, ok := p.gather(q, at)
	if !ok {
		return ""
	}
	if len(got.symbols) == 0 && len(got.matches) == 0 {
		return p.nothing(q, at)
	}
	switch q.kind {
	case kindWhere:
		return p.where(q, got)
	case kindCallers:
		return p.relation(q, got, callers)
	case kindCallees:
		return p.relation(q, got, callees)
	case kindReferences:
		return p.relation(q, got, references)
	}
	return p.how(q, got)
}

// clarify asks what is meant by a question that says nothing.
func (p *plan) clarify() string {
	const question = "What would you like to know about the code?"
	p.ask("ask_user", input{"question": question, "choices": []string{
		"Which repositories are there?", "What is in this repository?", "Where is a symbol defined?", "Who calls a function?",
	}})
	return notice + "\n\n" + question
}

// nothing says that nothing was found, and where it was looked for.
func (p *plan) nothing(q question, at focus) string {
	var b strings.Builder
	where := "any repository in scope"
	if at.repo != "" {
		where = at.repo + " " + at.version
	}
	fmt.Fprintf(&b, "%s\n\nNothing found in %s", notice, strings.TrimSpace(where))
	if terms := slices.Concat(q.names, q.paths, q.words); len(terms) > 0 {
		fmt.Fprintf(&b, " for %s", quoteAll(terms))
	}
	b.WriteString(". Names, and words in sources and documents, were searched. A name as the code spells it finds the most.\n")
	return b.String()
}

// list names the repositories and versions there are.
func (p *plan) list(repos []repo) string {
	w := newWriter("These repositories have been read:")
	for _, r := range repos {
		w.line("- **%s**: %s", r.name, strings.Join(r.versions, ", "))
	}
	return w.String()
}

// where shows definitions.
func (p *plan) where(q question, got found) string {
	main := got.exact(q)
	if len(main) == 0 {
		main = got.top(3)
	}
	main = p.sources(main[:min(len(main), 3)])
	if p.waiting() {
		return ""
	}
	if len(main) == 0 {
		return p.mentions(q, got)
	}
	w := newWriter("")
	for _, m := range main {
		w.line("`%s` (%s) is defined in `%s` %s.", m.name, m.kind, m.file, m.span(m.end))
		w.extract(m, q, 30)
	}
	w.others("Also found", got.rest(q, main), 7)
	w.lines("Mentioned in", near(outside(got.matches, got.symbols), main), 4)
	return w.String()
}

// mentions answers with lines of text alone.
func (p *plan) mentions(q question, got found) string {
	w := newWriter("No symbol of that name was found; these lines hold the words:")
	for _, m := range bestMatches(q, got.matches, 8) {
		w.match(m)
	}
	return w.String()
}

// sources adds the source to symbols that have none yet, in one round.
func (p *plan) sources(list []finding) []finding {
	out := slices.Clone(list)
	for i, s := range out {
		if len(s.source) > 0 {
			continue
		}
		for _, f := range p.find("get_symbol_source", input{"repo": s.repo, "version": s.version, "file": s.file, "name": s.name, "line": s.line}) {
			if f.line == s.line {
				out[i].source, out[i].doc = f.source, f.doc
			}
		}
	}
	return out
}

// without gives those of list that are not among shown.
func without(list, shown []finding) []finding {
	return slices.DeleteFunc(slices.Clone(list), func(f finding) bool {
		return slices.ContainsFunc(shown, func(s finding) bool { return s.place == f.place })
	})
}

// near gives the text matches of the repositories in which the shown symbols are.
func near(matches, shown []finding) []finding {
	return slices.DeleteFunc(slices.Clone(matches), func(m finding) bool {
		return !slices.ContainsFunc(shown, func(s finding) bool { return s.repo == m.repo })
	})
}

// outside gives the text matches that lie in none of the symbols' definitions.
func outside(matches, shown []finding) []finding {
	return slices.DeleteFunc(slices.Clone(matches), func(m finding) bool {
		return slices.ContainsFunc(shown, func(s finding) bool {
			return s.repo == m.repo && s.file == m.file && m.line >= s.line && m.line <= s.end
		})
	})
}

func quoteAll(terms []string) string {
	quotedTerms := make([]string, 0, len(terms))
	for _, t := range terms {
		quotedTerms = append(quotedTerms, "`"+t+"`")
	}
	return strings.Join(unique(quotedTerms), ", ")
}

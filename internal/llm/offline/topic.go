package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// how shows the symbols that a question is about, what they call and who calls them.
func (p *plan) how(q question, got found) string {
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
	var calls, calledFrom []finding
	if main[0].kind == "function" || main[0].kind == "method" {
		calls, calledFrom = p.edges(callees, main[0]), p.edges(callers, main[0])
	} else {
		calledFrom = p.edges(references, main[0])
	}
	if p.waiting() {
		return ""
	}
	w := newWriter(q.missing(got))
	for i, m := range main {
		lead := ""
		if i > 0 {
			lead = "Related: "
		}
		w.line("%s`%s` (%s) in `%s` %s", lead, m.name, m.kind, m.file, m.span(m.end))
		if m.doc != "" {
			w.line("\n> %s", m.doc)
		}
		w.extract(m, q, 40-12*i)
	}
	w.ends(fmt.Sprintf("`%s` calls", main[0].name), distinctEnds(calls), 8)
	w.ends(fmt.Sprintf("`%s` is used by", main[0].name), distinctEnds(calledFrom), 6)
	w.others("Also related", got.rest(q, main), 7)
	w.lines("In documents and elsewhere", bestMatches(q, near(outside(got.matches, main), main), 5), 5)
	return w.String()
}

// missing says that a name of the question, which can only come from code, is none here; ""
// where it is one.
func (q question) missing(got found) string {
	if len(q.names) == 0 || !identifier(q.names[0]) || len(got.exact(q)) > 0 {
		return ""
	}
	return fmt.Sprintf("No symbol `%s` was found. What comes nearest:", q.names[0])
}

// ends lists the other ends of edges, each with the place of the edge.
func (w *writer) ends(title string, list []finding, limit int) {
	if len(list) == 0 {
		return
	}
	w.line("%s:\n", title)
	for _, e := range list[:min(len(list), limit)] {
		w.line("- %s %s%s, defined at %s", e.label(), e.cite(), e.doubt(), e.home.cite())
	}
	w.line("")
}

// distinctEnds gives the edges with different other ends.
func distinctEnds(edges []finding) []finding {
	var out []finding
	for _, e := range edges {
		if !slices.ContainsFunc(out, func(o finding) bool { return o.home == e.home && o.name == e.name }) {
			out = append(out, e)
		}
	}
	return out
}

// settingMarks are what stands on lines that read or declare settings.
const settingMarks = `flag|env|toml:|yaml:|json:|default|config|option|setting|usage|var |const `

// generalSettings are words that say that a setting is meant, not which one.
var generalSettings = append(slices.Clone(synonyms[0]), "flag", "default", "environment", "env", "variable", "set", "value", "change", "enable", "disable", "turn", "read")

// specific leaves the general words out of a question on settings, where others are left.
func specific(q question) question {
	words := slices.DeleteFunc(slices.Clone(q.words), func(w string) bool { return among(w, generalSettings) })
	if len(words)+len(q.names) > 0 {
		q.words = words
	}
	return q
}

// settingLines finds the lines that set, declare or read what the question is about.
func (p *plan) settingLines(q question, at focus) []finding {
	var lines []finding
	terms := slices.Concat(q.names, q.words)
	for _, t := range terms[:min(len(terms), maxSettings)] {
		word := regexp.QuoteMeta(last(flatten(t)))
		if !slices.Contains(q.names, t) {
			word = regexp.QuoteMeta(stemmed(t))
		}
		pattern := fmt.Sprintf(`(?i)(%s).*%s|%s.*(%s|=|:)`, settingMarks, word, word, settingMarks)
		lines = append(lines, p.find("search_text", at.with(input{"query": pattern, "regexp": true, "limit": textAsked, "context": 1}))...)
	}
	return lines
}

const maxSettings = 3 // words that are looked for on lines of settings

// configured shows where something is set: declarations of settings, flags and variables
// of the environment, with the documents that speak of them.
func (p *plan) configured(q question, at focus) string {
	q = specific(q)
	lines := p.settingLines(q, at)
	got, ok := p.gather(q, at, bestSettings(q, lines, textAsked)...)
	if !ok {
		return ""
	}
	if len(got.symbols) == 0 && len(got.matches) == 0 {
		return p.nothing(q, at)
	}
	got.symbols = rank(settingsFirst(q), got.symbols, got.matches)
	main := got.exact(q)
	if len(main) == 0 {
		main = got.top(3)
	}
	main = p.sources(main[:min(len(main), 3)])
	if p.waiting() {
		return ""
	}
	w := newWriter("")
	for _, m := range main {
		w.line("`%s` (%s) in `%s` %s", m.name, m.kind, m.file, m.span(m.end))
		w.extract(m, q, 24)
	}
	w.lines("Lines that set or read it", bestSettings(q, near(got.matches, main), 8), 8)
	w.others("Related symbols", got.rest(q, main), 7)
	return w.String()
}

// bestSettings is bestMatches with the lines first that hold a word of the question as a
// key: in quotes, or before "=" or ":".
func bestSettings(q question, lines []finding, limit int) []finding {
	keys := make([]string, 0, len(q.words)+len(q.names))
	for _, w := range slices.Concat(q.words, q.names) {
		keys = append(keys, regexp.QuoteMeta(w))
	}
	isKey := regexp.MustCompile(`(?i)["'](` + strings.Join(keys, "|") + `)["',]|^\s*"?(` + strings.Join(keys, "|") + `)"?\s*[=:]`)
	var first, others []finding
	for _, l := range lines {
		if isKey.MatchString(l.text) {
			first = append(first, l)
		} else {
			others = append(others, l)
		}
	}
	first = bestMatches(q, first, limit)
	return append(first, bestMatches(q, others, limit-len(first))...)
}

// settingsFirst adds the words of settings to the question, so that the types that hold
// them come first.
func settingsFirst(q question) question {
	q.words = unique(append(slices.Clone(q.words), "config"))
	return q
}

// changed compares the symbols that a question is about between two versions.
func (p *plan) changed(q question, at focus) string {
	words := slices.DeleteFunc(slices.Clone(q.words), func(w string) bool {
		return among(w, []string{"change", "differ", "difference", "compare", "release", "diff", "update", "modify", "add", "remove"})
	})
	q.words = words
	if len(q.names)+len(q.words)+len(q.paths) == 0 {
		return p.outlines(q, at)
	}
	got, ok := p.gather(q, at)
	if !ok {
		return ""
	}
	if len(got.symbols) == 0 || len(q.names) > 0 && len(got.exact(q)) == 0 {
		older, ok := p.gatherOlder(q, at)
		if !ok {
			return ""
		}
		if len(got.symbols) == 0 || len(older.exact(q)) > 0 {
			got = older
		}
	}
	targets := got.exact(q)
	if len(targets) == 0 {
		targets = got.top(4)
	}
	targets = targets[:min(len(targets), 4)]
	if len(targets) == 0 {
		return p.nothing(q, at)
	}
	return p.comparisons(q, at, targets, got)
}

// gatherOlder searches in the older version, for what the newest has no more.
func (p *plan) gatherOlder(q question, at focus) (found, bool) {
	for _, r := range at.repos {
		if at.repo != "" && r.name != at.repo {
			continue
		}
		if _, older := pairOf(r, namedVersions(q, r)); older != "" {
			return p.gather(q, focus{repo: r.name, version: older, repos: at.repos})
		}
	}
	return found{}, true
}

func (p *plan) comparisons(q question, at focus, targets []finding, got found) string {
	texts := make([]string, len(targets))
	for i, t := range targets {
		r := at.repoOf(t.repo)
		newer, older := pairOf(r, namedVersions(q, r))
		if older == "" {
			continue
		}
		texts[i] = p.ask("compare_symbol_across_versions", input{"repo": t.repo, "version_a": older, "version_b": newer, "file": t.file, "name": t.name}).text
	}
	if p.waiting() {
		return ""
	}
	w := newWriter("")
	shown := 0
	for i, t := range targets {
		if texts[i] != "" {
			w.comparison(t, texts[i])
			shown++
		}
	}
	if shown == 0 {
		w.line("There is only one version of `%s` here, so there is nothing to compare. `%s` is defined in `%s` %s.", targets[0].repo, targets[0].name, targets[0].file, targets[0].span(targets[0].end))
	}
	w.others("Related symbols", got.rest(q, targets), 5)
	return w.String()
}

// comparison renders the result of compare_symbol_across_versions.
func (w *writer) comparison(t finding, text string) {
	sides := parseFindings(text)
	cites := make([]string, 0, len(sides))
	for _, s := range sides {
		cites = append(cites, s.span(s.end))
	}
	first, _, _ := strings.Cut(text, "\n")
	diff, _, isDiff := strings.Cut(text, "\n\nIn ")
	switch {
	case isDiff:
		_, body, _ := strings.Cut(diff, "Diff:\n")
		w.line("`%s` changed: %s", t.name, strings.Join(cites, " and "))
		if strings.HasPrefix(first, "Moved") {
			w.line("\n%s", first)
		}
		w.line("\n```diff\n%s\n```\n", cutLines(body, 80))
	default:
		w.line("`%s`: %s %s\n", t.name, strings.TrimSuffix(first, ":")+".", strings.Join(cites, " and "))
	}
}

func cutLines(text string, limit int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) <= limit {
		return strings.Join(lines, "\n")
	}
	return strings.Join(lines[:limit], "\n") + fmt.Sprintf("\n… %d more lines", len(lines)-limit)
}

package offline

import (
	"regexp"
	"slices"
	"strings"
)

// How much a plan looks up at once.
const (
	maxNames   = 5
	maxWords   = 6
	maxPairs   = 4
	hitsAsked  = 25
	textAsked  = 40
	textWords  = 4
	shortName  = 2 // bytes
	filesAsked = 4 // files of text matches whose symbols are looked up
)

// found is what the searches brought.
type found struct {
	symbols []finding // ranked
	matches []finding // lines of text with the question's words
}

// exact gives the symbols that carry a name of the question, or of a question without
// names one of its words alone.
func (f found) exact(q question) []finding {
	var out []finding
	for _, s := range f.symbols {
		if slices.ContainsFunc(q.names, func(n string) bool { return exactness(n, s) >= 65 }) {
			out = append(out, s)
		}
	}
	return out
}

// mention reports whether a line of text holds one of the names.
func (f found) mention(names []string) bool {
	return slices.ContainsFunc(f.matches, func(m finding) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(m.text, last(flatten(n))) })
	})
}

// top gives the best n symbols, without those that are far behind the first.
func (f found) top(n int) []finding {
	const behind = 0.45
	var out []finding
	for _, s := range f.symbols {
		if len(out) == n || s.score < behind*f.symbols[0].score {
			break
		}
		out = append(out, s)
	}
	return out
}

// rest gives the symbols worth a line beside those shown: of the same repositories, close
// to the best in score, and no tests unless they were asked for.
func (f found) rest(q question, shown []finding) []finding {
	const behind = 0.35
	return slices.DeleteFunc(near(without(f.symbols, shown), shown), func(s finding) bool {
		return isTest(s.file) && !q.testing() || s.score < behind*f.symbols[0].score && len(q.names) == 0 || s.score <= 0
	})
}

// gather searches for what the question names and says. lines are text matches that were
// found otherwise. ok is false while the plan waits.
func (p *plan) gather(q question, at focus, lines ...finding) (found, bool) {
	var pool []finding
	for _, n := range q.names[:min(len(q.names), maxNames)] {
		pool = append(pool, p.find("search_symbols", at.with(input{"query": n, "limit": hitsAsked}))...)
		if short := last(flatten(n)); short != flatten(n) && short != "" {
			pool = append(pool, p.find("search_symbols", at.with(input{"query": short, "limit": hitsAsked}))...)
		}
	}
	for _, query := range phrases(q) {
		pool = append(pool, p.find("search_symbols", at.with(input{"query": query, "limit": hitsAsked}))...)
	}
	for _, file := range q.paths {
		pool = append(pool, p.fileSymbols(at, file)...)
	}
	matches := append(slices.Clone(lines), p.text(q, at)...)
	if p.waiting() {
		return found{}, false
	}
	first := found{symbols: rank(q, pool, matches), matches: matches}
	if len(first.exact(q)) > 0 && len(q.names) > 0 {
		return first, true
	}
	if len(matches) == len(lines) {
		matches = append(matches, p.singleWords(q, at)...)
	}
	pool = append(pool, p.around(matches, q)...)
	if p.waiting() {
		return found{}, false
	}
	return found{symbols: rank(q, pool, matches), matches: matches}, true
}

// phrases gives the names to search for of a question in plain words: its words side by
// side, since names are made of them, and each alone.
func phrases(q question) []string {
	words := q.words[:min(len(q.words), maxWords)]
	var out []string
	for i := 0; i+1 < len(words) && i < maxPairs; i++ {
		out = append(out, stemmed(words[i])+" "+stemmed(words[i+1]))
	}
	for _, w := range words {
		if len(w) > 2 {
			out = append(out, stemmed(w))
		}
	}
	return unique(out)
}

// stemmed is the form of a word by which names are searched: long enough to mean it, and
// without an ending that code would not have.
func stemmed(word string) string {
	if s := stem(word); len(s) >= 4 && strings.HasPrefix(word, s) {
		return s
	}
	return word
}

// fileSymbols lists what a file defines that the question names, wherever it stands.
func (p *plan) fileSymbols(at focus, file string) []finding {
	file = strings.TrimPrefix(file, "./")
	direct := p.find("get_file_symbols", at.with(input{"file": file}))
	if len(direct) > 0 || p.waiting() {
		return direct
	}
	return nil
}

// text searches for lines that hold the question's words close together, or its names
// where those are no symbols.
func (p *plan) text(q question, at focus) []finding {
	var out []finding
	if len(q.words) > 0 {
		words := q.words[:min(len(q.words), textWords)]
		out = p.find("search_text", at.with(input{"query": strings.Join(words, " "), "limit": textAsked, "context": 1}))
	}
	for _, n := range q.names[:min(len(q.names), 2)] {
		switch {
		case len(n) <= shortName: // stands inside of many words
			out = append(out, p.find("search_text", at.with(input{"query": `\b` + regexp.QuoteMeta(n) + `\b`, "regexp": true, "limit": textAsked, "context": 1}))...)
		case len(q.words) == 0 || strings.ContainsAny(n, "_-."):
			out = append(out, p.find("search_text", at.with(input{"query": n, "limit": textAsked, "context": 1}))...)
		}
	}
	return out
}

// singleWords searches for pairs of words and then for words alone, where all together
// stand nowhere.
func (p *plan) singleWords(q question, at focus) []finding {
	var out []finding
	for i := 0; i+1 < len(q.words) && i < 2; i++ {
		out = append(out, p.find("search_text", at.with(input{"query": q.words[i] + " " + q.words[i+1], "limit": textAsked, "context": 1}))...)
	}
	if len(q.words) == 1 || len(out) == 0 {
		for _, w := range longest(q.words, 2) {
			out = append(out, p.find("search_text", at.with(input{"query": stemmed(w), "limit": textAsked, "context": 1}))...)
		}
	}
	return out
}

func longest(words []string, n int) []string {
	sorted := slices.Clone(words)
	slices.SortStableFunc(sorted, func(a, b string) int { return len(b) - len(a) })
	return sorted[:min(len(sorted), n)]
}

// around lists the symbols of the files that hold the most text matches.
func (p *plan) around(matches []finding, q question) []finding {
	type tally struct {
		place
		weight float64
	}
	var files []tally
	for _, m := range matches {
		at := slices.IndexFunc(files, func(t tally) bool { return t.repo == m.repo && t.version == m.version && t.file == m.file })
		if at < 0 {
			files = append(files, tally{place: m.place})
			at = len(files) - 1
		}
		files[at].weight += factor(q, m.file)
	}
	slices.SortStableFunc(files, func(a, b tally) int {
		switch {
		case a.weight > b.weight:
			return -1
		case a.weight < b.weight:
			return 1
		}
		return 0
	})
	var out []finding
	for _, f := range files[:min(len(files), filesAsked)] {
		if !isProse(f.file) {
			out = append(out, p.find("get_file_symbols", input{"repo": f.repo, "version": f.version, "file": f.file})...)
		}
	}
	return out
}

func isProse(file string) bool {
	for _, ending := range []string{".md", ".rst", ".txt", ".adoc"} {
		if strings.HasSuffix(strings.ToLower(file), ending) {
			return true
		}
	}
	return false
}

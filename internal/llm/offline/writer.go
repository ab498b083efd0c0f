package offline

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// writer gathers an answer's Markdown.
type writer struct{ strings.Builder }

func newWriter(lead string) *writer {
	w := &writer{}
	w.line("%s\n", notice)
	if lead != "" {
		w.line("%s\n", lead)
	}
	return w
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.Builder, format+"\n", args...) }

// extract shows a symbol's source, at most limit lines of it: its beginning, and what is
// around the lines that hold words of the question.
func (w *writer) extract(f finding, q question, limit int) {
	if len(f.source) == 0 {
		w.line("")
		return
	}
	w.line("\n```%s", language(f.file))
	before := f.source[0].n - 1
	for _, l := range relevant(f.source, q, limit) {
		if l.n != before+1 {
			w.line("…")
		}
		w.line("%s", l.text)
		before = l.n
	}
	if before < f.source[len(f.source)-1].n {
		w.line("…")
	}
	w.line("```\n")
}

// relevant chooses lines: all where they are few, else the head and the neighbourhoods of
// lines that answer words or names of the question.
func relevant(source []numbered, q question, limit int) []numbered {
	if len(source) <= limit {
		return source
	}
	head := max(6, limit/3)
	keep := map[int]bool{}
	for i := range head {
		keep[i] = true
	}
	type weighed struct {
		at     int
		weight float64
	}
	var lines []weighed
	for i := head; i < len(source); i++ {
		if weight := lineWeight(source[i].text, q); weight > 0 {
			lines = append(lines, weighed{i, weight})
		}
	}
	slices.SortStableFunc(lines, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	for _, l := range lines {
		for i := max(0, l.at-1); i <= min(len(source)-1, l.at+2) && len(keep) < limit; i++ {
			keep[i] = true
		}
	}
	for i := head; i < len(source) && len(keep) < limit && len(lines) == 0; i++ {
		keep[i] = true
	}
	var out []numbered
	for i, l := range source {
		if keep[i] {
			out = append(out, l)
		}
	}
	return out
}

func lineWeight(text string, q question) float64 {
	total := 0.0
	for _, n := range q.names {
		if strings.Contains(text, last(flatten(n))) {
			total += 2
		}
	}
	words := wordsOf(split(text))
	for _, w := range q.words {
		total += best(wordOf(w), words)
	}
	return total
}

// others lists further symbols in a line each.
func (w *writer) others(title string, list []finding, limit int) {
	if len(list) == 0 {
		return
	}
	w.line("%s:\n", title)
	for i, f := range list {
		if i == limit {
			break
		}
		w.symbol(f)
	}
	w.line("")
}

func (w *writer) symbol(f finding) {
	about := ""
	if f.doc != "" {
		about = " — " + f.doc
	} else if f.signature != "" {
		about = " — `" + cut(f.signature, 120) + "`"
	}
	w.line("- `%s` (%s) %s%s", f.name, f.kind, f.cite(), about)
}

// lines lists text matches in a line each.
func (w *writer) lines(title string, list []finding, limit int) {
	if len(list) == 0 {
		return
	}
	w.line("%s:\n", title)
	for i, f := range list {
		if i == limit {
			break
		}
		w.line("- `%s` %s", cut(strings.ReplaceAll(f.text, "`", "'"), 140), f.cite())
	}
	w.line("")
}

// match shows a text match with the lines around it.
func (w *writer) match(f finding) {
	w.line("`%s` %s\n\n```%s", f.file, f.cite(), language(f.file))
	for _, l := range f.source {
		w.line("%s", l.text)
	}
	w.line("```\n")
}

// cut shortens text at a character's border.
func cut(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}

// bestMatches gives the text matches with the most of the question in them, few of a file.
func bestMatches(q question, matches []finding, limit int) []finding {
	const perFile = 3
	ranked := slices.Clone(matches)
	for i, f := range ranked {
		ranked[i].score = lineWeight(f.text+" "+f.file, q) * factor(q, f.file)
	}
	slices.SortStableFunc(ranked, func(a, b finding) int { return cmp.Compare(b.score, a.score) })
	var out []finding
	of := map[string]int{}
	for _, f := range ranked {
		key := f.repo + ":" + f.file
		if of[key] < perFile && len(out) < limit {
			out = append(out, f)
			of[key]++
		}
	}
	return out
}

var languages = map[string]string{
	".go": "go", ".py": "python", ".ts": "ts", ".tsx": "tsx", ".js": "js", ".rs": "rust", ".java": "java", ".c": "c", ".h": "c",
	".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".cs": "csharp", ".rb": "ruby", ".php": "php", ".kt": "kotlin", ".scala": "scala",
	".sh": "bash", ".tf": "hcl", ".hcl": "hcl", ".lua": "lua", ".zig": "zig", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml",
	".json": "json", ".sql": "sql", ".md": "markdown",
}

func language(file string) string { return languages[strings.ToLower(path.Ext(file))] }

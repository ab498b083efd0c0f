package offline

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// overview shows the outline of a repository, or of the first few where none is named.
func (p *plan) overview(at focus) string {
	var chosen []repo
	for _, r := range at.repos {
		if at.repo == "" || r.name == at.repo {
			chosen = append(chosen, r)
		}
	}
	const most = 3
	chosen = chosen[:min(len(chosen), most)]
	texts := make([]string, len(chosen))
	for i, r := range chosen {
		texts[i] = p.ask("repository_outline", input{"repo": r.name, "version": at.version}).text
	}
	if p.waiting() {
		return ""
	}
	w := newWriter("")
	for i, r := range chosen {
		w.outline(r.name, texts[i])
	}
	if len(at.repos) > len(chosen) && at.repo == "" {
		w.line("There are %d repositories in all; name one to see its outline.", len(at.repos))
	}
	return w.String()
}

var noFiles = regexp.MustCompile(`: 0 files\b`)

// outline renders the result of repository_outline: its own lists, with the README first.
func (w *writer) outline(name, text string) {
	head, readme, _ := strings.Cut(text, "\nREADME ")
	lists, central, _ := strings.Cut(head, "\nMost referenced symbols:\n")
	w.line("## %s\n", name)
	if noFiles.MatchString(lists) {
		w.line("There is nothing in it that can be read.\n")
		return
	}
	if lead := readmeLead(readme); lead != "" {
		cited, _, _ := strings.Cut(readme, "\n")
		w.line("> %s %s\n", lead, strings.TrimSpace(cited))
	}
	for _, line := range strings.Split(strings.TrimSpace(lists), "\n") {
		switch {
		case strings.HasPrefix(line, "  "):
			w.line("- `%s", strings.Replace(strings.TrimSpace(line), " (", "` (", 1))
		default:
			w.line("%s\n", line)
		}
	}
	w.line("")
	w.others("Most referenced symbols", symbols(parseFindings(central)), 10)
}

// readmeLead gives the paragraph of a README, in numbered lines, that says what the thing
// is, or else the first one.
func readmeLead(readme string) string {
	var paragraphs []string
	open := false
	for _, line := range strings.Split(readme, "\n") {
		m := sourceLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		text := strings.TrimSpace(m[2])
		prose := text != "" && !strings.ContainsAny(text[:1], "#![<=-|`*")
		switch {
		case prose && open:
			paragraphs[len(paragraphs)-1] += " " + text
		case prose:
			paragraphs = append(paragraphs, text)
		}
		open = prose
	}
	for _, text := range paragraphs {
		if definition.MatchString(text) {
			return cut(text, 400)
		}
	}
	return cut(strings.Join(paragraphs[:min(len(paragraphs), 1)], ""), 400)
}

var definition = regexp.MustCompile(`(?i)\b(is|are) (a|an|the)\b`)

// outlines compares two versions as a whole: what the outlines tell.
func (p *plan) outlines(q question, at focus) string {
	for _, r := range at.repos {
		if at.repo != "" && r.name != at.repo {
			continue
		}
		newer, older := pairOf(r, namedVersions(q, r))
		if older == "" {
			continue
		}
		a := p.ask("repository_outline", input{"repo": r.name, "version": older}).text
		b := p.ask("repository_outline", input{"repo": r.name, "version": newer}).text
		if p.waiting() {
			return ""
		}
		return p.outlineChanges(r.name, older, newer, a, b)
	}
	return notice + "\n\nNothing to compare: no repository here has two versions."
}

func (p *plan) outlineChanges(name, older, newer, a, b string) string {
	before, after := centralOf(a), centralOf(b)
	var texts []string
	shown := after[:min(len(after), 6)]
	for _, s := range shown {
		texts = append(texts, p.ask("compare_symbol_across_versions", input{"repo": name, "version_a": older, "version_b": newer, "file": s.file, "name": s.name}).text)
	}
	if p.waiting() {
		return ""
	}
	firstA, _, _ := strings.Cut(a, "\n")
	firstB, _, _ := strings.Cut(b, "\n")
	w := newWriter(fmt.Sprintf("From %s to %s of %s: %s before, %s after.", older, newer, name, firstA, firstB))
	w.others("Newly among the most referenced symbols", missing(after, before), 6)
	w.others("No longer among the most referenced symbols", missing(before, after), 6)
	for i, s := range shown {
		if texts[i] != "" {
			w.comparison(s, texts[i])
		}
	}
	w.line("Name a symbol or a topic to see its changes in full.")
	return w.String()
}

func centralOf(outline string) []finding {
	_, central, _ := strings.Cut(outline, "\nMost referenced symbols:\n")
	return symbols(parseFindings(central))
}

// missing gives those of list whose file and name are not in other.
func missing(list, other []finding) []finding {
	return slices.DeleteFunc(slices.Clone(list), func(f finding) bool {
		return slices.ContainsFunc(other, func(o finding) bool { return o.file == f.file && o.name == f.name })
	})
}

// file answers what a file holds or imports.
func (p *plan) file(q question, at focus) string {
	name := q.paths[0]
	places := p.places(name, at)
	if p.waiting() {
		return ""
	}
	if len(places) == 0 {
		return p.nothing(q, at)
	}
	it := places[0]
	in := input{"repo": it.repo, "version": it.version, "file": it.file}
	imports, defined := p.find("get_imports", in), p.find("get_file_symbols", in)
	var head []finding
	if q.kind == kindFile {
		head = p.find("read_file", input{"repo": it.repo, "version": it.version, "file": it.file, "end_line": 25})
	}
	if p.waiting() {
		return ""
	}
	w := newWriter(fmt.Sprintf("`%s` %s", it.file, place{it.repo, it.version, it.file, 1}.cite()))
	if q.kind == kindImports && len(imports) == 0 {
		w.line("It imports nothing.\n")
	}
	for _, h := range head {
		w.extract(h, q, 25)
	}
	w.lines("It imports", imports, 40)
	w.others("It defines", defined, 30)
	return w.String()
}

// places gives the files that a path of the question means: the path itself, or files that
// end so, found by searching for anything in them.
func (p *plan) places(name string, at focus) []place {
	name = strings.TrimPrefix(name, "./")
	pattern := input{"query": `\S`, "regexp": true, "limit": 20}
	var found []place
	for _, glob := range []string{name, "**/" + name} {
		in := at.with(pattern)
		in["path_glob"] = glob
		for _, f := range p.find("search_text", in) {
			spot := f.place
			spot.line = 0
			if !slices.Contains(found, spot) {
				found = append(found, spot)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b place) int { return cmp.Compare(len(a.file), len(b.file)) })
	return found
}

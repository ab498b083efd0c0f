package offline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// plan is one replay of a question's plan. Its steps ask for what they need; what the
// conversation does not hold yet is wanted, and a step that follows from it waits for the
// next replay.
type plan struct {
	offered map[string]bool
	talk    talk
	wanted  []want
}

// want is a tool call that the plan needs next; input is canonical JSON.
type want struct{ tool, input string }

// input is the input of a tool. Empty values are left out.
type input map[string]any

func newPlan(tools []domain.ToolSpec, t talk) *plan {
	p := &plan{offered: map[string]bool{}, talk: t}
	for _, tool := range tools {
		p.offered[tool.Name] = true
	}
	return p
}

// ask gives the result of a call. While it is not known the result is empty and the plan
// is waiting. A tool that is not offered, one that failed, and one asked for after the
// last round have nothing to say.
func (p *plan) ask(tool string, in input) result {
	if !p.offered[tool] {
		return result{}
	}
	for name, value := range in {
		if value == "" || value == 0 || value == false {
			delete(in, name)
		}
	}
	data, err := json.Marshal(in)
	if err != nil { // strings, numbers and booleans always marshal
		return result{}
	}
	if known, ok := p.talk.results[callKey(tool, data)]; ok {
		if known.failed {
			return result{failed: true}
		}
		return known
	}
	w := want{tool, string(data)}
	if p.talk.rounds < maxRounds && !slices.Contains(p.wanted, w) {
		p.wanted = append(p.wanted, w)
	}
	return result{}
}

// find is ask for a tool whose result is a list.
func (p *plan) find(tool string, in input) []finding {
	return parseFindings(p.ask(tool, in).text)
}

// waiting reports whether the steps so far need results that are not there yet.
func (p *plan) waiting() bool { return len(p.wanted) > 0 }

// purpose says in a line what the wanted calls are for.
func (p *plan) purpose() string {
	what := map[string]string{
		"list_repositories": "which repositories there are", "search_symbols": "names", "search_text": "words in code and documents",
		"get_symbol_source": "sources", "read_file": "files", "get_file_symbols": "what files define", "find_callers": "callers",
		"find_callees": "callees", "find_references": "references", "find_path": "chains of calls", "get_imports": "imports",
		"compare_symbol_across_versions": "differences between versions", "repository_outline": "the outline", "ask_user": "what is meant",
	}
	var parts []string
	for _, w := range p.wanted {
		parts = append(parts, what[w.tool])
	}
	return fmt.Sprintf("Looking up %s.", strings.Join(unique(parts), ", "))
}

// focus is where a question looks: one repository and version, or all ("").
type focus struct {
	repo, version string
	repos         []repo
}

// with gives the input of a tool in the focus.
func (f focus) with(fields input) input {
	in := input{"repo": f.repo, "version": f.version}
	for k, v := range fields {
		in[k] = v
	}
	return in
}

// focusOf settles where to look from the repositories and versions that the question names.
func focusOf(q question, repos []repo) focus {
	f := focus{repos: repos}
	if len(repos) == 1 {
		f.repo = repos[0].name
	}
	for _, r := range repos {
		if slices.Contains(q.raw, strings.ToLower(r.name)) || slices.Contains(q.raw, strings.ToLower(base(r.name))) {
			f.repo = r.name
		}
	}
	for _, r := range repos {
		if f.repo != "" && r.name != f.repo {
			continue
		}
		if named := namedVersions(q, r); len(named) == 1 && q.kind != kindChanged {
			f.repo, f.version = r.name, named[0]
			break
		}
	}
	return f
}

// within leaves the names of the repository and the version out of what is searched for:
// in their own repository they stand everywhere.
func (q question) within(at focus) question {
	if len(at.repos) == 0 {
		return q
	}
	own := func(w string) bool {
		return at.repo != "" && (strings.EqualFold(w, at.repo) || strings.EqualFold(w, base(at.repo))) || w == at.version
	}
	rest := q
	rest.words = slices.DeleteFunc(slices.Clone(q.words), own)
	rest.names = slices.DeleteFunc(slices.Clone(q.names), own)
	if len(rest.words)+len(rest.names)+len(rest.paths) == 0 {
		return q
	}
	return rest
}

// repoOf gives the repository of the name, as list_repositories told it.
func (f focus) repoOf(name string) repo {
	for _, r := range f.repos {
		if r.name == name {
			return r
		}
	}
	return repo{name: name}
}

// namedVersions gives the versions of r that the question names, the newest first.
func namedVersions(q question, r repo) []string {
	var named []string
	for _, v := range r.versions {
		if slices.Contains(q.raw, strings.ToLower(v)) || slices.Contains(q.tags, v) || slices.Contains(q.tags, strings.TrimPrefix(v, "v")) {
			named = append(named, v)
		}
	}
	return named
}

// pairOf gives the newer and the older version to compare: both as named, or the newest
// against the one named, or the newest two. Both are "" where there is nothing
// to compare.
func pairOf(r repo, named []string) (newer, older string) {
	switch {
	case len(named) >= 2:
		return named[0], named[len(named)-1]
	case len(named) == 1 && named[0] != r.versions[0]:
		return r.versions[0], named[0]
	case len(r.versions) >= 2:
		return r.versions[0], r.versions[1]
	}
	return "", ""
}

func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

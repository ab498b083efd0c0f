package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

type compareSymbol struct{ Code }

func (t compareSymbol) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "compare_symbol_across_versions",
			Description: "Compare a symbol between two versions: both sources and a unified diff. Says where it was added, removed or moved.",
			InputSchema: schema(repoField,
				field{name: "version_a", kind: "string", about: "The older version.", required: true},
				field{name: "version_b", kind: "string", about: "The newer version.", required: true},
				optional(fileField),
				field{name: "name", kind: "string", about: "The symbol: \"Serve\", or with its type \"Server.Serve\".", required: true}),
		},
		Local: true, Phase: PhaseRead, MaxResult: longResult, Activity: "Comparing {name} between {version_a} and {version_b}",
	})
}

// side is a symbol in one of the two versions; its text is "" where it does not exist.
type side struct {
	version domain.VersionDetail
	hits    []graph.Hit // what the name may mean
	hit     graph.Hit   // the one that is compared
	text    string
}

func (s side) exists() bool { return s.hit.Path != "" }

func (t compareSymbol) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[struct {
		Repo, File string
		VersionA   string `json:"version_a" need:""`
		VersionB   string `json:"version_b" need:""`
		Name       string `json:"name" need:""`
	}](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	var sides [2]side
	for i, version := range []string{in.VersionA, in.VersionB} {
		if sides[i], err = t.find(ctx, scope, place{in.Repo, version}, filePath(in.File), in.Name); err != nil {
			return domain.ToolResult{}, err
		}
	}
	a, b := &sides[0], &sides[1]
	if len(a.hits)+len(b.hits) == 0 {
		return domain.ToolResult{}, domain.NotFound("neither version has a symbol %q; search_symbols finds similar names", in.Name)
	}
	match(a, b)
	for _, s := range []*side{a, b} {
		if err := t.read(ctx, s); err != nil {
			return domain.ToolResult{}, err
		}
	}
	var r report
	verdict := compareSides(&r, *a, *b)
	if others := max(len(a.hits), len(b.hits)) - 1; others > 0 {
		r.line("\n%s named so; name the file or the type to compare another.", count(others, "other symbol is", "other symbols are"))
	}
	return r.result("%s: %s", in.Name, verdict), nil
}

// find gives what a name means in a version: in the file named, else wherever it has moved.
func (t compareSymbol) find(ctx context.Context, scope domain.Scope, at place, file, name string) (side, error) {
	v, err := t.target(ctx, scope, at.Repo, at.Version)
	if err != nil {
		return side{}, err
	}
	s := side{version: v}
	for _, f := range []string{file, ""} {
		s.hits, err = t.Graph.FindSymbols(ctx, graph.SymbolRef{Repo: v.Repo, Version: v.Tag, File: f, Name: name})
		if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
			return side{}, fmt.Errorf("find %s in %s: %w", name, v.Tag, err)
		}
		if len(s.hits) > 0 {
			s.hit = s.hits[0]
			break
		}
	}
	return s, nil
}

// match chooses of two symbols of one name the same one on both sides: of one file and type,
// else of one type, else the likeliest of each.
func match(a, b *side) {
	for _, same := range []func(x, y graph.Hit) bool{
		func(x, y graph.Hit) bool { return x.Path == y.Path && x.Local == y.Local },
		func(x, y graph.Hit) bool { return x.Local == y.Local },
	} {
		for _, x := range a.hits {
			for _, y := range b.hits {
				if same(x, y) {
					a.hit, b.hit = x, y
					return
				}
			}
		}
	}
}

// read loads the chosen symbol's text.
func (t compareSymbol) read(ctx context.Context, s *side) (err error) {
	if !s.exists() {
		return nil
	}
	at := graph.FileRef{Repo: s.version.Repo, Version: s.version.Tag, Path: s.hit.Path}
	if s.text, _, err = t.Sources.ReadFile(ctx, at, s.hit.StartLine, s.hit.EndLine); err != nil {
		return fmt.Errorf("read %s: %w", at.Path, err)
	}
	return nil
}

// compareSides writes the comparison and gives it in a word.
func compareSides(r *report, a, b side) string {
	switch {
	case !a.exists():
		r.line("Not in %s; added in %s:", a.version.Tag, b.version.Tag)
		r.hit(b.hit)
		r.numbered(b.text, b.hit.StartLine)
		return "added"
	case !b.exists():
		r.line("In %s; removed in %s:", a.version.Tag, b.version.Tag)
		r.hit(a.hit)
		r.numbered(a.text, a.hit.StartLine)
		return "removed"
	}
	if a.hit.Path != b.hit.Path {
		r.line("Moved from %s to %s.", a.hit.Path, b.hit.Path)
	}
	if a.text == b.text {
		r.line("The source is the same in both versions:")
		r.hit(a.hit)
		r.hit(b.hit)
		r.numbered(b.text, b.hit.StartLine)
		return "unchanged"
	}
	r.line("Diff:\n%s", unifiedDiff(a, b))
	for _, s := range []side{a, b} {
		r.line("\nIn %s:", s.version.Tag)
		r.hit(s.hit)
		r.numbered(s.text, s.hit.StartLine)
	}
	return "changed"
}

// unifiedDiff gives the difference of two sides with the lines that they have in their files.
func unifiedDiff(a, b side) string {
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: wholeLines(a.text), B: wholeLines(b.text),
		FromFile: a.hit.Path, FromDate: a.version.Tag, ToFile: b.hit.Path, ToDate: b.version.Tag, Context: 3,
	})
	if err != nil { // writing to memory can't fail
		return err.Error()
	}
	diff = hunkHeader.ReplaceAllStringFunc(diff, func(header string) string {
		m := hunkHeader.FindStringSubmatch(header)
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[3])
		return fmt.Sprintf("@@ -%d%s +%d%s @@", from+a.hit.StartLine-1, m[2], to+b.hit.StartLine-1, m[4])
	})
	return strings.TrimSuffix(diff, "\n")
}

var hunkHeader = regexp.MustCompile(`(?m)^@@ -(\d+)(,\d+)? \+(\d+)(,\d+)? @@`)

// wholeLines splits a text into lines that each end with a newline.
func wholeLines(text string) []string {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n")+"\n", "\n")
	return lines[:len(lines)-1]
}

package tools

import (
	"context"
	"encoding/json"
	"fmt"
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
	hit     graph.Hit
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
	a, err := t.side(ctx, scope, in.Repo, in.VersionA, in.File, in.Name)
	if err != nil {
		return domain.ToolResult{}, err
	}
	b, err := t.side(ctx, scope, in.Repo, in.VersionB, in.File, in.Name)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if !a.exists() && !b.exists() {
		return domain.ToolResult{}, domain.NotFound("neither version has a symbol %q; search_symbols finds similar names", in.Name)
	}
	var r report
	verdict := compareSides(&r, a, b)
	return r.result("%s: %s", in.Name, verdict), nil
}

// side finds the symbol in a version: in the file named, else wherever it has moved.
func (t compareSymbol) side(ctx context.Context, scope domain.Scope, repo, version, file, name string) (side, error) {
	v, err := t.target(ctx, scope, repo, version)
	if err != nil {
		return side{}, err
	}
	s := side{version: v}
	for _, f := range []string{file, ""} {
		hits, err := t.Graph.FindSymbols(ctx, graph.SymbolRef{Repo: v.Repo, Version: v.Tag, File: f, Name: name})
		if err != nil && domain.CodeOf(err) != domain.CodeNotFound {
			return side{}, fmt.Errorf("find %s in %s: %w", name, version, err)
		}
		if len(hits) == 0 {
			continue
		}
		s.hit = hits[0]
		at := graph.FileRef{Repo: v.Repo, Version: v.Tag, Path: s.hit.Path}
		if s.text, _, err = t.Sources.ReadFile(ctx, at, s.hit.StartLine, s.hit.EndLine); err != nil {
			return side{}, fmt.Errorf("read %s: %w", at.Path, err)
		}
		break
	}
	return s, nil
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
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(a.text), B: difflib.SplitLines(b.text),
		FromFile: a.hit.Path, FromDate: a.version.Tag, ToFile: b.hit.Path, ToDate: b.version.Tag, Context: 3,
	})
	if err != nil { // writing to memory can't fail
		diff = err.Error()
	}
	r.line("Diff:\n%s", strings.TrimRight(diff, "\n"))
	for _, s := range []side{a, b} {
		r.line("\nIn %s:", s.version.Tag)
		r.hit(s.hit)
		r.numbered(s.text, s.hit.StartLine)
	}
	return "changed"
}

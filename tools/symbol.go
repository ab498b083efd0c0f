package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	defaultHits  = 20
	maxHits      = 100
	maxSources   = 3   // definitions shown in full where a name is ambiguous
	maxBodyLines = 400 // lines of one definition
)

type searchSymbols struct{ Code }

func (t searchSymbols) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: "search_symbols",
			Description: "Find functions, methods, classes, types and constants by name or a fragment of it: exact names first, then prefixes, parts of camelCase and snake_case names, and similar spellings. " +
				"Searches names only; use search_text for words in code, comments or documents.",
			InputSchema: schema(
				field{name: "query", kind: "string", about: "A name or a fragment of one, such as \"authenticate\" or \"Server.Serve\".", required: true},
				repoField, versionField,
				field{name: "kind", kind: "string", about: "Limit to functions (and methods), to classes (structs, enums, traits, interfaces), or to one kind. Default: any.",
					enum: []string{"any", "function", "class", "method", "struct", "enum", "trait", "interface", "module", "constant", "type"}},
				field{name: "limit", kind: "integer", about: "Most results, 1 to 100. Default 20."},
			),
		},
		Local: true, Phase: PhaseSearch, Activity: `Searching for symbols matching "{query}"[ in {repo}][ at {version}]`,
	})
}

func (t searchSymbols) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[struct {
		Query               string `json:"query" need:""`
		Repo, Version, Kind string
		Limit               int
	}](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	versions, err := t.narrow(ctx, scope, in.Repo, in.Version)
	if err != nil {
		return domain.ToolResult{}, err
	}
	versions, elsewhere, err := t.graphed(ctx, scope, versions)
	if err != nil {
		return domain.ToolResult{}, err
	}
	var hits []graph.Hit
	truncated := false
	if len(versions) > 0 { // none would mean all
		hits, truncated, err = t.Graph.SearchSymbols(ctx, graph.SymbolQuery{
			Text: in.Query, Versions: versions, Kind: in.Kind, Limit: limitOf(in.Limit, defaultHits, maxHits),
		})
	}
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("search symbols: %w", err)
	}
	var r report
	for _, h := range hits {
		r.hit(h)
	}
	if truncated {
		r.more("give a longer name, a kind, or a higher limit")
	}
	if len(elsewhere) > 0 {
		r.line("Not searched, since another graph was in use when they were read: %s. They must be ingested again; search_text reads them.", some(elsewhere))
	}
	if len(hits) == 0 && len(versions) > 0 {
		r.line("No %s in %s matches %q. search_text finds words in code and documents.", kindName(in.Kind), places(versions), in.Query)
	}
	return r.result("%s", count(len(hits), "symbol", "symbols")), nil
}

// kindName is what a search was for.
func kindName(kind string) string {
	if kind == "" || kind == "any" {
		return "symbol"
	}
	return kind
}

// places names the versions that were looked at, or how many.
func places(versions []graph.VersionRef) string {
	if len(versions) > 3 {
		return count(len(versions), "version", "versions")
	}
	names := make([]string, len(versions))
	for i, v := range versions {
		names[i] = v.Repo + " " + v.Version
	}
	return strings.Join(names, ", ")
}

func limitOf(asked, standard, most int) int {
	if asked <= 0 {
		return standard
	}
	return min(asked, most)
}

type getFileSymbols struct{ Code }

func (t getFileSymbols) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "get_file_symbols",
			Description: "List the symbols that a file defines, in order, with lines and signatures but without source.",
			InputSchema: schema(repoField, versionField, fileField),
		},
		Local: true, Phase: PhaseRead, Activity: "Listing the symbols of {file}",
	})
}

func (t getFileSymbols) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, v, err := locate[struct {
		place
		File string `json:"file" need:""`
	}](ctx, t.Code, scope, input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	hits, err := t.Graph.FileSymbols(ctx, graph.FileRef{Repo: v.Repo, Version: v.Tag, Path: filePath(in.File)})
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("symbols of %s: %w", in.File, err)
	}
	var r report
	for _, h := range hits {
		r.hit(h)
	}
	if len(hits) == 0 {
		r.line("%s defines no symbols; read_file shows its text.", in.File)
	}
	return r.result("%s", count(len(hits), "symbol", "symbols")), nil
}

type getSymbolSource struct{ Code }

func (t getSymbolSource) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "get_symbol_source",
			Description: "Read the source of a function, method, class or constant, with line numbers. Of an ambiguous name the likeliest definitions are shown and the others listed.",
			InputSchema: schema(repoField, versionField, optional(fileField),
				field{name: "name", kind: "string", about: "The symbol: \"Serve\", or with its type \"Server.Serve\".", required: true},
				field{name: "line", kind: "integer", about: "Any line inside the wanted definition, where the name alone is ambiguous."}),
		},
		Local: true, Phase: PhaseRead, MaxResult: longResult, Activity: "Reading {name}[ in {file}]",
	})
}

func (t getSymbolSource) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, v, err := locate[struct {
		place
		File string
		Name string `json:"name" need:""`
		Line int
	}](ctx, t.Code, scope, input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	hits, err := t.Graph.FindSymbols(ctx, graph.SymbolRef{Repo: v.Repo, Version: v.Tag, File: filePath(in.File), Name: in.Name, Line: in.Line})
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("find %s: %w", in.Name, err)
	}
	if len(hits) == 0 {
		return domain.ToolResult{}, unknownSymbol(v, in.File, in.Name)
	}
	var r report
	for i, h := range hits {
		if i == maxSources {
			r.line("Also named so:")
		}
		if i >= maxSources+defaultHits {
			r.more("name the file or the type")
			break
		}
		r.hit(h)
		if i < maxSources {
			if err := t.body(ctx, &r, h); err != nil {
				return domain.ToolResult{}, err
			}
		}
	}
	return r.result("%s (%s:%d)", hits[0].QualifiedName(), hits[0].Path, hits[0].StartLine), nil
}

func (c Code) body(ctx context.Context, r *report, h graph.Hit) error {
	end := min(h.EndLine, h.StartLine+maxBodyLines-1)
	text, _, err := c.Sources.ReadFile(ctx, graph.FileRef{Repo: h.Repo, Version: h.Version, Path: h.Path}, h.StartLine, end)
	if err != nil {
		return fmt.Errorf("read %s: %w", h.Path, err)
	}
	r.numbered(text, h.StartLine)
	if end < h.EndLine {
		r.more(fmt.Sprintf("read_file gives lines %d to %d", end+1, h.EndLine))
	}
	return nil
}

func unknownSymbol(v domain.VersionDetail, file, name string) error {
	where := v.Repo + " " + v.Tag
	if file != "" {
		where = file + " of " + where
	}
	return domain.NotFound("%s has no symbol %q; search_symbols finds similar names", where, name)
}

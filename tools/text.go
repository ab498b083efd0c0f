package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const (
	defaultMatches = 30
	maxMatches     = 200
	maxContext     = 5
	defaultLines   = 200
	maxLines       = 800
)

type searchText struct{ Code }

func (t searchText) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: "search_text",
			Description: "Search the text of sources and documents, line by line: by words, all of which must stand close together, or by a regular expression (RE2). " +
				"Finds configuration keys, error messages, comments, documentation and languages without symbols.",
			InputSchema: schema(
				field{name: "query", kind: "string", about: "Words, or a regular expression with regexp set.", required: true},
				field{name: "regexp", kind: "boolean", about: "Read query as an RE2 regular expression. Default false."},
				field{name: "path_glob", kind: "string", about: "Limit to paths, such as \"**/*.go\" or \"docs/**\"."},
				repoField, versionField,
				field{name: "context", kind: "integer", about: "Lines shown around each match, 0 to 5. Default 0."},
				field{name: "limit", kind: "integer", about: "Most matches, 1 to 200. Default 30."}),
		},
		Phase: PhaseSearch, Activity: `Searching text for "{query}"[ in {path_glob}][ of {repo}]`,
	})
}

func (t searchText) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[struct {
		Query          string `json:"query" need:""`
		Regexp         bool
		PathGlob       string `json:"path_glob"`
		Repo, Version  string
		Context, Limit int
	}](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	versions, err := t.narrow(ctx, scope, in.Repo, in.Version)
	if err != nil {
		return domain.ToolResult{}, err
	}
	page, err := t.Sources.SearchText(ctx, graph.TextQuery{
		Versions: versions, Pattern: in.Query, Regexp: in.Regexp, PathGlob: in.PathGlob,
		Limit: limitOf(in.Limit, defaultMatches, maxMatches), Context: min(max(in.Context, 0), maxContext),
	})
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("search text: %w", inputError(err, map[string]string{"pattern": "query", "path": "path_glob"}))
	}
	var r report
	for _, m := range page.Matches {
		for i, l := range m.Before {
			r.line("    %d  %s", m.Line-len(m.Before)+i, l)
		}
		text := strings.TrimSpace(m.Text)
		if len(m.Before)+len(m.After) > 0 { // beside its neighbours a line keeps its place
			text = strings.TrimRightFunc(m.Text, unicode.IsSpace)
		}
		r.line("%s %s", cite(m.Repo, m.Version, m.Path, m.Line), text)
		for i, l := range m.After {
			r.line("    %d  %s", m.Line+1+i, l)
		}
	}
	summarize(&r, page, in.Query)
	return r.result("%s", count(len(page.Matches), "match", "matches")), nil
}

// summarize says what a search leaves open.
func summarize(r *report, page graph.TextPage, query string) {
	switch {
	case page.TimedOut:
		r.truncated = true
		r.line("… the time for one search was up before every file was read: name a repo, give a path_glob, or a simpler expression")
	case page.Truncated:
		r.more("give more words, a path_glob, or a higher limit")
	case page.Files == 0:
		r.line("No file with a text is covered: look at the path_glob, and at the versions that list_repositories gives.")
	case len(page.Matches) == 0:
		r.line("No line matches %q in %s.", query, count(page.Files, "file", "files"))
	}
}

// inputError names a field of an error as the tool's input does.
func inputError(err error, names map[string]string) error {
	var known *domain.Error
	if !errors.As(err, &known) || names[known.Field] == "" {
		return err
	}
	renamed := *known
	renamed.Field = names[known.Field]
	return &renamed
}

type readFile struct{ Code }

func (t readFile) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "read_file",
			Description: "Read a range of lines of a file, with line numbers.",
			InputSchema: schema(repoField, versionField, fileField,
				field{name: "start_line", kind: "integer", about: "First line, from 1. Default 1."},
				field{name: "end_line", kind: "integer", about: "Last line, inclusive. Default: 200 lines from the first; at most 800 a call."}),
		},
		Local: true, Phase: PhaseRead, MaxResult: longResult, Activity: "Reading {file}[ from line {start_line}]",
	})
}

func (t readFile) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, v, err := locate[struct {
		place
		File      string `json:"file" need:""`
		StartLine int    `json:"start_line"`
		EndLine   int    `json:"end_line"`
	}](ctx, t.Code, scope, input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	from := max(in.StartLine, 1)
	to := in.EndLine
	if to == 0 {
		to = from + defaultLines - 1
	}
	if to < from {
		return domain.ToolResult{}, domain.Invalid("end_line", "is before start_line")
	}
	to = min(to, from+maxLines-1)
	text, lines, err := t.Sources.ReadFile(ctx, graph.FileRef{Repo: v.Repo, Version: v.Tag, Path: filePath(in.File)}, from, to)
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("read %s: %w", in.File, err)
	}
	if lines == 0 {
		return domain.ToolResult{Text: in.File + " is empty.", Preview: in.File + " is empty"}, nil
	}
	if from > lines {
		return domain.ToolResult{}, domain.Invalid("start_line", "is %d, but %s has %s", from, in.File, count(lines, "line", "lines"))
	}
	to = min(to, lines)
	var r report
	r.line("%s lines %d to %d of %d", cite(v.Repo, v.Tag, filePath(in.File), from), from, to, lines)
	r.numbered(text, from)
	if to < lines && to != in.EndLine {
		r.more(fmt.Sprintf("go on from start_line %d", to+1))
	}
	return r.result("%s, lines %d-%d", in.File, from, to), nil
}

package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

const shortCommit = 12 // characters of a commit's hash

type listRepositories struct{ Code }

func (t listRepositories) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "list_repositories",
			Description: "List the repositories in scope with their versions, newest first, the commit each was read at, and whether it is stale. Start here when you don't know what there is.",
			InputSchema: schema(),
		},
		Local: true, Phase: PhaseSearch, Activity: "Listing repositories",
	})
}

func (t listRepositories) Run(ctx context.Context, scope domain.Scope, _ json.RawMessage) (domain.ToolResult, error) {
	repos, err := t.visible(ctx, scope)
	if err != nil {
		return domain.ToolResult{}, err
	}
	var r report
	versions := 0
	for _, repo := range repos {
		r.line("%s%s", repo.Name, prefixed(" — ", repo.URL))
		for _, v := range byAge(repo.Versions) {
			versions++
			r.line("  %s%s, %s%s", v.Tag, prefixed(" at ", v.Commit[:min(len(v.Commit), shortCommit)]), size(v), staleMark(v))
		}
	}
	if len(repos) == 0 {
		r.line("No repository is in scope; one must be ingested first.")
	}
	return r.result("%s, %s", count(len(repos), "repository", "repositories"), count(versions, "version", "versions")), nil
}

func byAge(versions []domain.VersionDetail) []domain.VersionDetail {
	rest := append([]domain.VersionDetail(nil), versions...)
	sorted := make([]domain.VersionDetail, 0, len(rest))
	for len(rest) > 0 {
		top := newest(rest)
		sorted = append(sorted, top)
		for i, v := range rest {
			if v.Tag == top.Tag {
				rest = append(rest[:i], rest[i+1:]...)
				break
			}
		}
	}
	return sorted
}

func size(v domain.VersionDetail) string {
	return count(v.Files, "file", "files") + ", " + count(v.Symbols, "symbol", "symbols")
}

func staleMark(v domain.VersionDetail) string {
	if v.Stale {
		return ", stale: the ref has moved since it was read"
	}
	return ""
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

type repositoryOutline struct{ Code }

func (t repositoryOutline) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "repository_outline",
			Description: "Sum up a repository: languages, folders with their sizes and most used names, the most referenced symbols, and the first lines of its README. Good for a first look and for questions about structure.",
			InputSchema: schema(repoField, versionField),
		},
		Phase: PhaseSearch, MaxResult: longResult, Activity: "Outlining[ {repo}][ at {version}]",
	})
}

func (t repositoryOutline) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	_, v, err := locate[place](ctx, t.Code, scope, input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	o, err := t.Graph.Outline(ctx, v.Repo, v.Tag)
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("outline %s %s: %w", v.Repo, v.Tag, err)
	}
	var r report
	r.line("%s %s: %s", v.Repo, v.Tag, size(v))
	var languages []string
	for _, l := range o.Languages {
		languages = append(languages, fmt.Sprintf("%s %d", l.Name, l.N))
	}
	r.line("Languages (files): %s", strings.Join(languages, ", "))
	r.line("\nFolders (files, symbols; most used names):")
	for _, f := range o.Folders {
		r.line("  %s/ (%d, %d)%s", strings.TrimSuffix(f.Path, "/"), f.Files, f.Symbols, prefixed(" ", strings.Join(f.Key, ", ")))
	}
	if o.Truncated {
		r.more("look into a folder with search_symbols or search_text and path_glob")
	}
	r.line("\nMost referenced symbols:")
	for _, h := range o.Central {
		r.hit(h)
	}
	t.readme(ctx, &r, v)
	return r.result("%s %s: %s", v.Repo, v.Tag, size(v)), nil
}

const readmeLines = 30

// readme adds the start of the README, where there is one; without it the outline stands.
func (t repositoryOutline) readme(ctx context.Context, r *report, v domain.VersionDetail) {
	files, err := t.Sources.Files(ctx, v.Repo, v.Tag, "{README*,Readme*,readme*}", 1)
	if err != nil || len(files) == 0 {
		return
	}
	at := graph.FileRef{Repo: v.Repo, Version: v.Tag, Path: files[0].Path}
	text, _, err := t.Sources.ReadFile(ctx, at, 1, readmeLines)
	if err != nil || text == "" {
		return
	}
	r.line("\nREADME %s", cite(v.Repo, v.Tag, at.Path, 1))
	r.numbered(text, 1)
}

type getImports struct{ Code }

func (t getImports) Spec() Spec {
	return t.spec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "get_imports",
			Description: "List the import declarations of a file.",
			InputSchema: schema(repoField, versionField, fileField),
		},
		Local: true, Phase: PhaseTrace, Activity: "Reading the imports of {file}",
	})
}

func (t getImports) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, v, err := locate[struct {
		place
		File string `json:"file" need:""`
	}](ctx, t.Code, scope, input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	imports, err := t.Graph.Imports(ctx, graph.FileRef{Repo: v.Repo, Version: v.Tag, Path: filePath(in.File)})
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("imports of %s: %w", in.File, err)
	}
	var r report
	for _, i := range imports {
		r.line("%s %s%s%s", cite(v.Repo, v.Tag, filePath(in.File), i.Line), i.Target, prefixed(" · ", i.Name), prefixed(" as ", i.Alias))
	}
	if len(imports) == 0 {
		r.line("%s imports nothing.", in.File)
	}
	return r.result("%s", count(len(imports), "import", "imports")), nil
}

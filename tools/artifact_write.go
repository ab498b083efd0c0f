package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

type generateArtifact struct{ artifactShelf }

func (generateArtifact) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "generate_artifact",
			Description: "Keep a document or a bundle of files in the project, where its people find, change and download it. Use update_artifact for one that is there already.",
			InputSchema: schema(
				field{name: "title", kind: "string", about: "One line that names it.", required: true},
				field{name: "kind", kind: "string", about: "markdown and context are text as it is, pdf is Markdown that is rendered, terraform and terragrunt are bundles of files.",
					required: true, enum: []string{"markdown", "pdf", "terraform", "terragrunt", "context"}},
				field{name: "content", kind: "string", about: "The text; for all kinds but bundles."},
				field{name: "files", kind: "object", about: "For bundles: text by relative path, such as {\"main.tf\": \"…\"}; at most 200 files and 2 MiB."}),
		},
		Phase: PhaseWrite, Activity: "Writing {title}[ as {kind}]",
	})
}

func (t generateArtifact) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[struct {
		Title   string              `json:"title" need:""`
		Kind    domain.ArtifactKind `json:"kind" need:""`
		Content string              `json:"content"`
		Files   domain.Bundle       `json:"files"`
	}](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if scope.ProjectID == "" {
		return domain.ToolResult{}, errNoProject
	}
	a := domain.Artifact{ProjectID: scope.ProjectID, Title: withoutValues(ctx, in.Title), Kind: in.Kind, Content: in.Content}
	field := "content"
	if in.Kind.Bundle() && len(in.Files) > 0 {
		a.Content, field = in.Files.JSON(), "files"
	}
	made, err := t.artifacts.Create(ctx, a, authorOf(scope))
	if err != nil {
		return domain.ToolResult{}, sayWhere(err, "content", field)
	}
	return kept(made), nil
}

// kept tells what was written; the content stays out of it.
func kept(a domain.Artifact) domain.ToolResult {
	return domain.ToolResult{
		Text:    fmt.Sprintf("Kept %q (%s, %s) as artifact %s, version %d.", a.Title, a.Kind, measure(a), a.ID, a.Version),
		Preview: fmt.Sprintf("%s, version %d (%s)", a.Title, a.Version, measure(a)),
	}
}

// measure says how large an artifact is.
func measure(a domain.Artifact) string {
	if !a.Kind.Bundle() {
		return fmt.Sprintf("%d bytes", len(a.Content))
	}
	b, err := domain.ParseBundle(a.Content)
	if err != nil {
		return "an unreadable bundle"
	}
	size := 0
	for _, text := range b {
		size += len(text)
	}
	return fmt.Sprintf("%d files, %d bytes", len(b), size)
}

type updateArtifact struct{ artifactShelf }

func (updateArtifact) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "update_artifact",
			Description: "Write a new version of an artifact; earlier ones are kept. Of a bundle give only the files that change, null for one to be removed.",
			InputSchema: schema(
				field{name: "id", kind: "string", about: "The artifact's id.", required: true},
				field{name: "version", kind: "integer", about: "The version that you have read and change; refused where there is a newer one.", required: true},
				field{name: "title", kind: "string", about: "A new title; left out: as it is."},
				field{name: "content", kind: "string", about: "The whole new text; for all kinds but bundles."},
				field{name: "files", kind: "object", about: "For bundles: new text by path, null removes the file; files that are not named stay."}),
		},
		Phase: PhaseWrite, Activity: "Changing artifact {id}[: {title}]",
	})
}

type artifactUpdate struct {
	ID      string             `json:"id" need:""`
	Version int                `json:"version" need:""`
	Title   *string            `json:"title"`
	Content *string            `json:"content"`
	Files   map[string]*string `json:"files"`
}

func (t updateArtifact) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[artifactUpdate](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if in.Title != nil {
		*in.Title = withoutValues(ctx, *in.Title)
	}
	a, err := t.open(ctx, scope, in.ID)
	if err != nil {
		return domain.ToolResult{}, err
	}
	change := domain.ArtifactChange{Title: in.Title, Content: in.Content, Version: in.Version, Author: authorOf(scope)}
	field := "content"
	if len(in.Files) > 0 {
		if field = "files"; !a.Kind.Bundle() {
			return domain.ToolResult{}, domain.Invalid("files", "are for bundles; this artifact is %s: give its content", a.Kind)
		}
		text, err := t.merge(ctx, a, in)
		if err != nil {
			return domain.ToolResult{}, err
		}
		change.Content = &text
	}
	if change.Title == nil && change.Content == nil {
		return domain.ToolResult{}, domain.Invalid("content", "is missing, and so are files and title: nothing would change")
	}
	next, err := t.artifacts.Update(ctx, a.ID, change)
	if err != nil {
		return domain.ToolResult{}, sayWhere(told(err), "content", field)
	}
	return kept(next), nil
}

// told makes of a conflict what a model can act on.
func told(err error) error {
	if domain.CodeOf(err) == domain.CodeConflict {
		return domain.Errorf(domain.CodeUnprocessable, "%s", strings.ReplaceAll(domain.PublicMessage(err), "load it again", "read it with get_artifact, then make your change to that version"))
	}
	return err
}

// merge gives the bundle of the version that the model has read, with its changes.
func (t updateArtifact) merge(ctx context.Context, a domain.Artifact, in artifactUpdate) (string, error) {
	then, err := t.artifacts.Version(ctx, a.ID, in.Version)
	if err != nil {
		return "", err
	}
	files, err := domain.ParseBundle(then.Content)
	if err != nil {
		return "", err
	}
	files = maps.Clone(files)
	for path, text := range in.Files {
		if text != nil {
			files[path] = *text
			continue
		}
		if _, there := files[path]; !there {
			return "", domain.Invalid("files", "has null for %q, which the bundle does not have", path)
		}
		delete(files, path)
	}
	return files.JSON(), nil
}

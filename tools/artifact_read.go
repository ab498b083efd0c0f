package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

type getArtifact struct{ artifactShelf }

func (getArtifact) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "get_artifact",
			Description: "Read an artifact of the project: its text, or of a bundle the list of its files, or one of them.",
			InputSchema: schema(
				field{name: "id", kind: "string", about: "The artifact's id as list_artifacts gives it.", required: true},
				field{name: "version", kind: "integer", about: "Left out: the newest."},
				field{name: "file", kind: "string", about: "Of a bundle: the path of the file to read."},
				field{name: "start_line", kind: "integer", about: "The first line, from 1."},
				field{name: "end_line", kind: "integer", about: "The last line."}),
		},
		MaxResult: longResult, Phase: PhaseRead, Activity: "Reading artifact {id}[: {file}]",
	})
}

func (t getArtifact) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[struct {
		ID      string `json:"id" need:""`
		Version int    `json:"version"`
		File    string `json:"file"`
		Start   int    `json:"start_line"`
		End     int    `json:"end_line"`
	}](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	a, err := t.open(ctx, scope, in.ID)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if in.Version != 0 && in.Version != a.Version {
		then, err := t.artifacts.Version(ctx, a.ID, in.Version)
		if err != nil {
			return domain.ToolResult{}, err
		}
		a.Title, a.Content, a.Version = then.Title, then.Content, then.Version
	}
	var r report
	r.line("%q, %s, version %d, %s", a.Title, a.Kind, a.Version, measure(a))
	text := a.Content
	if a.Kind.Bundle() {
		files, err := domain.ParseBundle(a.Content)
		if err != nil {
			return domain.ToolResult{}, fmt.Errorf("read bundle %s: %w", a.ID, err)
		}
		if in.File == "" {
			for _, path := range files.Paths() {
				r.line("%s (%d bytes)", path, len(files[path]))
			}
			return r.result("%s, version %d: %d files", a.Title, a.Version, len(files)), nil
		}
		var there bool
		if text, there = files[in.File]; !there {
			return domain.ToolResult{}, domain.NotFound("the bundle has no file %q; without file you get the list", in.File)
		}
		r.line("%s:", in.File)
	}
	r.WriteByte('\n')
	r.WriteString(between(text, in.Start, in.End))
	return r.result("%s, version %d", a.Title, a.Version), nil
}

// between gives the lines of a text from one to another, both counted from 1; 0 for no bound.
func between(text string, from, to int) string {
	if from <= 1 && to <= 0 {
		return text
	}
	all := strings.SplitAfter(text, "\n")
	first := min(max(from-1, 0), len(all))
	last := len(all)
	if to > 0 {
		last = max(min(to, len(all)), first)
	}
	return strings.Join(all[first:last], "")
}

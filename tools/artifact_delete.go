package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/harvest-engine/harvest/internal/domain"
)

type deleteArtifact struct{ artifactShelf }

func (deleteArtifact) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: "delete_artifact", Description: "Delete an artifact of the project with all its versions, for good. A person must approve it.",
			InputSchema: schema(
				field{name: "id", kind: "string", about: "The artifact's id.", required: true},
				field{name: "version", kind: "integer", about: "The version that you have read; with it the deletion is refused where somebody has written a newer one meanwhile."}),
		},
		Policy: domain.PolicyAlways, Local: true, Timeout: localTimeout, Phase: PhaseWrite, Activity: "Deleting artifact {id} with all its versions",
	})
}

type artifactDeletion struct {
	ID      string `json:"id" need:""`
	Version int    `json:"version"`
}

// Explain names the artifact, and says how much would go with it.
func (t deleteArtifact) Explain(ctx context.Context, scope domain.Scope, input json.RawMessage) ([]domain.Detail, error) {
	in, err := decode[artifactDeletion](input)
	if err != nil {
		return []domain.Detail{{Name: "artifact", Value: "none: the input is not one that can be run"}}, nil
	}
	a, err := t.open(ctx, scope, in.ID)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound || domain.CodeOf(err) == domain.CodeUnprocessable:
		return []domain.Detail{{Name: "artifact", Value: "none: the project has no artifact of this id"}}, nil
	case err != nil:
		return nil, err
	}
	return []domain.Detail{
		{Name: "artifact", Value: a.Title},
		{Name: "kind", Value: string(a.Kind)},
		{Name: "versions", Value: versionsOf(a)},
	}, nil
}

// versionsOf says how many versions an artifact has.
func versionsOf(a domain.Artifact) string {
	return strconv.Itoa(a.Version) + ", the newest of " + a.UpdatedAt.UTC().Format("2006-01-02 15:04 UTC")
}

func (t deleteArtifact) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[artifactDeletion](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	a, err := t.open(ctx, scope, in.ID)
	if err != nil {
		return domain.ToolResult{}, err
	}
	version, err := t.artifacts.Delete(ctx, a.ID, in.Version)
	if err != nil {
		return domain.ToolResult{}, err
	}
	return domain.ToolResult{Text: fmt.Sprintf("Deleted the artifact %q (%s, %d versions).", a.Title, a.Kind, version), Preview: "Deleted " + a.Title}, nil
}

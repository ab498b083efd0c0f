package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Artifacts keeps documents and bundles; library.Artifacts does.
type Artifacts interface {
	List(ctx context.Context, projectID string) ([]domain.Artifact, error)
	Get(ctx context.Context, id string) (domain.Artifact, error)
	Version(ctx context.Context, id string, version int) (domain.Revision, error)
	Create(ctx context.Context, a domain.Artifact, by domain.Author) (domain.Artifact, error)
	Update(ctx context.Context, id string, change domain.ArtifactChange) (domain.Artifact, error)
	// Delete removes an artifact that is at the version, 0 for any, and gives the version that it
	// had; conflict where that is another.
	Delete(ctx context.Context, id string, version int) (int, error)
}

// ArtifactTools gives the tools that read and write artifacts.
func ArtifactTools(artifacts Artifacts) []Tool {
	shelf := artifactShelf{artifacts}
	return []Tool{listArtifacts{shelf}, getArtifact{shelf}, generateArtifact{shelf}, updateArtifact{shelf}, deleteArtifact{shelf}}
}

// artifactShelf is the artifacts of the project that a turn belongs to.
type artifactShelf struct{ artifacts Artifacts }

var errNoProject = domain.Errorf(domain.CodeUnprocessable, "this conversation belongs to no project, and so has nothing of the kind")

// open gives an artifact of the turn's project; those of others do not exist.
func (s artifactShelf) open(ctx context.Context, scope domain.Scope, id string) (domain.Artifact, error) {
	if scope.ProjectID == "" {
		return domain.Artifact{}, errNoProject
	}
	a, err := s.artifacts.Get(ctx, id)
	if domain.CodeOf(err) == domain.CodeNotFound || err == nil && a.ProjectID != scope.ProjectID {
		return domain.Artifact{}, domain.NotFound("the project has no artifact %q; list_artifacts names those there are", id)
	}
	if err != nil {
		return domain.Artifact{}, fmt.Errorf("load artifact: %w", err)
	}
	return a, nil
}

// spec fills what the tools of projects share.
func projectSpec(s Spec) Spec {
	s.Project = true
	if s.Policy == "" {
		s.Policy = domain.PolicyNever
	}
	if s.Timeout == 0 {
		s.Timeout = normalTimeout
	}
	if s.MaxResult == 0 {
		s.MaxResult = defaultResult
	}
	return s
}

// authorOf says that the turn's call writes, in the name of its person.
func authorOf(scope domain.Scope) domain.Author {
	return domain.Author{UserID: scope.UserID, TurnID: scope.TurnID, CallID: scope.CallID}
}

// sayWhere renames the field that a library error names to the one that a model filled.
func sayWhere(err error, from, to string) error {
	var wrong *domain.Error
	if errors.As(err, &wrong) && wrong.Field == from {
		again := *wrong
		again.Field = to
		return &again
	}
	return err
}

type listArtifacts struct{ artifactShelf }

func (listArtifacts) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name: "list_artifacts", Description: "List the project's artifacts: documents and Terraform bundles, with id, kind and version.", InputSchema: schema(),
		},
		Local: true, Timeout: localTimeout, Phase: PhaseRead, Activity: "Listing artifacts",
	})
}

const maxListed = 200

func (t listArtifacts) Run(ctx context.Context, scope domain.Scope, _ json.RawMessage) (domain.ToolResult, error) {
	if scope.ProjectID == "" {
		return domain.ToolResult{}, errNoProject
	}
	list, err := t.artifacts.List(ctx, scope.ProjectID)
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("list artifacts: %w", err)
	}
	var r report
	if len(list) == 0 {
		r.line("The project has no artifacts.")
	}
	for _, a := range list[:min(len(list), maxListed)] {
		r.line("%s %s, version %d of %s: %s", a.ID, a.Kind, a.Version, a.UpdatedAt.Format("2006-01-02 15:04"), a.Title)
	}
	if len(list) > maxListed {
		r.more("they are older than these")
	}
	return r.result("%d artifacts", len(list)), nil
}

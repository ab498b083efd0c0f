package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/flow"
)

// DeleteRepositoryInput names a repository and the run that deletes it.
type DeleteRepositoryInput struct {
	IngestID   string `json:"ingest_id"`
	Repository string `json:"repository"`
}

// The workflow of a deletion and its activity. It holds the repository's lock like a run
// that reads, and its ID is that of IngestWorkflowID.
var (
	DeleteRepository = flow.Workflow[DeleteRepositoryInput, IngestResult]{Name: "ingest.delete"}

	DropRepository = flow.Activity[DeleteRepositoryInput, struct{}]{Name: "ingest.drop"}
)

// RunDeleteRepository removes a repository from the graph and from the sources. Once begun
// it goes on to the end, whatever dies meanwhile.
func RunDeleteRepository(ctx workflow.Context, in DeleteRepositoryInput) (IngestResult, error) {
	begun, err := beginIngest(ctx, BeginIngestInput{
		IngestID: in.IngestID, Repository: in.Repository,
		WorkflowID: workflow.GetInfo(ctx).WorkflowExecution.ID,
	})
	if err != nil {
		return finishIngest(ctx, in.IngestID, err)
	}
	if !begun.Go {
		return IngestResult{IngestID: in.IngestID, Status: begun.Status}, nil
	}
	step := longStep(ctx, "", time.Hour, 20, "remove "+in.Repository)
	_, err = DropRepository.Execute(step, in).Result(step)
	return finishIngest(ctx, in.IngestID, err)
}

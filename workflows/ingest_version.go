package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/flow"
)

// IngestVersionWorkflowID names the workflow that reads one version of a run.
func IngestVersionWorkflowID(ingestID, tag string) string {
	return IngestWorkflowID(ingestID) + "/" + idPart(tag)
}

// IngestVersionInput names a version of a run.
type IngestVersionInput struct {
	IngestID   string `json:"ingest_id"`
	Repository string `json:"repository"`
	Tag        string `json:"tag"`
}

// IngestVersionResult counts what was read.
type IngestVersionResult struct {
	Commit  string `json:"commit,omitempty"`
	Files   int    `json:"files"`
	Symbols int    `json:"symbols"`
}

// The workflow of one version and its activity.
var (
	IngestVersion = flow.Workflow[IngestVersionInput, IngestVersionResult]{Name: "ingest.version"}

	ReadVersion = flow.Activity[IngestVersionInput, IngestVersionResult]{Name: "ingest.version"}
)

// RunIngestVersion reads one version. The activity keeps what it has stored: when a worker
// dies, the next attempt goes on from there.
func RunIngestVersion(ctx workflow.Context, in IngestVersionInput) (IngestVersionResult, error) {
	ctx = longStep(ctx, "", 12*time.Hour, 20, in.Repository+" "+in.Tag)
	return ReadVersion.Execute(ctx, in).Result(ctx)
}

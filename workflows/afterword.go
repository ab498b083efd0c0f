package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/flow"
)

// AfterwordWorkflowID is the ID of what follows a turn.
func AfterwordWorkflowID(turnID string) string { return "afterword/" + turnID }

// AfterwordInput names a turn that has ended well.
type AfterwordInput struct {
	TurnID string `json:"turn_id"`
	Queues Queues `json:"queues"`
}

// Afterworded says what was found.
type Afterworded struct {
	Titled      bool `json:"titled,omitempty"`
	Suggestions int  `json:"suggestions,omitempty"`
}

// The workflow and its activity. It is off the turn's path: nobody waits for it.
var (
	Afterword = flow.Workflow[AfterwordInput, Afterworded]{Name: "turn.afterword"}

	WriteAfterword = flow.Activity[TurnRef, Afterworded]{Name: "afterword.write"}
)

// RunAfterword titles a turn's conversation, where nobody did, and suggests what to ask next.
func RunAfterword(ctx workflow.Context, in AfterwordInput) (Afterworded, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              in.Queues.Models,
		StartToCloseTimeout:    2 * time.Minute,
		ScheduleToCloseTimeout: 15 * time.Minute,
		HeartbeatTimeout:       heartbeatTimeout,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 5},
		Summary:                "Title the conversation and suggest what to ask next",
	})
	return WriteAfterword.Execute(ctx, TurnRef{TurnID: in.TurnID}).Result(ctx)
}

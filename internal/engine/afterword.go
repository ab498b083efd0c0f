package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// afterwordLife is how long after a turn its afterword is worth anything.
const afterwordLife = 20 * time.Minute

// sweepAfterwords starts what follows the turns that have ended. What is started is told by
// its row only once it is written: a workflow that is there already is left alone.
func (e *Engine) sweepAfterwords(ctx context.Context) error {
	if e.Projects == nil {
		return nil
	}
	due, err := e.Projects.AfterwordsDue(ctx, sweepLimit)
	if err != nil {
		return fmt.Errorf("list turns without their afterword: %w", err)
	}
	var late []string
	for _, turn := range due {
		if turn.EndedAt != nil && time.Since(*turn.EndedAt) > afterwordLife {
			late = append(late, turn.ID)
		}
	}
	if len(late) > 0 { // what could not be written in that time is not worth it any more
		if err := e.Projects.GiveAfterwordsUp(ctx, late); err != nil {
			return fmt.Errorf("give afterwords up: %w", err)
		}
	}
	return each(due, func(turn domain.Turn) error {
		return e.start(ctx, launch{
			id: workflows.AfterwordWorkflowID(turn.ID), queue: e.Queues.Turns, workflow: workflows.Afterword.Name,
			input:   workflows.AfterwordInput{TurnID: turn.ID, Queues: e.Queues},
			labels:  labels{kind: "afterword", user: turn.UserID, project: turn.ProjectID, conversation: turn.ConversationID, subject: turn.ID},
			summary: "Title and suggestions",
		})
	})
}

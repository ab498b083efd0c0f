package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// deletionAge is how old a deletion must be before anybody takes it up.
const deletionAge = time.Minute

// projectPatience is how long a deletion waits for turns that were asked to stop.
const projectPatience = 15 * time.Second

// ProjectStore keeps projects and conversations.
type ProjectStore interface {
	// CloseProject keeps new work from a project and lists the turns that still run.
	CloseProject(ctx context.Context, id string) ([]domain.Turn, error)
	// EndAfterwords gives up what was to follow the project's turns, and names these turns.
	EndAfterwords(ctx context.Context, projectID string) ([]string, error)
	// ClosedProjects lists projects that were closed longer than age ago and are still there.
	ClosedProjects(ctx context.Context, age time.Duration, limit int) ([]string, error)
	// DeleteProject removes a closed project with all it owns; conflict while a turn runs.
	DeleteProject(ctx context.Context, id string) (domain.Removed, error)
	// Conversation gives a conversation, or not_found.
	Conversation(ctx context.Context, id string) (domain.Conversation, error)
	// DeleteConversation removes a conversation with its messages, or gives not_found.
	DeleteConversation(ctx context.Context, id string) error
	// AfterwordsDue lists turns that ended well and have no title and suggestions yet.
	AfterwordsDue(ctx context.Context, limit int) ([]domain.Turn, error)
	// GiveAfterwordsUp says that turns go without.
	GiveAfterwordsUp(ctx context.Context, turnIDs []string) error
	// LastQuestion gives what was asked last, as a request that asks it again.
	LastQuestion(ctx context.Context, c domain.Conversation) (domain.TurnRequest, error)
}

// DeleteProject ends the project's work and then removes it with all it owns. What works in it
// is listed from Postgres, which is never late. Called again it goes on where it was left, and
// where nobody does, the sweeper calls it. The error is a conflict where a turn does not end in
// time.
func (e *Engine) DeleteProject(ctx context.Context, id string) (domain.Removed, error) {
	open, err := e.Projects.CloseProject(ctx, id)
	if err != nil {
		return domain.Removed{}, err
	}
	for _, turn := range open {
		if _, err := e.CancelTurn(ctx, turn.ID); err != nil {
			return domain.Removed{}, fmt.Errorf("stop turn %s: %w", turn.ID, err)
		}
	}
	if err := errors.Join(e.endAfterwords(ctx, id), e.endProvisions(ctx, id)); err != nil {
		return domain.Removed{}, err
	}
	waiting, stop := context.WithTimeout(ctx, projectPatience)
	defer stop()
	for _, turn := range open {
		if err := e.waitEnd(waiting, turn.ID); err != nil && waiting.Err() == nil {
			return domain.Removed{}, fmt.Errorf("wait for turn %s: %w", turn.ID, err)
		}
	}
	if err := e.endCommands(ctx, id); err != nil {
		return domain.Removed{}, err
	}
	removed, err := e.Projects.DeleteProject(ctx, id)
	removed.Canceled = int64(len(open))
	return removed, err
}

// endAfterwords stops what follows the turns of a project. A workflow that is not stopped in
// time finds nothing to do.
func (e *Engine) endAfterwords(ctx context.Context, projectID string) error {
	turns, err := e.Projects.EndAfterwords(ctx, projectID)
	if err != nil {
		return err
	}
	return each(turns, func(id string) error { return e.cancel(ctx, workflows.AfterwordWorkflowID(id)) })
}

// sweepProjects goes on with deletions whose server died, or gave up.
func (e *Engine) sweepProjects(ctx context.Context) error {
	if e.Projects == nil {
		return nil
	}
	return pass(ctx, "projects that are being deleted", e.Projects.ClosedProjects, deletionAge, func(ctx context.Context, id string) error {
		removed, err := e.DeleteProject(ctx, id)
		if err == nil {
			e.Log.Info().Str("project_id", id).Interface("removed", removed).Msg("project_swept")
		}
		return err
	})
}

// DeleteConversation removes a conversation. A turn that runs in it is asked to stop, and ends
// without it.
func (e *Engine) DeleteConversation(ctx context.Context, id string) error {
	c, err := e.Projects.Conversation(ctx, id)
	if err != nil {
		return err
	}
	if c.ActiveTurnID != "" {
		if _, err := e.CancelTurn(ctx, c.ActiveTurnID); err != nil {
			return fmt.Errorf("stop turn %s: %w", c.ActiveTurnID, err)
		}
	}
	return e.Projects.DeleteConversation(ctx, id)
}

// AskAgain starts a turn that answers the conversation's last question anew, as another
// branch. Who asks, and by what model where that is chosen, comes with the request.
func (e *Engine) AskAgain(ctx context.Context, c domain.Conversation, by domain.TurnRequest) (domain.Turn, error) {
	req, err := e.Projects.LastQuestion(ctx, c)
	if err != nil {
		return domain.Turn{}, err
	}
	req.UserID, req.UserName, req.IdempotencyKey = by.UserID, by.UserName, by.IdempotencyKey
	if by.Provider != (domain.ProviderSelection{}) {
		req.Provider = by.Provider
	}
	return e.StartTurn(ctx, req)
}

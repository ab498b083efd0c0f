package activities

import (
	"context"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/prompts"
	"github.com/harvest-engine/harvest/workflows"
)

const (
	afterwordTokens   = 600
	afterwordQuestion = 4000 // bytes of the question that are shown to the model
	afterwordAnswer   = 8000 // and of the answer
	maxSuggestions    = 4
	maxSuggestion     = 200 // bytes
)

// AfterwordStore keeps what follows a turn.
type AfterwordStore interface {
	// AfterwordDue gives the turn, and whether it still waits for its afterword.
	AfterwordDue(ctx context.Context, turnID string) (turn domain.Turn, due bool, err error)
	// CommitAfterword stores the afterword and tells the turn's project; once, whatever is
	// tried again.
	CommitAfterword(ctx context.Context, a domain.Afterword) error
}

// Afterword titles conversations and suggests what to ask next, once a turn is over.
type Afterword struct {
	Store  AfterwordStore
	Models Models
}

// Write asks a model for the title and the suggestions of a turn, by the provider that
// answered it.
func (a *Afterword) Write(ctx context.Context, in workflows.TurnRef) (workflows.Afterworded, error) {
	defer beat(ctx)()
	turn, due, err := a.Store.AfterwordDue(ctx, in.TurnID)
	if err != nil || !due {
		return workflows.Afterworded{}, err
	}
	var sel domain.ProviderSelection
	if turn.ProviderUsed != nil {
		sel = domain.ProviderSelection{ProviderID: turn.ProviderUsed.ProviderID, Model: turn.ProviderUsed.Model}
	}
	text := "Question:\n\n" + turn.Query[:boundary(turn.Query, afterwordQuestion)] + "\n\nAnswer:\n\n" + turn.Answer[:boundary(turn.Answer, afterwordAnswer)]
	resp, err := a.Models.Stream(ctx, sel, domain.ModelRequest{
		Model: sel.Model, System: prompts.Afterword(), User: turn.UserID, ProjectID: turn.ProjectID, MaxTokens: afterwordTokens,
		Messages: []domain.Message{domain.TextMessage(domain.RoleUser, text)},
	}, silent)
	if err != nil {
		return workflows.Afterworded{}, err // tried again a few times, and then left: nobody waits
	}
	word := domain.Afterword{TurnID: turn.ID, Usage: resp.Usage}
	if resp.Provider.Kind != offlineKind { // it writes no titles, and guesses no questions
		word.Title, word.Suggestions = parseAfterword(resp.Message.Text())
	}
	if err := a.Store.CommitAfterword(ctx, word); err != nil {
		return workflows.Afterworded{}, err
	}
	return workflows.Afterworded{Titled: word.Title != "", Suggestions: len(word.Suggestions)}, nil
}

// offlineKind is the kind of the provider that is no model.
const offlineKind = "offline"

// parseAfterword reads the lines of an afterword; others are left out.
func parseAfterword(text string) (title string, suggestions []string) {
	for line := range strings.Lines(domain.CleanText(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		rest = strings.Trim(strings.TrimSpace(rest), `"`)
		switch {
		case rest == "":
		case strings.EqualFold(kind, "title") && title == "":
			title = domain.TitleOf(rest)
		case strings.EqualFold(kind, "next") && len(suggestions) < maxSuggestions && len(rest) <= maxSuggestion:
			suggestions = append(suggestions, rest)
		}
	}
	return title, suggestions
}

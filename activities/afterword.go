package activities

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/prompts"
	"github.com/harvest-engine/harvest/workflows"
)

const (
	afterwordTokens   = 600
	afterwordQuestion = 4000 // bytes of the question that are shown to the model
	afterwordAnswer   = 8000 // and of the answer
	maxSuggestions    = 4
	maxSuggestion     = 200 // characters
)

// AfterwordStore keeps what follows a turn.
type AfterwordStore interface {
	// AfterwordDue gives the turn, and whether it still waits for its afterword.
	AfterwordDue(ctx context.Context, turnID string) (turn domain.Turn, due bool, err error)
	// ReserveAfterword reserves what the afterword may cost of a day's budget; budget_exhausted
	// where the day leaves too little, superseded where it is no longer due.
	ReserveAfterword(ctx context.Context, turnID string, cost, dayLimit float64) error
	// CommitAfterword stores the afterword and tells the turn's project; once, whatever is
	// tried again.
	CommitAfterword(ctx context.Context, a domain.Afterword) error
}

// Afterword titles conversations and suggests what to ask next, once a turn is over.
type Afterword struct {
	Store   AfterwordStore
	Models  Models
	Budgets Budgets
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
	req := domain.ModelRequest{
		Model: sel.Model, System: prompts.Afterword(), User: turn.UserID, ProjectID: turn.ProjectID, MaxTokens: afterwordTokens,
		Messages: []domain.Message{domain.TextMessage(domain.RoleUser, text)},
	}
	switch err := a.reserve(ctx, turn, sel, req); domain.CodeOf(err) {
	case "":
	case domain.CodeBudgetExhausted: // the title stays as the question gave it
		return workflows.Afterworded{}, a.Store.CommitAfterword(ctx, domain.Afterword{TurnID: turn.ID})
	case domain.CodeSuperseded:
		return workflows.Afterworded{}, nil
	default:
		return workflows.Afterworded{}, err
	}
	resp, err := a.Models.Stream(ctx, sel, req, silent)
	if err != nil {
		return workflows.Afterworded{}, err // tried again a few times, and then left: nobody waits
	}
	word := domain.Afterword{TurnID: turn.ID, Usage: resp.Usage}
	if resp.Provider.Kind != offlineKind { // it writes no titles, and guesses no questions
		word.Title, word.Suggestions = parseAfterword(turn.Query, resp.Message.Text())
	}
	if err := a.Store.CommitAfterword(ctx, word); err != nil {
		return workflows.Afterworded{}, err
	}
	return workflows.Afterworded{Titled: word.Title != "", Suggestions: len(word.Suggestions)}, nil
}

// offlineKind is the kind of the provider that is no model.
const offlineKind = "offline"

// reserve makes sure that an afterword fits the budgets of its turn and of the person's day.
func (a *Afterword) reserve(ctx context.Context, turn domain.Turn, sel domain.ProviderSelection, req domain.ModelRequest) error {
	if a.Budgets == (Budgets{}) {
		return nil
	}
	quote, used := a.Models.Quote(sel, req), turn.Usage
	if limit := a.Budgets.PerTurn; limit > 0 && quote.Cost > 0 && used.Cost+quote.Cost > limit {
		return domain.Errorf(domain.CodeBudgetExhausted, "the turn's budget of %.4g leaves too little for an afterword", limit)
	}
	if limit := a.Budgets.TurnTokens; limit > 0 && used.InputTokens+used.OutputTokens+quote.InputTokens+quote.OutputTokens > limit {
		return domain.Errorf(domain.CodeBudgetExhausted, "the turn's budget of %d tokens leaves too little for an afterword", limit)
	}
	if a.Budgets.PerDay <= 0 {
		return nil
	}
	return a.Store.ReserveAfterword(ctx, turn.ID, quote.Cost, a.Budgets.PerDay)
}

// parseAfterword reads the lines of an afterword; others are left out, and so are suggestions
// that are too long, or that were asked or suggested before.
func parseAfterword(asked, text string) (title string, suggestions []string) {
	said := map[string]bool{sameQuestion(asked): true}
	for line := range strings.Lines(domain.CleanText(text)) {
		kind, rest, _ := strings.Cut(domain.PlainLine(line), ":")
		rest = domain.PlainLine(rest)
		switch {
		case rest == "":
		case strings.EqualFold(kind, "title") && title == "":
			title = domain.TitleOf(rest)
		case strings.EqualFold(kind, "next") && len(suggestions) < maxSuggestions && utf8.RuneCountInString(rest) <= maxSuggestion && !said[sameQuestion(rest)]:
			said[sameQuestion(rest)] = true
			suggestions = append(suggestions, rest)
		}
	}
	return title, suggestions
}

// sameQuestion is equal for questions that differ in case, space and final marks alone.
func sameQuestion(text string) string {
	return strings.ToLower(strings.TrimRight(domain.PlainLine(text), " ?.!"))
}

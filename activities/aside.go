package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/prompts"
	"github.com/harvest-engine/harvest/workflows"
)

// Calls of the model beside the rounds: what a message wants, and summaries.
const (
	classifyTokens = 512 // a word, and what a reasoning model thinks before it
	classifyTail   = 4   // messages of history that a classification sees
	summaryTokens  = 4096
	// summaryPiece is how much is summed up in one call, in bytes; more takes several.
	summaryPiece = 120_000
	minPiece     = 8_000
)

// Classify asks a model for the intent of a message that words alone don't tell. A model
// that can't tell, or can't be reached, makes it research.
func (a *Model) Classify(ctx context.Context, in workflows.TurnRef) (workflows.Classified, error) {
	defer beat(ctx)()
	d, err := a.Store.Dialogue(ctx, in.TurnID)
	if err != nil {
		return workflows.Classified{}, err
	}
	tail := d.History[max(0, len(d.History)-classifyTail):]
	var messages []domain.Message
	for _, past := range tail {
		messages = appendMessage(messages, domain.TextMessage(past.Role, past.Text()))
	}
	messages = appendMessage(messages, domain.TextMessage(domain.RoleUser, d.Turn.Query))
	req := domain.ModelRequest{Model: d.Provider.Model, System: prompts.Intent(), Messages: messages, MaxTokens: classifyTokens, User: d.Turn.UserID, ProjectID: d.Scope.ProjectID}
	req, claim, err := a.claim(ctx, d, req, "classify", -1)
	switch {
	case domain.CodeOf(err) == domain.CodeBudgetExhausted || domain.CodeOf(err) == domain.CodeSuperseded:
		return workflows.Classified{Intent: domain.IntentResearch}, nil // the first round finds out the same
	case err != nil:
		return workflows.Classified{}, err
	case claim.Outcome != nil:
		return readOutcome[workflows.Classified](claim)
	}
	out := workflows.Classified{Intent: domain.IntentResearch}
	commit := domain.ModelCommit{CallWrite: domain.CallWrite{Claim: claim}}
	resp, err := a.Models.Stream(ctx, d.Provider, req, silent)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err == nil {
		if intent, ok := parseIntent(resp.Message.Text()); ok {
			out.Intent = intent
		}
		commit.Usage, commit.Provider = resp.Usage, &resp.Provider
	}
	commit.Intent, commit.Events = out.Intent, []domain.NewEvent{intentEvent(out.Intent)}
	return out, a.conclude(ctx, commit, out)
}

// silent takes a call's deltas for nobody.
var silent = domain.ModelSink{Delta: func(domain.ModelDelta) error { return nil }}

// readOutcome gives what a call that was committed before told its caller.
func readOutcome[Out any](claim domain.CallClaim) (out Out, err error) {
	if err := json.Unmarshal(claim.Outcome, &out); err != nil {
		return out, fmt.Errorf("read the outcome of call %s: %w", claim.CallID, err)
	}
	return out, nil
}

// conclude commits a call with its outcome.
func (a *Model) conclude(ctx context.Context, commit domain.ModelCommit, outcome any) error {
	encoded, err := json.Marshal(outcome)
	if err != nil {
		return fmt.Errorf("commit call %s: %w", commit.Claim.CallID, err)
	}
	commit.Outcome = encoded
	return a.commit(ctx, commit)
}

// Compact sums the older part of the dialogue up: the conversation before the turn, or,
// where that is short and the model has refused the dialogue, the turn's own older rounds.
// The messages stay as they are; the summary stands beside them.
func (a *Model) Compact(ctx context.Context, in workflows.CompactInput) (workflows.Compacted, error) {
	defer beat(ctx)()
	d, err := a.Store.Dialogue(ctx, in.TurnID)
	if err != nil {
		return workflows.Compacted{}, err
	}
	summary, text, covered := older(d, in)
	if summary == nil {
		return workflows.Compacted{}, nil
	}
	_, claim, err := a.claim(ctx, d, summaryRequest(d, text[:min(len(text), summaryPiece)]), in.CallID, -1)
	switch {
	case domain.CodeOf(err) == domain.CodeBudgetExhausted || domain.CodeOf(err) == domain.CodeSuperseded:
		return workflows.Compacted{}, nil
	case err != nil:
		return workflows.Compacted{}, err
	case claim.Outcome != nil:
		return readOutcome[workflows.Compacted](claim)
	}
	commit := domain.ModelCommit{CallWrite: domain.CallWrite{Claim: claim}, Summary: summary}
	if err := a.summarize(ctx, d, text, &commit); err != nil {
		if ctx.Err() != nil {
			return workflows.Compacted{}, ctx.Err()
		}
		return workflows.Compacted{}, a.fail(ctx, d, claim, nil, err)
	}
	commit.Events = []domain.NewEvent{domain.NewPayload(domain.EventCompacted, map[string]any{
		"messages": covered, "characters": len(text), "summary_characters": len(summary.Text),
	})}
	out := workflows.Compacted{Done: true}
	return out, a.conclude(ctx, commit, out)
}

// older picks what is summed up: its text, and how many messages that is. The summary given
// says what it will cover, and is nil where there is nothing.
func older(d domain.Dialogue, in workflows.CompactInput) (summary *domain.Summary, text string, covered int) {
	keep := in.Keep
	if in.Force {
		keep = 0
	}
	if n := len(d.History) - keep; n > 0 {
		part := domain.Dialogue{Summary: d.Summary, History: d.History[:n]}
		return &domain.Summary{MessageID: d.History[n-1].ID}, transcript(dialogue(part)), n
	}
	if !in.Force || len(d.Rounds) < 2 {
		return nil, "", 0
	}
	rounds := d.Rounds[:len(d.Rounds)-1]
	part := domain.Dialogue{Message: domain.TextMessage(domain.RoleUser, d.Turn.Query), Digest: d.Digest, Rounds: rounds}
	return &domain.Summary{Round: rounds[len(rounds)-1].Round}, transcript(dialogue(part)), len(rounds)
}

func summaryRequest(d domain.Dialogue, text string) domain.ModelRequest {
	return domain.ModelRequest{
		Model: d.Provider.Model, System: prompts.Compact(), User: d.Turn.UserID, ProjectID: d.Scope.ProjectID, MaxTokens: summaryTokens,
		Messages: []domain.Message{domain.TextMessage(domain.RoleUser, text)},
	}
}

// summarize fills the commit's summary. A text too long for one call is read in pieces, each
// with the summary of those before; pieces that the model refuses are halved.
func (a *Model) summarize(ctx context.Context, d domain.Dialogue, text string, commit *domain.ModelCommit) error {
	piece := summaryPiece
	for rest := text; rest != ""; {
		cut := boundary(rest, piece)
		part := rest[:cut]
		if commit.Summary.Text != "" {
			part = "Summary so far:\n\n" + commit.Summary.Text + "\n\nWhat follows:\n\n" + part
		}
		resp, err := a.Models.Stream(ctx, d.Provider, summaryRequest(d, part), silent)
		if domain.CodeOf(err) == domain.CodeTooLarge && piece > minPiece {
			piece /= 2
			continue
		}
		if err != nil {
			return err
		}
		if resp.Message.Text() == "" {
			return domain.Errorf(domain.CodeUpstream, "the model gave an empty summary")
		}
		commit.Summary.Text, commit.Usage = resp.Message.Text(), commit.Usage.Add(resp.Usage)
		commit.Provider = &resp.Provider
		rest = rest[cut:]
	}
	return nil
}

// boundary gives where to cut text at about n bytes: between characters.
func boundary(text string, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return n
}

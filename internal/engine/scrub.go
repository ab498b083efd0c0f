package engine

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Secrets keeps the values of secrets out of texts, and for the calls that wait for them;
// secrets.Vault does.
type Secrets interface {
	domain.Scrubbers
	// Pin gives the version that a handle means: the newest where it names none. A conflict where
	// it names one that is not the newest any more, not_found where the secret is gone.
	Pin(ctx context.Context, projectID string, ref domain.SecretRef) (domain.SecretRef, error)
	// Hide gives what takes these texts out of others, where they belong to no secret yet.
	Hide(texts []string) domain.Scrubber
	// SealOffer seals a value for the tool call of by; invalid or too_large where it is unfit.
	SealOffer(projectID string, value domain.SecretValue, by domain.Author) (domain.SealedSecret, error)
	// GenerateOffer makes a random value and seals it so.
	GenerateOffer(projectID string, by domain.Author) (domain.SealedSecret, error)
}

// scrub takes the values of a project's secrets out of texts of people, before they are stored.
func (e *Engine) scrub(ctx context.Context, projectID string) (func(string) string, error) {
	return domain.ScrubOf(ctx, e.Secrets, projectID)
}

// scrubTurn gives a query without values, in its question and in its files. It is invalid
// where a file that is no text holds one.
func (e *Engine) scrubTurn(ctx context.Context, req domain.TurnRequest) (domain.TurnRequest, error) {
	scrub, err := e.scrub(ctx, req.ProjectID)
	if err != nil {
		return req, err
	}
	req.Query = scrub(req.Query)
	req.Attachments = slices.Clone(req.Attachments)
	for i, file := range req.Attachments {
		file.Name = scrub(file.Name)
		clean := scrub(string(file.Data))
		if clean != string(file.Data) {
			if !utf8.Valid(file.Data) {
				return req, domain.Invalid("attachments", "the file %s holds the value of a secret of this project; take it out first", domain.Visible(file.Name))
			}
			file.Data = []byte(clean)
		}
		req.Attachments[i] = file
	}
	return req, nil
}

// hideGiven takes the values that decisions bring out of texts that come with them: they belong
// to no secret yet, and what is stored beside them must not hold them either.
func (e *Engine) hideGiven(decisions []domain.Decision) func(string) string {
	var values []string
	for _, d := range decisions {
		if !d.Value.Empty() {
			values = append(values, d.Value.Reveal())
		}
	}
	if e.Secrets == nil || len(values) == 0 {
		return func(text string) string { return text }
	}
	return e.Secrets.Hide(values).Scrub
}

// scrubReason gives a decision whose reason holds no value of the project's secrets.
func (e *Engine) scrubReason(ctx context.Context, projectID string, d domain.Decision) (domain.Decision, error) {
	scrub, err := e.scrub(ctx, projectID)
	if err != nil {
		return d, err
	}
	d.Reason = scrub(d.Reason)
	return d, nil
}

package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/secrets"
)

const hidden = "hunter2hunter2"

// vault is a project's one secret, DB.
type vault struct {
	activities.Vault
	revealable bool
	version    int
}

func (v vault) Scrubber(context.Context, string) (domain.Scrubber, error) {
	return (&secrets.Vault{}).Hide([]string{hidden}), nil
}

func (v vault) Hide(texts []string) domain.Scrubber { return (&secrets.Vault{}).Hide(texts) }

func (v vault) Get(_ context.Context, _, name string) (domain.Secret, error) {
	return domain.Secret{Name: name, Version: v.version, Revealable: v.revealable}, nil
}

func (v vault) Open(_ context.Context, _ string, ref domain.SecretRef) (domain.SecretValue, error) {
	if ref.Version != v.version {
		return domain.SecretValue{}, domain.Errorf(domain.CodeConflict, "it has changed")
	}
	return domain.NewSecretValue(hidden), nil
}

// chatter is a model that says pieces, and remembers what it was asked.
type chatter struct {
	activities.Models
	pieces []string
	err    error
	asked  domain.ModelRequest
}

func (c *chatter) Stream(_ context.Context, _ domain.ProviderSelection, req domain.ModelRequest, sink domain.ModelSink) (domain.ModelResponse, error) {
	c.asked = req
	for _, piece := range c.pieces {
		if err := sink.Delta(domain.ModelDelta{Text: piece}); err != nil {
			return domain.ModelResponse{}, err
		}
	}
	return domain.ModelResponse{Message: domain.TextMessage(domain.RoleAssistant, strings.Join(c.pieces, ""))}, c.err
}

// said passes a call by the gate, and gives what readers get of it.
func said(t *testing.T, model *chatter, v vault, req domain.ModelRequest) (deltas []string, resp domain.ModelResponse, err error) {
	t.Helper()
	req.ProjectID = "p"
	resp, err = activities.Gate{Models: model, Secrets: v}.Stream(t.Context(), domain.ProviderSelection{}, req, domain.ModelSink{
		Delta: func(d domain.ModelDelta) error { deltas = append(deltas, d.Text); return nil },
	})
	return deltas, resp, err
}

// A value that a model says in pieces never shows, not even its beginning; all else comes
// through as soon as it is known.
func TestTheGateScrubsAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string
		want   string
	}{
		"in one":       {[]string{"It is hunter2hunter2."}, "It is [secret]."},
		"in pieces":    {strings.Split("It is hunter2hunter2.", ""), "It is [secret]."},
		"at the end":   {[]string{"It is hunter2hun", "ter2"}, "It is [secret]"},
		"twice":        {[]string{"hunter2hunter2 hun", "ter2hunter2"}, "[secret] [secret]"},
		"not at all":   {[]string{"Go hunt", "ing."}, "Go hunting."},
		"as JSON text": {[]string{`{"a":"hunter2`, `hunter2"}`}, `{"a":"[secret]"}`},
	} {
		deltas, resp, err := said(t, &chatter{pieces: c.pieces}, vault{}, domain.ModelRequest{})
		if got := strings.Join(deltas, ""); err != nil || got != c.want || resp.Message.Text() != c.want {
			t.Errorf("%s: %q and %q, %v; want %q", name, got, resp.Message.Text(), err, c.want)
		}
	}
	deltas, _, _ := said(t, &chatter{pieces: []string{"It", " is", " hun", "ky"}}, vault{}, domain.ModelRequest{})
	if got := strings.Join(deltas, "|"); got != "It| is| |hunky" {
		t.Errorf("the pieces come as %q", got)
	}
}

// Of a call that fails in the middle of a value nothing of it is left, nor in the error.
func TestTheGateScrubsFailures(t *testing.T) {
	t.Parallel()
	model := &chatter{pieces: []string{"It is hunter2hun"}, err: domain.Wrap(domain.CodeRateLimited, errors.New("of "+hidden), "too much %s", hidden)}
	deltas, _, err := said(t, model, vault{}, domain.ModelRequest{})
	if got := strings.Join(deltas, ""); got != "It is " {
		t.Errorf("it said %q", got)
	}
	if err == nil || strings.Contains(err.Error(), hidden) || domain.CodeOf(err) != domain.CodeRateLimited || !strings.Contains(err.Error(), "too much") {
		t.Errorf("the error is %v", err)
	}
}

// A request holds no value, wherever it stood, but those that are revealed.
func TestTheGateScrubsRequests(t *testing.T) {
	t.Parallel()
	req := func(reveals string) domain.ModelRequest {
		return domain.ModelRequest{System: "A note: " + hidden, Messages: []domain.Message{
			{Role: domain.RoleUser, Blocks: []domain.Block{
				{Type: domain.BlockText, Text: "It is " + hidden},
				{Type: domain.BlockMedia, MimeType: "text/plain", Name: hidden, Data: []byte(hidden)},
				{Type: domain.BlockMedia, MimeType: domain.PDFType, Name: "d.pdf", Data: []byte("%PDF"), Document: &domain.DocumentText{Pages: 1, Text: "It is " + hidden}},
				{Type: domain.BlockMedia, MimeType: "image/png", Name: "p.png", Data: []byte("\x89PNG" + hidden)},
			}},
			{Role: domain.RoleAssistant, Blocks: []domain.Block{
				{Type: domain.BlockThinking, Text: "hm " + hidden, Signature: "proof", SignedBy: "x"},
				{Type: domain.BlockToolUse, Tool: "t", CallID: "1", Input: []byte(`{"a":["\u0068unter2hunter2"],"hunter2hunter2":1}`)},
			}},
			{Role: domain.RoleUser, Blocks: []domain.Block{{Type: domain.BlockToolResult, CallID: "1", Text: "got " + hidden, Reveals: reveals}}},
		}}
	}
	model := &chatter{}
	if _, _, err := said(t, model, vault{}, req("")); err != nil {
		t.Fatal(err)
	}
	for _, m := range model.asked.Messages {
		for _, b := range m.Blocks {
			if all := b.Text + b.Name + string(b.Data) + string(b.Input); b.Document != nil || strings.Contains(all, hidden) || strings.Contains(all, "unter2") || b.Signature != "" {
				t.Errorf("the request holds %+v", b)
			}
		}
	}
	if strings.Contains(model.asked.System, hidden) {
		t.Errorf("the system prompt is %q", model.asked.System)
	}
	for name, c := range map[string]struct {
		vault vault
		shown bool
	}{
		"permitted": {vault{revealable: true, version: 2}, true}, "not permitted any more": {vault{version: 2}, false}, "changed since": {vault{revealable: true, version: 3}, false},
	} {
		if _, _, err := said(t, model, c.vault, req("secret://DB@2")); err != nil {
			t.Fatal(err)
		}
		last := model.asked.Messages[2].Blocks[0].Text
		if !strings.HasPrefix(last, "got [secret]") || strings.Contains(last, hidden) != c.shown {
			t.Errorf("%s: the result is %q", name, last)
		}
	}
}

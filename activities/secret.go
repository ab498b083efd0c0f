package activities

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// Vault keeps the secrets of projects; secrets.Vault does.
type Vault interface {
	domain.Scrubbers
	// Hide gives what takes these texts out, in every form, where they belong to no secret yet.
	Hide(texts []string) domain.Scrubber
	// Get gives what is known of a secret, or not_found.
	Get(ctx context.Context, projectID, name string) (domain.Secret, error)
	// Pin gives the version that a handle means; a conflict where that is not the newest any
	// more, not_found where the secret is gone.
	Pin(ctx context.Context, projectID string, ref domain.SecretRef) (domain.SecretRef, error)
	// Open gives the value of a pinned version, with the errors of Pin.
	Open(ctx context.Context, projectID string, ref domain.SecretRef) (domain.SecretValue, error)
	// Offer seals a value for the tool call of by, which takes it.
	Offer(ctx context.Context, projectID string, value domain.SecretValue, by domain.Author) error
}

// private readies the run of a call: its results are scrubbed, and the handles in its input
// become the values of its environment. The error is invalid or a conflict where the call
// can't be run as it is: a handle in the wrong place, a version that is not the newest.
func private(ctx context.Context, secrets Vault, box ToolBox, scope domain.Scope, call domain.ToolCall) (context.Context, scrub, error) {
	scrub, err := domain.ScrubOf(ctx, secrets, scope.ProjectID)
	if err != nil {
		return ctx, nil, err
	}
	p := tools.Private{Scrub: scrub}
	spec, _ := box.Lookup(call.Name) // of a tool that is gone it has no handles
	handles, err := spec.Handles(call.Input)
	if err != nil {
		return ctx, scrub, err
	}
	if len(handles) > 0 {
		if !call.Asks || secrets == nil {
			return ctx, scrub, domain.Errorf(domain.CodeForbidden, "a call with the handle of a secret must be approved")
		}
		p.Environment = map[string]domain.SecretValue{}
	}
	for name, ref := range handles {
		if p.Environment[name], err = secrets.Open(ctx, scope.ProjectID, ref); err != nil {
			return ctx, scrub, err
		}
	}
	return tools.WithPrivate(ctx, p), scrub, nil
}

// pin gives the input of a call with its handles naming the versions that they mean now, and
// whether there were any.
func pin(ctx context.Context, secrets Vault, spec tools.Spec, projectID string, call domain.Block) (domain.Block, bool, error) {
	handles, err := spec.Handles(call.Input)
	if err != nil || len(handles) == 0 {
		return call, false, err
	}
	if secrets == nil || projectID == "" {
		return call, false, domain.Errorf(domain.CodeUnprocessable, "this conversation belongs to no project, and so has no secrets")
	}
	for name, ref := range handles {
		if handles[name], err = secrets.Pin(ctx, projectID, ref); err != nil {
			return call, false, err
		}
	}
	call.Input, err = spec.Pin(call.Input, handles)
	return call, err == nil, err
}

// actionable reports whether a model can do something about an error; all others are faults.
func actionable(err error) bool {
	switch domain.CodeOf(err) {
	case domain.CodeInvalid, domain.CodeNotFound, domain.CodeConflict, domain.CodeUnprocessable, domain.CodeForbidden, domain.CodeTooLarge:
		return true
	}
	return false
}

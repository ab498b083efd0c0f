package activities

import (
	"context"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// ready makes the calls of an answer fit to be stored, shown and hashed, before any of that is
// done: what they hold of secrets is taken out, values that the model gives are sealed, and
// handles name the version that they mean. What can't be readied is refused.
func (a *Model) ready(ctx context.Context, o *outcome, attempt int) error {
	o.identify()
	o.refused, o.handles = map[string]domain.ToolResult{}, map[string]bool{}
	scrub, err := domain.ScrubOf(ctx, a.Secrets, o.dialogue.Scope.ProjectID)
	if err != nil {
		return err
	}
	var loose []string
	for i, b := range o.message.Blocks {
		if b.Type != domain.BlockToolUse {
			continue
		}
		if err := domain.CheckInput(b.Input); err != nil {
			o.refuse(b.CallID, fmt.Sprintf(notPlain, domain.PublicMessage(err)))
		}
		spec, known := a.Tools.Lookup(b.Tool)
		if g, about := withhold(b, known); about {
			loose = append(loose, g.loose...)
			if b, err = a.seal(ctx, o, b, g, attempt); err != nil {
				return err
			}
		}
		b.Input = scrubJSON(scrub, b.Input)
		b, pinned, err := pin(ctx, a.Secrets, spec, o.dialogue.Scope.ProjectID, b)
		if err != nil && !actionable(err) {
			return err
		}
		if err != nil {
			o.refuse(b.CallID, refusalOf(err))
		}
		o.handles[b.CallID] = pinned
		o.message.Blocks[i] = b
	}
	if a.Secrets != nil && len(loose) > 0 {
		o.hide = a.Secrets.Hide(loose).Scrub
		o.message = scrubMessage(o.hide, o.message)
	}
	return nil
}

// seal seals the value of a call that is going to be run, for its run to take. The call is
// named after the attempt: what an attempt seals that was cut off must not take the place of
// what a later one has sealed.
func (a *Model) seal(ctx context.Context, o *outcome, b domain.Block, g given, attempt int) (domain.Block, error) {
	b.Input = g.input
	if g.fault != "" {
		o.refuse(b.CallID, "Not run: "+g.fault+".")
		return b, nil
	}
	scope := o.dialogue.Scope
	if g.value.Empty() || a.Secrets == nil || scope.ProjectID == "" || !o.runs() {
		return b, nil
	}
	if attempt > 1 {
		b.CallID = fmt.Sprintf("%s_%d", b.CallID, attempt)
	}
	by := domain.Author{UserID: scope.UserID, TurnID: o.in.TurnID, CallID: b.CallID}
	if err := a.Secrets.Offer(ctx, scope.ProjectID, g.value, by); err != nil {
		return b, again(fmt.Errorf("seal a value: %w", err))
	}
	return b, nil
}

// runs reports whether calls of the answer are run at all.
func (o *outcome) runs() bool {
	return o.response.Stop != domain.StopMaxTokens && !o.in.Conversational && !o.in.Synthesis
}

// refuse keeps a call from being run.
func (o *outcome) refuse(callID, text string) {
	o.refused[callID] = domain.ToolResult{Text: text, Error: true}
}

func refusalOf(err error) string { return "Not run: " + tools.ErrorText(err) }

package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Holder is a tool whose calls are about things that may change while they wait for an approval.
type Holder interface {
	// Holds is unprocessable, saying what has happened, where what a call that asked is about is
	// not as it was shown any more: it is not to be run then. Run looks at it again.
	Holds(ctx context.Context, scope domain.Scope, input json.RawMessage) error
}

// Holds says why a call that asked can't be approved any more: what it is about has changed, or
// is gone. Nil where nothing has, or where the tool knows no better.
func (r *Registry) Holds(ctx context.Context, scope domain.Scope, name string, input json.RawMessage) error {
	tool, ok := r.byName[name].(Holder)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, judgeLimit)
	defer cancel()
	return tool.Holds(ctx, scope, input)
}

// Handles finds the handles of secrets in a call; see Spec.Handles.
func (r *Registry) Handles(name string, input json.RawMessage) (map[string]domain.SecretRef, error) {
	spec, _ := r.Lookup(name)
	return spec.Handles(input)
}

// notHeld is the error of a call that is about what has changed.
func notHeld(format string, args ...any) error {
	return domain.Errorf(domain.CodeUnprocessable, format, args...)
}

// pinned gives an input with these fields beside its own, or in place of them.
func pinned(input json.RawMessage, fields map[string]any) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	all := map[string]any{}
	if err := dec.Decode(&all); err != nil {
		return nil, fmt.Errorf("pin an input: %w", err)
	}
	maps.Copy(all, fields)
	return json.Marshal(all)
}

// sameMachine is nil where the machine of a call that was shown by this name still has it.
func sameMachine(shown, id, now string) error {
	if shown == "" || shown == now {
		return nil
	}
	return notHeld("the machine was called %q as this was asked for, and is %q now (id %s); look whether it is the right one, and ask again", shown, now, id)
}

// goneMachine is the error of a call about a machine that is not there any more.
func goneMachine(shown, id string) error {
	if shown == "" || shown == id {
		return notHeld("the machine that this was asked for (id %s) is not in the project any more; ask again for one that list_agents has", id)
	}
	return notHeld("the machine that this was asked for (%q, id %s) is not in the project any more, and another of that name is not meant; ask again for one that list_agents has", shown, id)
}

// unrun says of a call that was approved why it was not run.
func unrun(err error) error {
	if domain.CodeOf(err) != domain.CodeUnprocessable {
		return err
	}
	return domain.Errorf(domain.CodeUnprocessable, "it was approved, and was not run: %s", domain.PublicMessage(err))
}

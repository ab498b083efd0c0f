package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/harvest-engine/harvest/internal/domain"
)

// vet gives an order as it may be stored: its description has no values of secrets, and where it
// waits for an approval its handles name the versions that they mean now, so that what is
// approved is what runs. Unprocessable where the line or a variable holds the value of a secret,
// or a handle stands for none: said now, not once its machine is there.
func (e *Engine) vet(ctx context.Context, order domain.CommandOrder) (domain.CommandOrder, error) {
	scrub, err := e.scrub(ctx, order.ProjectID)
	if err != nil {
		return order, err
	}
	if scrub(order.Command) != order.Command {
		return order, domain.Errorf(domain.CodeUnprocessable,
			"the command holds the value of a secret of this project; give it as a variable (env), by its handle secret://NAME")
	}
	order.Description = scrub(order.Description)
	env := maps.Clone(order.Env)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if scrub(env[name]) != env[name] {
			return order, domain.Errorf(domain.CodeUnprocessable, "the variable %s holds the value of a secret of this project; give its handle instead, secret://NAME", name)
		}
		if !domain.HoldsHandle(env[name]) {
			continue
		}
		ref, err := e.standsFor(ctx, order.ProjectID, name, env[name])
		if err != nil {
			return order, err
		}
		if order.Pending {
			env[name] = ref.Handle()
		}
	}
	order.Env = env
	return order, nil
}

// standsFor gives the version of a secret that the handle in a variable means now.
func (e *Engine) standsFor(ctx context.Context, projectID, variable, text string) (domain.SecretRef, error) {
	ref, err := domain.ParseHandle(text)
	if err != nil {
		return ref, domain.Errorf(domain.CodeUnprocessable,
			"the variable %s must be the handle of a secret and nothing else, such as secret://NAME; what belongs around the value goes into the command, as in \"Bearer $%s\"", variable, variable)
	}
	if e.Secrets == nil {
		return ref, domain.Errorf(domain.CodeUnprocessable, "the variable %s names a secret, and this server keeps none", variable)
	}
	now, err := e.Secrets.Pin(ctx, projectID, ref)
	switch domain.CodeOf(err) {
	case domain.CodeNotFound:
		return ref, domain.Errorf(domain.CodeUnprocessable,
			"the variable %s names the secret %s, which this project does not have; save it first (harvest secrets set %s), or name another (harvest secrets list)", variable, ref.Name, ref.Name)
	case domain.CodeConflict:
		return ref, domain.Errorf(domain.CodeUnprocessable,
			"the variable %s names version %d of the secret %s, which is not the newest any more; give secret://%s for the one that is", variable, ref.Version, ref.Name, ref.Name)
	}
	return now, err
}

// ordered gives the command that was ordered by an id before, if it is the same: whoever asks
// again is answered from its row, whatever has changed since.
func (e *Engine) ordered(ctx context.Context, order domain.CommandOrder) (domain.Command, bool) {
	c, err := e.Commands.CommandByID(ctx, order.ID)
	same := err == nil && c.ProjectID == order.ProjectID && c.AgentID == order.AgentID && c.Command == order.Command
	return c, same
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	reapEvery = time.Minute
	// joinPatience is how long a container that was installed well may be without its agent: as
	// long as its install token is good.
	joinPatience = 2*time.Hour + 10*time.Minute
	// changeLimit bounds a change of a container that somebody waits for.
	changeLimit = 2 * time.Minute
)

// AgentStore keeps the agents of projects.
type AgentStore interface {
	// Agent gives an agent of a project, or not_found.
	Agent(ctx context.Context, projectID, id string) (domain.Agent, error)
	// RemoveAgent removes an agent, and ends what it has to do; or not_found.
	RemoveAgent(ctx context.Context, projectID, id string) error
}

// ChangeAgent starts, stops or restarts the container of an agent. Errors: not_found; invalid
// for an agent that is in none; unavailable without an LXD server; upstream with what LXD says.
func (e *Engine) ChangeAgent(ctx context.Context, projectID, agentID string, action domain.ContainerAction) error {
	agent, err := e.Agents.Agent(ctx, projectID, agentID)
	if err != nil {
		return err
	}
	if agent.Provider != domain.ProviderLXD {
		return domain.Invalid("", "%s was installed by hand: only machines in containers that Harvest made can be started and stopped", agent.Hostname)
	}
	server, err := e.containers(ctx)
	if err != nil {
		return err
	}
	ctx, stop := limited(ctx)
	defer stop()
	return asUpstream(server.Change(ctx, agent.Instance, action))
}

// RemoveAgent removes an agent, and the container that it is in first: where that can't be
// removed the agent stays. Errors: not_found; unavailable without an LXD server; upstream with
// what LXD says.
func (e *Engine) RemoveAgent(ctx context.Context, projectID, agentID string) error {
	agent, err := e.Agents.Agent(ctx, projectID, agentID)
	if err != nil {
		return err
	}
	if err := e.removeContainer(ctx, agent); err != nil {
		return err
	}
	return e.Agents.RemoveAgent(ctx, projectID, agentID)
}

func (e *Engine) removeContainer(ctx context.Context, agent domain.Agent) error {
	if agent.Provider != domain.ProviderLXD {
		return nil
	}
	server, err := e.containers(ctx)
	if err != nil {
		return err
	}
	ctx, stop := limited(ctx)
	defer stop()
	return asUpstream(server.Remove(ctx, agent.Instance))
}

func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, changeLimit, domain.Errorf(domain.CodeUpstream, "LXD did not finish within %s; look how the container stands, and try again", changeLimit))
}

// asUpstream makes what LXD does not find an error of LXD's: the agent is there.
func asUpstream(err error) error {
	if domain.CodeOf(err) == domain.CodeNotFound {
		return domain.Wrap(domain.CodeUpstream, err, "%s", domain.PublicMessage(err))
	}
	return err
}

// Reap removes what LXD has and nothing in the database accounts for: what a worker
// left behind that was killed, or whose project is gone. It never hurts to do it twice.
func (e *Engine) Reap(ctx context.Context) error {
	if e.Containers == nil || e.Provisions == nil || e.Containers.Ready() != nil {
		return nil // the way to LXD tells by itself what is wrong
	}
	all, err := e.Containers.List(ctx)
	if err != nil {
		return fmt.Errorf("list containers: %w", err)
	}
	orphans, err := e.Provisions.OrphanContainers(ctx, all, joinPatience)
	if err != nil {
		return err
	}
	failure := each(orphans, func(name string) error {
		if err := e.Containers.Remove(ctx, name); err != nil {
			return fmt.Errorf("remove the orphaned container %s: %w", name, err)
		}
		e.Log.Info().Str("instance", name).Msg("container_reaped")
		return nil
	})
	return errors.Join(failure, e.reapNetworks(ctx))
}

// reapNetworks removes the networks of projects that are gone, once nothing uses them.
func (e *Engine) reapNetworks(ctx context.Context) error {
	all, err := e.Containers.Networks(ctx)
	if err != nil {
		return fmt.Errorf("list networks: %w", err)
	}
	var unused []domain.ContainerNetwork
	for _, n := range all {
		if !n.InUse {
			unused = append(unused, n)
		}
	}
	orphans, err := e.Provisions.OrphanNetworks(ctx, unused)
	if err != nil {
		return err
	}
	return each(orphans, func(name string) error {
		if err := e.Containers.RemoveNetwork(ctx, name); err != nil {
			return fmt.Errorf("remove the orphaned network %s: %w", name, err)
		}
		e.Log.Info().Str("network", name).Msg("network_reaped")
		return nil
	})
}

package lxd

import (
	"context"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	runningLook     = 500 * time.Millisecond
	addressPatience = 20 * time.Second // for a container that runs to get an address
	stopTimeout     = 30               // seconds for a container to end by itself

	scopeGlobal = "global" // of an address that is good beyond its own link
)

// Start starts a container; one that runs is left alone.
func (c *Containers) Start(ctx context.Context, name string) error {
	return c.Change(ctx, name, domain.ContainerStart)
}

// Change starts, stops or restarts a container. One that does not end by itself is killed.
func (c *Containers) Change(ctx context.Context, name string, action domain.ContainerAction) error {
	server, err := c.door.Server()
	if err != nil {
		return err
	}
	found, err := c.find(ctx, server, name)
	if err != nil {
		return err
	}
	running := found.Status == StatusRunning
	switch {
	case action == domain.ContainerStart && running, action == domain.ContainerStop && found.Status == StatusStopped:
		return nil
	case action == domain.ContainerRestart && !running:
		action = domain.ContainerStart
	}
	err = change(ctx, server, name, StateChange{Action: string(action), Timeout: stopTimeout})
	if err != nil && action != domain.ContainerStart && domain.CodeOf(err) == domain.CodeUpstream {
		err = change(ctx, server, name, StateChange{Action: string(action), Timeout: stopTimeout, Force: true})
	}
	return err
}

func change(ctx context.Context, server InstanceServer, name string, to StateChange) error {
	op, err := server.UpdateInstanceState(ctx, name, to)
	if err != nil {
		return err
	}
	_, err = op.Wait(ctx)
	return err
}

// AwaitRunning waits until a container runs, and some seconds for an address of it: what is
// installed there is fetched over the network. One that gets none is not given up here, since only
// whoever needs it can tell why.
func (c *Containers) AwaitRunning(ctx context.Context, name string) error {
	server, err := c.door.Server()
	if err != nil {
		return err
	}
	var runs time.Time // since when it is known to
	for {
		found, err := c.find(ctx, server, name)
		if err != nil {
			return err
		}
		if found.Status == StatusRunning {
			if runs.IsZero() {
				runs = time.Now()
			}
			state, err := server.GetInstanceState(ctx, name)
			if err != nil || state.addressed() || time.Since(runs) > c.patience {
				return err
			}
		}
		pause(ctx, runningLook)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// addressed reports whether others can reach the instance, and it them.
func (s InstanceState) addressed() bool {
	for _, device := range s.Network {
		for _, a := range device.Addresses {
			if a.Scope == scopeGlobal {
				return true
			}
		}
	}
	return false
}

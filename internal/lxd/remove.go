package lxd

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// removeTries is how often a container is removed that others change at the same time.
const removeTries = 10

// Remove removes a container with all that is in it, whether it runs or not. One that is gone
// is no error. Where somebody else changes it at the same moment it is tried again.
func (c *Containers) Remove(ctx context.Context, name string) error {
	server, err := c.door.Server()
	if err != nil {
		return err
	}
	return patiently(ctx, func() error {
		if err := settle(ctx, server, name); err != nil {
			return err
		}
		return c.removeSettled(ctx, server, name)
	})
}

// removeUnused removes a container that was never started; superseded where it runs. An attempt
// that was held up for long, and meanwhile replaced, does so no harm to what the other has made: it
// looks before it cancels what goes on, and LXD itself refuses to delete what runs.
func (c *Containers) removeUnused(ctx context.Context, server InstanceServer, name string) error {
	return patiently(ctx, func() error {
		if _, err := c.unused(ctx, server, name); err != nil {
			return err
		}
		if err := settle(ctx, server, name); err != nil {
			return err
		}
		there, err := c.unused(ctx, server, name)
		if err != nil || !there {
			return err
		}
		return deleteStopped(ctx, server, name)
	})
}

// unused reports whether there is a container of ours that does not run; superseded where it does.
func (c *Containers) unused(ctx context.Context, server InstanceServer, name string) (there bool, err error) {
	found, err := c.find(ctx, server, name)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound:
		return false, nil
	case err == nil && found.Status == StatusRunning:
		return true, domain.Errorf(domain.CodeSuperseded, "the container %s runs already: somebody else has made and started it", name)
	}
	return err == nil, err
}

// patiently does something to a container, again where somebody else changes that at the moment.
func patiently(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		if err := do(); !busy(err) || try == removeTries {
			return err
		}
		if pause(ctx, runningLook); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// busy reports whether LXD refused because of another operation on the same container.
func busy(err error) bool {
	return statusOf(err) == http.StatusBadRequest && strings.Contains(err.Error(), "busy")
}

// removeSettled removes a container with which nothing went on a moment ago.
func (c *Containers) removeSettled(ctx context.Context, server InstanceServer, name string) error {
	found, err := c.find(ctx, server, name)
	switch {
	case domain.CodeOf(err) == domain.CodeNotFound:
		return nil
	case err != nil:
		return err
	case found.protected(): // before it is stopped for nothing
		return domain.Errorf(domain.CodeUpstream, "the container %s is protected from being deleted; lift that first: lxc config set %s %s false", name, name, keyProtected)
	case found.Status != StatusStopped:
		err := change(ctx, server, name, StateChange{Action: string(domain.ContainerStop), Force: true, Timeout: -1})
		if found, _ = c.find(ctx, server, name); err != nil && found.Status != StatusStopped && found.Name != "" {
			return err
		}
	}
	return deleteStopped(ctx, server, name)
}

// deleteStopped deletes a container that does not run. One that is gone in the end is no error.
func deleteStopped(ctx context.Context, server InstanceServer, name string) error {
	op, err := server.DeleteInstance(ctx, name)
	if err == nil {
		_, err = op.Wait(ctx)
	}
	if err != nil {
		if _, gone := server.GetInstance(ctx, name); domain.CodeOf(gone) == domain.CodeNotFound {
			return nil
		}
	}
	return err
}

// keyProtected is LXD's name of what keeps a container from being deleted.
const keyProtected = "security.protection.delete"

// protected reports whether LXD will refuse to delete it, by its own configuration or a
// profile's.
func (i Instance) protected() bool {
	return i.Config[keyProtected] == "true" || i.Expanded[keyProtected] == "true"
}

// settle waits for what goes on with a container: work that an earlier attempt began, and that
// could not be canceled.
func settle(ctx context.Context, server InstanceServer, name string) error {
	all, err := server.GetOperations(ctx)
	if err != nil {
		return err
	}
	for _, op := range all {
		mine := slices.ContainsFunc(slices.Concat(op.Resources["instances"], op.Resources["containers"]), func(path string) bool {
			path, _, _ = strings.Cut(path, "?")
			return path[strings.LastIndex(path, "/")+1:] == name
		})
		if !mine || op.over() {
			continue
		}
		running := server.GetOperation(op.ID)
		if op.MayCancel {
			if err := running.Cancel(ctx); err != nil {
				return err
			}
		}
		if len(op.Metadata.FDs) > 0 {
			continue // an exec ends with its container
		}
		if _, err := running.Wait(ctx); ctx.Err() != nil {
			return err // else it has ended, and how does not matter
		}
	}
	return nil
}

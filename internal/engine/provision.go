package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

// The bounds of what a person says of a container, in characters.
const (
	maxAgentName        = 100
	maxAgentDescription = 500
)

// ProvisionStore keeps the makings of agents in containers.
type ProvisionStore interface {
	// CreateProvision stores a queued provision; one of that id or key is given back. Errors:
	// unprocessable where the key came with another request; not_found for a project that is gone.
	CreateProvision(ctx context.Context, order domain.ProvisionOrder) (domain.Provision, error)
	// Provision gives a provision, or not_found.
	Provision(ctx context.Context, id string) (domain.Provision, error)
	// RequestProvisionCancel records that it is to stop; conflict where it has ended.
	RequestProvisionCancel(ctx context.Context, id string) (domain.Provision, error)
	// MarkProvisionLaunched records that its workflow was started.
	MarkProvisionLaunched(ctx context.Context, id string) error
	// UnstartedProvisions lists those older than age that are not known to have a workflow.
	UnstartedProvisions(ctx context.Context, age time.Duration, limit int) ([]domain.Provision, error)
	// OpenProvisions lists those older than age that have not ended, by id, after the given one.
	OpenProvisions(ctx context.Context, age time.Duration, after string, limit int) ([]domain.Provision, error)
	// ProjectProvisions lists those of a project that have not ended.
	ProjectProvisions(ctx context.Context, projectID string) ([]domain.Provision, error)
	// EndProvision ends one with its terminal event; one that has ended stays as it is.
	EndProvision(ctx context.Context, id string, code domain.Code, message string) (domain.Provision, error)
	// OrphanContainers gives those of the containers that nothing accounts for.
	OrphanContainers(ctx context.Context, all []domain.Container, patience time.Duration) ([]string, error)
	// OrphanNetworks gives those of the networks whose project is gone.
	OrphanNetworks(ctx context.Context, all []domain.ContainerNetwork) ([]string, error)
}

// Containers is the part of an LXD server that the engine uses.
type Containers interface {
	// Ready gives what keeps containers from being made; nil for nothing.
	Ready() error
	// Reach does the same after a look at once, for which it waits some seconds, where the server
	// was away.
	Reach(ctx context.Context) error
	// Join makes the server trust this installation, by a fresh trust token: invalid, conflict, or
	// unavailable with what is in the way.
	Join(ctx context.Context, token string) error
	// Change starts, stops or restarts a container; not_found where there is none.
	Change(ctx context.Context, name string, action domain.ContainerAction) error
	// Remove removes a container; one that is gone is no error.
	Remove(ctx context.Context, name string) error
	// List gives the containers that this installation made.
	List(ctx context.Context) ([]domain.Container, error)
	// Networks gives the networks that this installation made.
	Networks(ctx context.Context) ([]domain.ContainerNetwork, error)
	// RemoveNetwork removes a network.
	RemoveNetwork(ctx context.Context, name string) error
}

// ErrNoLXD is the error of a server that makes no containers.
var ErrNoLXD = domain.Errorf(domain.CodeUnavailable, "this server makes no containers: it has no [lxd] section in its configuration")

// containers gives the server, or unavailable.
func (e *Engine) containers(ctx context.Context) (Containers, error) {
	if e.Containers == nil {
		return nil, ErrNoLXD
	}
	return e.Containers, e.Containers.Reach(ctx)
}

func (e *Engine) installs() error {
	if e.Installs == nil {
		return nil
	}
	return e.Installs()
}

// MakesContainers reports whether there is an LXD server that can be used now.
func (e *Engine) MakesContainers() bool {
	return e.Containers != nil && e.Containers.Ready() == nil && e.installs() == nil
}

// JoinLXD makes the LXD server trust this installation, by a fresh trust token: invalid,
// conflict, or unavailable with what is in the way.
func (e *Engine) JoinLXD(ctx context.Context, token string) error {
	if e.Containers == nil {
		return ErrNoLXD
	}
	return e.Containers.Join(ctx, token)
}

// Flavors lists the sizes of containers, or gives unavailable where none are made.
func (e *Engine) Flavors() ([]domain.Flavor, error) {
	if e.Containers == nil {
		return nil, ErrNoLXD
	}
	return domain.Flavors(), nil
}

// StartProvision stores the order and starts to make an agent in a container, or gives what was
// begun by the same id or key. Errors: invalid; unavailable without an LXD server;
// unprocessable where the key came with another order.
func (e *Engine) StartProvision(ctx context.Context, order domain.ProvisionOrder) (domain.Provision, error) {
	order.Name, order.Description = strings.TrimSpace(order.Name), strings.TrimSpace(order.Description)
	switch {
	case order.Name == "":
		return domain.Provision{}, domain.Invalid("name", "is missing; it names the agent's machine")
	case utf8.RuneCountInString(order.Name) > maxAgentName || domain.CleanText(order.Name) != order.Name:
		return domain.Provision{}, domain.Invalid("name", "must be a text of 1 to %d characters", maxAgentName)
	case utf8.RuneCountInString(order.Description) > maxAgentDescription || domain.CleanText(order.Description) != order.Description:
		return domain.Provision{}, domain.Invalid("description", "must be a text of at most %d characters", maxAgentDescription)
	}
	if _, err := domain.FindFlavor(order.Flavor); err != nil {
		return domain.Provision{}, err
	}
	if _, err := e.containers(ctx); err != nil {
		return domain.Provision{}, err
	}
	if err := e.installs(); err != nil {
		return domain.Provision{}, err
	}
	if order.ID == "" {
		order.ID = domain.NewID()
	}
	order.Instance, order.Hash = domain.InstanceName(order.Name, order.ID), orderHash(order)
	p, err := e.Provisions.CreateProvision(ctx, order)
	if err != nil {
		return p, err
	}
	if !p.Status.Final() && !p.Launched {
		if err := e.launchProvision(context.WithoutCancel(ctx), p); err != nil {
			e.Log.Warn().Str("provision_id", p.ID).Err(err).Msg("provision_launch_postponed")
		}
	}
	return p, nil
}

// orderHash stands for what is asked.
func orderHash(o domain.ProvisionOrder) []byte {
	sum := sha256.Sum256(bytes.Join([][]byte{[]byte(o.Name), []byte(o.Description), []byte(o.Flavor)}, []byte{0}))
	return sum[:]
}

// Provision gives the making of an agent of a project, or not_found.
func (e *Engine) Provision(ctx context.Context, projectID, id string) (domain.Provision, error) {
	if e.Provisions == nil {
		return domain.Provision{}, ErrNoLXD
	}
	p, err := e.Provisions.Provision(ctx, id)
	if err == nil && p.ProjectID != projectID {
		return domain.Provision{}, domain.Hidden("there is no provision %q", id)
	}
	return p, err
}

// FollowProvision gives its events after the cursor, the stored ones first and then those to
// come, and ends after the terminal event or with ctx.
func (e *Engine) FollowProvision(ctx context.Context, id string, after domain.Cursor) iter.Seq2[domain.Event, error] {
	return e.Events.Follow(ctx, id, after)
}

// AwaitProvision waits for its end, or that of ctx.
func (e *Engine) AwaitProvision(ctx context.Context, projectID, id string) (domain.Provision, error) {
	if err := e.waitEnd(ctx, id); err != nil {
		return domain.Provision{}, err
	}
	return e.Provision(ctx, projectID, id)
}

// CancelProvision asks it to stop and to remove what it has made. One that has ended is a
// conflict. The row comes first: what does not reach the workflow the reconciler repeats.
func (e *Engine) CancelProvision(ctx context.Context, projectID, id string) (domain.Provision, error) {
	if _, err := e.Provision(ctx, projectID, id); err != nil {
		return domain.Provision{}, err
	}
	p, err := e.Provisions.RequestProvisionCancel(ctx, id)
	if err != nil {
		return p, err
	}
	if err := e.cancel(context.WithoutCancel(ctx), workflows.ProvisionWorkflowID(id)); err != nil {
		e.Log.Warn().Str("provision_id", id).Err(err).Msg("provision_cancel_postponed")
	}
	return p, nil
}

func (e *Engine) launchProvision(ctx context.Context, p domain.Provision) error {
	ctx, stop := context.WithTimeout(ctx, launchTimeout)
	defer stop()
	return e.start(ctx, launch{
		id: workflows.ProvisionWorkflowID(p.ID), queue: e.Queues.Deploy, workflow: workflows.ProvisionAgent.Name,
		input:   workflows.ProvisionInput{ProvisionID: p.ID, ProjectID: p.ProjectID, Instance: p.Instance},
		labels:  labels{kind: "provision", user: p.UserID, project: p.ProjectID, subject: p.ID},
		memo:    map[string]any{"provision_id": p.ID, "instance": p.Instance},
		summary: "Make the container " + p.Instance,
	})
}

// sweepProvisions starts provisions that were not.
func (e *Engine) sweepProvisions(ctx context.Context) error {
	if e.Provisions == nil {
		return nil
	}
	return pass(ctx, "unstarted provisions", e.Provisions.UnstartedProvisions, sweepAge, func(ctx context.Context, p domain.Provision) error {
		return e.begin(ctx, unstarted{
			kind: "provision", id: p.ID, mark: e.Provisions.MarkProvisionLaunched,
			launch: func(ctx context.Context) error { return e.launchProvision(ctx, p) },
			refuse: func(ctx context.Context, cause error) error {
				_, err := e.Provisions.EndProvision(ctx, p.ID, domain.CodeInternal, domain.PublicMessage(cause))
				return err
			},
		})
	})
}

func (e *Engine) reconcileProvision(ctx context.Context, p domain.Provision) error {
	return e.settle(ctx, openRow{
		kind: "provision", id: p.ID, workflow: workflows.ProvisionWorkflowID(p.ID), launched: p.Launched, cancel: p.CancelRequested,
		end: func(ctx context.Context, found verdict) error { // its container, if there is one, is an orphan from now on
			_, err := e.Provisions.EndProvision(ctx, p.ID, found.code, found.message)
			return err
		},
	})
}

// endProvisions stops what is being made for a project.
func (e *Engine) endProvisions(ctx context.Context, projectID string) error {
	if e.Provisions == nil {
		return nil
	}
	open, err := e.Provisions.ProjectProvisions(ctx, projectID)
	if err != nil {
		return fmt.Errorf("list the provisions of the project: %w", err)
	}
	var failures []error
	for _, p := range open {
		if _, err := e.CancelProvision(ctx, projectID, p.ID); err != nil && domain.CodeOf(err) != domain.CodeConflict {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

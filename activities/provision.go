package activities

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

const (
	// TokenLife is how long the agent of a container may take to connect for the first time.
	TokenLife = 2 * time.Hour
	// errorLength bounds what is told of a failure, in bytes: Temporal keeps 4 KiB of it.
	errorLength = 3500
	// stepMargin is how much sooner than its activity a step gives up, to say so itself.
	stepMargin = 5 * time.Second
)

// ProvisionStore keeps provisions, their events and their tokens.
type ProvisionStore interface {
	// BeginProvision marks a queued provision as running, unless it was canceled.
	BeginProvision(ctx context.Context, id string) (domain.Provision, error)
	// Provision gives a provision, or not_found.
	Provision(ctx context.Context, id string) (domain.Provision, error)
	// NotePhase records the phase, once; canceled where the provision is to stop, or has ended.
	NotePhase(ctx context.Context, id string, phase domain.ProvisionPhase) error
	// NoteTry records that the installation failed by what message says, and will be tried again,
	// likewise.
	NoteTry(ctx context.Context, id string, try, tries int, message string) error
	// NoteProvision tells what goes on in a phase, once as long as it stays the same.
	NoteProvision(ctx context.Context, id string, note domain.ProvisionNote) error
	// ProvisionToken gives the install token of the provision, and keeps text as such where it
	// has none.
	ProvisionToken(ctx context.Context, id, text string, hash []byte, life time.Duration) (string, error)
	// InstanceAgents gives the ids of the agents of a container.
	InstanceAgents(ctx context.Context, projectID, instance string) ([]string, error)
	// RemoveAgent removes an agent, or gives not_found.
	RemoveAgent(ctx context.Context, projectID, id string) error
	// EndProvision ends the provision, unless it has ended, or is to stop and code is "".
	EndProvision(ctx context.Context, id string, code domain.Code, message string) (domain.Provision, error)
}

// Containers does what there is to do on an LXD server. All of it may be repeated.
type Containers interface {
	EnsureNetwork(ctx context.Context, projectID string) error
	// Create makes a container. It tells how far that is, where that takes long.
	Create(ctx context.Context, order domain.ContainerOrder, tell func(how string)) error
	Start(ctx context.Context, name string) error
	AwaitRunning(ctx context.Context, name string) error
	RunScript(ctx context.Context, name, script string, env map[string]string) error
	Remove(ctx context.Context, name string) error
}

// Installer gives what installs an agent on a machine.
type Installer interface {
	// InstallScript gives the script that any machine of the project is installed by, and the
	// variable in which it takes the install token.
	InstallScript(ctx context.Context, projectID string) (script, tokenVariable string, err error)
}

// Provision makes agents in containers.
type Provision struct {
	Store      ProvisionStore
	Containers Containers // nil: this server has no [lxd]
	Installer  Installer
	Secrets    domain.Scrubbers
}

// errNoLXD is the error of a worker that can't make containers.
var errNoLXD = domain.Errorf(domain.CodeUnavailable, "this worker has no [lxd] section, without which it can't make containers; give all workers the same configuration")

// Begin marks the provision as running.
func (a *Provision) Begin(ctx context.Context, in workflows.ProvisionInput) (workflows.BeginProvisionResult, error) {
	defer beatUnlessLocal(ctx)()
	p, err := a.Store.BeginProvision(ctx, in.ProvisionID)
	if err != nil {
		return workflows.BeginProvisionResult{}, fmt.Errorf("begin provision: %w", err)
	}
	return workflows.BeginProvisionResult{Go: p.Status == domain.ProvisionRunning && !p.CancelRequested, Status: p.Status}, nil
}

// Network makes the network of the project where it is missing.
func (a *Provision) Network(ctx context.Context, in workflows.ProvisionStep) (struct{}, error) {
	return a.step(ctx, in, domain.PhaseNetwork, func(ctx context.Context) error {
		return a.Containers.EnsureNetwork(ctx, in.ProjectID)
	})
}

// Token makes the token by which the container's agent joins the project.
func (a *Provision) Token(ctx context.Context, in workflows.ProvisionStep) (struct{}, error) {
	return a.step(ctx, in, domain.PhaseToken, func(ctx context.Context) error {
		_, err := a.token(ctx, in.ProvisionID)
		return err
	})
}

// token gives the provision's token, which is made by the first that asks.
func (a *Provision) token(ctx context.Context, id string) (string, error) {
	text := "hvi_" + rand.Text()
	hash := sha256.Sum256([]byte(text))
	return a.Store.ProvisionToken(ctx, id, text, hash[:], TokenLife)
}

// Create makes the container.
func (a *Provision) Create(ctx context.Context, in workflows.ProvisionStep) (struct{}, error) {
	return a.step(ctx, in, domain.PhaseCreate, func(ctx context.Context) error {
		p, err := a.Store.Provision(ctx, in.ProvisionID)
		if err != nil {
			return err
		}
		flavor, err := domain.FindFlavor(p.Flavor)
		if err != nil {
			return err
		}
		return a.Containers.Create(ctx, domain.ContainerOrder{
			Container: domain.Container{Name: in.Instance, ProjectID: in.ProjectID, Provision: in.ProvisionID}, Flavor: flavor,
		}, func(how string) {
			a.note(ctx, in.ProvisionID, domain.ProvisionNote{Phase: domain.PhaseCreate, Message: how})
		})
	})
}

// Start starts the container.
func (a *Provision) Start(ctx context.Context, in workflows.ProvisionStep) (struct{}, error) {
	return a.step(ctx, in, domain.PhaseStart, func(ctx context.Context) error { return a.Containers.Start(ctx, in.Instance) })
}

// Await waits until the container runs.
func (a *Provision) Await(ctx context.Context, in workflows.ProvisionStep) (struct{}, error) {
	return a.step(ctx, in, domain.PhaseRunning, func(ctx context.Context) error { return a.Containers.AwaitRunning(ctx, in.Instance) })
}

// Install runs the install script in the container.
func (a *Provision) Install(ctx context.Context, in workflows.ProvisionStep) (struct{}, error) {
	return a.step(ctx, in, domain.PhaseInstall, func(ctx context.Context) error {
		token, err := a.token(ctx, in.ProvisionID)
		if err != nil {
			return err
		}
		script, variable, err := a.Installer.InstallScript(ctx, in.ProjectID)
		if err != nil {
			return err
		}
		return a.Containers.RunScript(ctx, in.Instance, script, map[string]string{variable: token})
	})
}

// Retry tells that the installation failed and will be tried again.
func (a *Provision) Retry(ctx context.Context, in workflows.ProvisionStep) (struct{}, error) {
	defer beatUnlessLocal(ctx)()
	return struct{}{}, a.Store.NoteTry(ctx, in.ProvisionID, in.Try, in.Tries, in.Failure)
}

// Remove removes the container with the agents that joined from it. It goes on until that is
// done, whatever LXD says.
func (a *Provision) Remove(ctx context.Context, in workflows.ProvisionInput) (struct{}, error) {
	defer beat(ctx)()
	if a.Containers == nil {
		return struct{}{}, errNoLXD
	}
	if activity.GetInfo(ctx).Attempt == 1 {
		a.note(ctx, in.ProvisionID, domain.ProvisionNote{Phase: domain.PhaseRemoving, Message: "what was made of it is being removed"})
	}
	if err := a.Containers.Remove(ctx, in.Instance); err != nil {
		text := a.told(ctx, in, err)
		a.note(ctx, in.ProvisionID, domain.ProvisionNote{Phase: domain.PhaseRemoving, Message: text, Waiting: true})
		return struct{}{}, domain.Errorf(domain.CodeUnavailable, "%s", text)
	}
	agents, err := a.Store.InstanceAgents(ctx, in.ProjectID, in.Instance)
	if err != nil {
		return struct{}{}, fmt.Errorf("find the agents of the container: %w", err)
	}
	for _, id := range agents {
		if err := a.Store.RemoveAgent(ctx, in.ProjectID, id); err != nil && domain.CodeOf(err) != domain.CodeNotFound {
			return struct{}{}, fmt.Errorf("remove the agent of the container: %w", err)
		}
	}
	return struct{}{}, nil
}

// Finish ends the provision. One that is gone with its project has ended.
func (a *Provision) Finish(ctx context.Context, in workflows.FinishProvisionInput) (workflows.ProvisionResult, error) {
	defer beatUnlessLocal(ctx)()
	p, err := a.Store.EndProvision(ctx, in.ProvisionID, in.Code, in.Message)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return workflows.ProvisionResult{Status: domain.ProvisionCanceled}, nil
	}
	if err != nil {
		return workflows.ProvisionResult{}, fmt.Errorf("end provision: %w", err)
	}
	if p.Status == domain.ProvisionFailed {
		activity.GetLogger(ctx).Error("provision_failed", "provision_id", p.ID, "instance", p.Instance, "phase", p.Phase, "code", p.ErrorCode, "reason", p.Error)
	}
	return workflows.ProvisionResult{Status: p.Status}, nil
}

// step does a phase: it tells of it, works within the activity's time, and gives an error that
// people can be shown whole.
func (a *Provision) step(ctx context.Context, in workflows.ProvisionStep, phase domain.ProvisionPhase, do func(context.Context) error) (struct{}, error) {
	defer beat(ctx)()
	if a.Containers == nil {
		return struct{}{}, errNoLXD
	}
	if err := a.Store.NotePhase(ctx, in.ProvisionID, phase); err != nil {
		return struct{}{}, err
	}
	limit := activity.GetInfo(ctx).StartToCloseTimeout - stepMargin
	limited, stop := context.WithTimeoutCause(ctx, limit,
		domain.Errorf(domain.CodeUpstream, "LXD did not finish within %s", limit.Round(time.Second)))
	defer stop()
	err := do(limited)
	if ctx.Err() != nil {
		return struct{}{}, ctx.Err()
	}
	if err == nil {
		return struct{}{}, nil
	}
	code := domain.CodeOf(err)
	if code == domain.CodeInternal {
		return struct{}{}, err // its text stays inside
	}
	if code == domain.CodeNotFound { // of LXD's: to who asked for a container it is no missing page
		code = domain.CodeUpstream
	}
	text := a.told(ctx, in.ProvisionInput, err)
	if code == domain.CodeUnavailable { // it is waited for
		a.note(ctx, in.ProvisionID, domain.ProvisionNote{Phase: phase, Message: text, Waiting: true})
	}
	return struct{}{}, domain.Errorf(code, "%s", text)
}

// note tells what goes on in a phase. Nothing fails because that is not told.
func (a *Provision) note(ctx context.Context, id string, note domain.ProvisionNote) {
	if err := a.Store.NoteProvision(ctx, id, note); err != nil && ctx.Err() == nil {
		activity.GetLogger(ctx).Warn("provision_note_lost", "provision_id", id, "error", err)
	}
}

// told gives the whole of an error without secrets: those of the project, and the token.
func (a *Provision) told(ctx context.Context, in workflows.ProvisionInput, err error) string {
	text := chain(err)
	if token, failed := a.token(ctx, in.ProvisionID); failed == nil {
		text = strings.ReplaceAll(text, token, "[install token]")
	}
	scrubber, failed := a.Secrets.Scrubber(ctx, in.ProjectID)
	if failed != nil {
		return "it failed, and what it said can't be shown: the secrets of the project can't be opened to take them out of it"
	}
	text = scrubber.Scrub(text)
	if len(text) > errorLength {
		text = strings.ToValidUTF8(text[:errorLength], "") + " …"
	}
	return text
}

// chain gives the texts of an error and of what caused it, each once.
func chain(err error) string {
	text := ""
	for ; err != nil; err = errors.Unwrap(err) {
		part := err.Error()
		var known *domain.Error
		if errors.As(err, &known) && error(known) == err {
			part = known.Message
		}
		if part == "" || strings.Contains(text, part) {
			continue
		}
		if text != "" {
			text += ": "
		}
		text += part
	}
	return text
}

package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/flow"
)

const (
	// installTries is how often the agent is installed, and installPause the time between: a
	// container that runs may not have booted yet, nor have a network.
	installTries = 4
	installPause = 10 * time.Second
)

// ProvisionWorkflowID names the workflow that makes an agent in a container.
func ProvisionWorkflowID(provisionID string) string { return "provision/" + provisionID }

// ProvisionInput names what is to be made. What the clean-up needs is in it: the row goes with
// its project.
type ProvisionInput struct {
	ProvisionID string `json:"provision_id"`
	ProjectID   string `json:"project_id"`
	Instance    string `json:"instance"` // the container's name
}

// ProvisionStep is the input of a phase.
type ProvisionStep struct {
	ProvisionInput
	Try     int    `json:"try,omitempty"` // of the installation, from 1
	Tries   int    `json:"tries,omitempty"`
	Failure string `json:"failure,omitempty"` // by what the try before it failed, for people
}

// BeginProvisionResult says whether to go on.
type BeginProvisionResult struct {
	Go     bool                   `json:"go"`
	Status domain.ProvisionStatus `json:"status"`
}

// FinishProvisionInput ends a provision: well without a code.
type FinishProvisionInput struct {
	ProvisionID string      `json:"provision_id"`
	Code        domain.Code `json:"code,omitempty"`
	Message     string      `json:"message,omitempty"`
}

// ProvisionResult says how a provision ended.
type ProvisionResult struct {
	Status domain.ProvisionStatus `json:"status"`
}

// The workflow and its activities.
var (
	ProvisionAgent = flow.Workflow[ProvisionInput, ProvisionResult]{Name: "lxd.provision"}

	BeginProvision  = flow.Activity[ProvisionInput, BeginProvisionResult]{Name: "provision.begin"}
	EnsureNetwork   = flow.Activity[ProvisionStep, struct{}]{Name: "lxd.network"}
	MakeToken       = flow.Activity[ProvisionStep, struct{}]{Name: "provision.token"}
	CreateContainer = flow.Activity[ProvisionStep, struct{}]{Name: "lxd.create"}
	StartContainer  = flow.Activity[ProvisionStep, struct{}]{Name: "lxd.start"}
	AwaitContainer  = flow.Activity[ProvisionStep, struct{}]{Name: "lxd.wait"}
	InstallAgent    = flow.Activity[ProvisionStep, struct{}]{Name: "lxd.install"}
	RetryInstall    = flow.Activity[ProvisionStep, struct{}]{Name: "provision.retry"}
	RemoveContainer = flow.Activity[ProvisionInput, struct{}]{Name: "lxd.remove"}
	FinishProvision = flow.Activity[FinishProvisionInput, ProvisionResult]{Name: "provision.finish"}
)

// The time that each phase may take, with its repetitions while LXD is away.
const (
	networkLimit = 2 * time.Minute
	tokenLimit   = time.Minute
	createLimit  = 20 * time.Minute // an image may have to be fetched
	startLimit   = 3 * time.Minute
	runningLimit = 3 * time.Minute
	installLimit = 10 * time.Minute // of one try
	removeLimit  = 4 * time.Minute
)

// containerStep is the class of steps on an LXD server. What LXD refuses is final; a server
// that is away is waited for.
func containerStep(ctx workflow.Context, limit time.Duration, attempts int32, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    limit,
		ScheduleToCloseTimeout: 2 * limit,
		HeartbeatTimeout:       heartbeatTimeout,
		WaitForCancellation:    true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval:    time.Second,
			BackoffCoefficient: 1.5,
			MaximumInterval:    10 * time.Second,
			MaximumAttempts:    attempts,
		},
		Summary: summary,
	})
}

// provisionPatience is the change by which the short steps of a provision wait for a database that
// is away, however long, as those of turns and commands do. Before it they failed after five
// minutes, and what was made by then was removed for nothing.
const provisionPatience = "provision-patience"

// RunProvisionAgent makes an agent in a container of its own, and leaves nothing behind where
// that does not succeed, or is canceled.
func RunProvisionAgent(ctx workflow.Context, in ProvisionInput) (ProvisionResult, error) {
	p := &provisioning{in: in, patient: workflow.GetVersion(ctx, provisionPatience, workflow.DefaultVersion, 1) >= 1}
	begun, err := noted(ctx, p, BeginProvision, in, "begin")
	if err == nil && !begun.Go && begun.Status.Final() {
		return ProvisionResult{Status: begun.Status}, nil
	}
	if err == nil && !begun.Go { // canceled before it began
		return p.end(ctx, temporal.NewCanceledError())
	}
	if err == nil {
		err = p.make(ctx)
	}
	if err == nil {
		var result ProvisionResult
		result, err = noted(ctx, p, FinishProvision, FinishProvisionInput{ProvisionID: in.ProvisionID}, "finish")
		if err == nil && result.Status.Final() {
			return result, nil
		}
		if err == nil { // somebody asked to stop in the last moment
			err = temporal.NewCanceledError()
		}
	}
	return p.compensate(ctx, err)
}

type provisioning struct {
	in      ProvisionInput
	patient bool // see provisionPatience
}

// noted runs a short step on the store.
func noted[In, Out any](ctx workflow.Context, p *provisioning, activity flow.Activity[In, Out], in In, summary string) (Out, error) {
	if p.patient {
		return step(ctx, activity, in, summary)
	}
	local := storeStep(ctx, summary)
	return activity.ExecuteLocal(local, in).Result(local)
}

// make goes through the phases.
func (p *provisioning) make(ctx workflow.Context) error {
	for _, phase := range []struct {
		name     domain.ProvisionPhase
		do       flow.Activity[ProvisionStep, struct{}]
		limit    time.Duration
		attempts int32
		summary  string
	}{
		{domain.PhaseNetwork, EnsureNetwork, networkLimit, 30, "network of the project"},
		{domain.PhaseToken, MakeToken, tokenLimit, 30, "install token"},
		{domain.PhaseCreate, CreateContainer, createLimit, 30, "create " + p.in.Instance},
		{domain.PhaseStart, StartContainer, startLimit, 30, "start " + p.in.Instance},
		{domain.PhaseRunning, AwaitContainer, runningLimit, 30, "wait for " + p.in.Instance},
	} {
		workflow.SetCurrentDetails(ctx, "Phase "+string(phase.name)+" of the container "+p.in.Instance+".")
		step := containerStep(ctx, phase.limit, phase.attempts, phase.summary)
		if _, err := phase.do.Execute(step, ProvisionStep{ProvisionInput: p.in}).Result(step); err != nil {
			return err
		}
	}
	return p.install(ctx)
}

// install runs the install script, again after a pause where it fails: it may be repeated.
func (p *provisioning) install(ctx workflow.Context) error {
	for try := 1; ; try++ {
		workflow.SetCurrentDetails(ctx, "Phase "+string(domain.PhaseInstall)+" of the container "+p.in.Instance+".")
		step := containerStep(ctx, installLimit, 30, "install the agent")
		_, err := InstallAgent.Execute(step, ProvisionStep{ProvisionInput: p.in}).Result(step)
		code, reason := failureReason(err)
		if err == nil || try == installTries || code == domain.CodeCanceled {
			return err
		}
		if _, err := noted(ctx, p, RetryInstall, ProvisionStep{p.in, try + 1, installTries, reason}, "try again"); err != nil {
			return err
		}
		if err := workflow.Sleep(ctx, installPause); err != nil {
			return err
		}
	}
}

// compensate removes what was made, also where ctx is canceled, and ends the provision. What
// can't be removed now the reaper removes later.
func (p *provisioning) compensate(ctx workflow.Context, cause error) (ProvisionResult, error) {
	free, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	workflow.SetCurrentDetails(free, "Removing the container "+p.in.Instance+".")
	step := containerStep(free, removeLimit, 40, "remove "+p.in.Instance)
	if _, err := RemoveContainer.Execute(step, p.in).Result(step); err != nil {
		workflow.GetLogger(ctx).Error("a container could not be removed yet", "instance", p.in.Instance, "error", err)
	}
	return p.end(ctx, cause)
}

// end ends the provision with the reason of a failure. The workflow fails where the provision
// did, so that it is red in the Temporal UI too.
func (p *provisioning) end(ctx workflow.Context, cause error) (ProvisionResult, error) {
	free, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	in := FinishProvisionInput{ProvisionID: p.in.ProvisionID}
	in.Code, in.Message = failureReason(cause)
	if in.Code == domain.CodeCanceled {
		in.Message = "it was canceled; what was made is removed again"
	}
	result, err := noted(free, p, FinishProvision, in, "finish")
	if err != nil {
		return result, err
	}
	return result, cause
}

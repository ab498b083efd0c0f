package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	maxDecisions   = 100
	maxReasonBytes = 10_000
)

// waitingTurn is what a blocking query answers where its turn waits for a person.
type waitingTurn struct {
	TurnID  string            `json:"turn_id"`
	Status  domain.TurnStatus `json:"status"`
	Actions []domain.Action   `json:"actions"`
}

// waiting answers 202 with what a turn waits for. The turn goes on later.
func (s *Server) waiting(ctx context.Context, turn domain.Turn) (raw, error) {
	actions, err := listing(s.Actions.WaitingActions(ctx, turn.ID)) // none where it is decided at this moment
	return raw{status: http.StatusAccepted, json: encode(waitingTurn{turn.ID, domain.TurnWaiting, actions})}, err
}

// action answers GET /actions/:id.
func (s *Server) action(ctx context.Context, r request[none]) (domain.Action, error) {
	return s.visibleAction(ctx, r.caller, r.path["id"])
}

// projectAction answers GET /projects/:pid/actions/:id.
func (s *Server) projectAction(ctx context.Context, r request[none]) (domain.Action, error) {
	a, err := s.Actions.Action(ctx, r.path["id"])
	if err == nil && a.ProjectID != r.project.ID {
		err = noAction(r.path["id"])
	}
	return a, err
}

// noAction is the answer about an action that the caller may not see.
func noAction(id string) error { return domain.Hidden("there is no action %q", id) }

// visibleAction loads an action that the caller may see: of an own turn, or of a project.
func (s *Server) visibleAction(ctx context.Context, who caller, id string) (domain.Action, error) {
	a, err := s.Actions.Action(ctx, id)
	if err != nil {
		return a, err
	}
	if a.ProjectID == "" {
		if a.Requester != who.UserID {
			return domain.Action{}, noAction(id)
		}
		return a, nil
	}
	project, err := s.Projects.Project(ctx, a.ProjectID)
	if err == nil && !project.VisibleTo(who.Actor) || domain.CodeOf(err) == domain.CodeNotFound {
		return domain.Action{}, noAction(id)
	}
	return a, err
}

// decisionBody is a decision about an action that was shown.
type decisionBody struct {
	ID       string `json:"id"`
	Approved *bool  `json:"approved"`
	Nonce    string `json:"nonce"`
	Hash     string `json:"hash"`
	Reason   string `json:"reason"`
	// Of the approval of save_secret: the value, or the wish for a random one.
	Value    domain.SecretValue `json:"value"`
	Generate bool               `json:"generate"`
}

func (d *decisionBody) validate() error {
	switch {
	case d.Approved == nil:
		return domain.Invalid("approved", "must be true or false")
	case d.Nonce == "" || d.Hash == "":
		return domain.Invalid("nonce", "give the nonce and the hash of the action as it was shown")
	case len(d.Reason) > maxReasonBytes || !plainText(d.Reason):
		return domain.Invalid("reason", "must be a text of at most %d bytes", maxReasonBytes)
	}
	return oneValue(d.Value, d.Generate, false)
}

func (d *decisionBody) decision(actionID string) domain.Decision {
	status := domain.ActionRejected
	if *d.Approved {
		status = domain.ActionApproved
	}
	return domain.Decision{
		ActionID: actionID, Status: status, Nonce: d.Nonce, Hash: d.Hash, Reason: d.Reason, Value: d.Value, Generate: d.Generate,
	}
}

// decideAction answers POST /actions/:id/decide with the action as it is then.
func (s *Server) decideAction(ctx context.Context, r request[decisionBody]) (domain.Action, error) {
	a, err := s.visibleAction(ctx, r.caller, r.path["id"])
	if err != nil {
		return a, err
	}
	decided, err := s.Actions.DecideActions(ctx, r.caller.Actor, []domain.Decision{r.body.decision(a.ID)})
	if err != nil {
		return domain.Action{}, err
	}
	return decided[0], nil
}

// resumeBody is the body of POST …/confirm-action/resume: decisions, or, of older clients
// that run actions themselves, what came of them.
type resumeBody struct {
	Decisions []decisionBody `json:"decisions"`
	Results   []resultBody   `json:"results"`
}

type resultBody struct {
	CallID string `json:"tool_call_id"`
	Status string `json:"status"`
	Text   string `json:"result_text"`
}

// reports are the statuses of a result.
var reports = map[string]domain.ActionStatus{
	"done": domain.ActionApplied, "denied": domain.ActionRejected, "error": domain.ActionFailed,
}

func (b *resumeBody) check() error {
	if n := len(b.Decisions) + len(b.Results); n == 0 || n > maxDecisions {
		return domain.Invalid("decisions", "give 1 to %d decisions or results", maxDecisions)
	}
	named := map[string]bool{}
	for i := range b.Decisions {
		d := &b.Decisions[i]
		if d.ID == "" || named[d.ID] {
			return domain.Invalid(fmt.Sprintf("decisions[%d].id", i), "must name an action, each only once")
		}
		named[d.ID] = true
		if err := d.validate(); err != nil {
			return err
		}
	}
	for i, d := range b.Results {
		switch {
		case d.CallID == "" || named[d.CallID]:
			return domain.Invalid(fmt.Sprintf("results[%d].tool_call_id", i), "must name an action, each only once")
		case reports[d.Status] == "":
			return domain.Invalid(fmt.Sprintf("results[%d].status", i), "must be done, denied or error")
		case len(d.Text) > maxReasonBytes || !plainText(d.Text):
			return domain.Invalid(fmt.Sprintf("results[%d].result_text", i), "must be a text of at most %d bytes", maxReasonBytes)
		}
		named[d.CallID] = true
	}
	return nil
}

// resumed is the answer of POST …/confirm-action/resume.
type resumed struct {
	OK      bool            `json:"ok"`
	Resumed bool            `json:"resumed"` // nothing else is waited for
	Actions []domain.Action `json:"actions"`
}

// decisions finds the actions that a request is about.
func (s *Server) decisions(ctx context.Context, r request[resumeBody]) (list []domain.Decision, err error) {
	named := map[string]bool{}
	add := func(name string, decide func(actionID string) domain.Decision) error {
		a, err := s.Actions.ActionOf(ctx, r.project.ID, r.path["cid"], name)
		if err == nil && named[a.ID] {
			err = domain.Invalid("decisions", "must name an action, each only once: %q is %s", name, a.ID)
		}
		named[a.ID] = true
		list = append(list, decide(a.ID))
		return err
	}
	for _, d := range r.body.Decisions {
		if err := add(d.ID, d.decision); err != nil {
			return nil, err
		}
	}
	for _, d := range r.body.Results {
		report := func(id string) domain.Decision {
			return domain.Decision{ActionID: id, Status: reports[d.Status], Reason: d.Text, Reported: true}
		}
		if err := add(d.CallID, report); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// resume answers POST …/conversations/:cid/confirm-action/resume.
func (s *Server) resume(ctx context.Context, r request[resumeBody]) (resumed, error) {
	if _, err := s.theConversation(ctx, r.caller, r.project, r.path["cid"]); err != nil {
		return resumed{}, err
	}
	if err := r.body.check(); err != nil {
		return resumed{}, err
	}
	decisions, err := s.decisions(ctx, r)
	if err != nil {
		return resumed{}, err
	}
	decided, err := s.Actions.DecideActions(ctx, r.caller.Actor, decisions)
	if err != nil {
		return resumed{}, err
	}
	waiting, err := s.Actions.WaitingActions(ctx, decided[0].TurnID)
	return resumed{OK: true, Resumed: len(waiting) == 0, Actions: decided}, err
}

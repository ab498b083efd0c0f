package crashtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/workflows"
)

var decider = domain.Actor{UserID: domain.OwnerID, Name: "owner", Role: domain.UserAdmin}

// paused starts a turn, and waits until it waits for the decisions on its two actions.
func (s *site) paused() (*watch, []domain.Action) {
	s.t.Helper()
	return s.pausedBy("Please remove it.")
}

func (s *site) pausedBy(query string) (*watch, []domain.Action) {
	s.t.Helper()
	w := s.watch(s.ask(domain.TurnRequest{Query: query, ConversationID: domain.NewID()}).ID)
	w.until(domain.EventUnlock, 1)
	actions, err := s.WaitingActions(context.Background(), w.id)
	if err != nil || len(actions) != 2 {
		s.t.Fatalf("the turn waits for %+v, %v", actions, err)
	}
	return w, actions
}

// seen are decisions as somebody takes them who has seen the actions.
func seen(actions []domain.Action, status ...domain.ActionStatus) (list []domain.Decision) {
	for i, a := range actions {
		list = append(list, domain.Decision{ActionID: a.ID, Status: status[i], Nonce: a.Nonce, Hash: a.Hash, Reason: "so it is"})
	}
	return list
}

func (s *site) decide(decisions ...domain.Decision) {
	s.t.Helper()
	if _, err := s.DecideActions(context.Background(), decider, decisions); err != nil {
		s.t.Fatal(err)
	}
}

// becomes waits until an action has a status.
func (s *site) becomes(id string, want domain.ActionStatus) {
	s.t.Helper()
	s.eventually("action "+id+" is "+string(want), func(ctx context.Context) bool {
		a, err := s.Action(ctx, id)
		return err == nil && a.Status == want
	})
}

// came checks what came of an action, and how often it took effect.
func (s *site) came(a domain.Action, step int, want domain.ActionStatus, effects int) {
	s.t.Helper()
	got, err := s.Action(context.Background(), a.ID)
	if err != nil || got.Status != want || got.Outcome == "" || got.EndedAt == nil {
		s.t.Errorf("action %d is %+v, %v; want it %s", step, got, err, want)
	}
	var n int
	if err := s.pool.QueryRow(context.Background(), "select count(*) from tool_runs where turn_id = $1 and step = $2", a.TurnID, step).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	if n != effects {
		s.t.Errorf("action %d took effect %d times, want %d", step, n, effects)
	}
}

// ended waits for the end of a turn whose actions were decided.
func (s *site) ended(w *watch) {
	s.t.Helper()
	if turn := s.end(w); turn.Status != domain.TurnDone || !strings.HasSuffix(turn.Answer, answer) {
		s.t.Errorf("turn %s is %s (%s): %q", turn.ID, turn.Status, turn.Error, turn.Answer)
	}
}

// Whenever the processes are killed, what was approved is run once or known as unknown, and
// what was rejected is not run.
func TestKilledAroundAnAction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kill    func(s *site, w *watch, actions []domain.Action, worker *process)
		status  domain.ActionStatus
		effects int
	}{
		"while it waits": {func(s *site, w *watch, actions []domain.Action, worker *process) {
			worker.kill()
			s.worker()
			s.decide(seen(actions, domain.ActionApproved, domain.ActionRejected)...)
		}, domain.ActionApplied, 1},
		"when it is decided": {func(s *site, w *watch, actions []domain.Action, worker *process) {
			worker.kill()
			s.decide(seen(actions, domain.ActionApproved, domain.ActionRejected)...)
			s.worker()
		}, domain.ActionApplied, 1},
		"before anybody is told": {func(s *site, w *watch, actions []domain.Action, worker *process) {
			if _, err := s.store.Decide(context.Background(), decider, seen(actions, domain.ActionApproved, domain.ActionRejected)); err != nil {
				s.t.Fatal(err)
			}
			s.api(freeAddress(s.t), false)
		}, domain.ActionApplied, 1},
		"before it takes effect": {func(s *site, w *watch, actions []domain.Action, worker *process) {
			s.decide(seen(actions, domain.ActionApproved, domain.ActionRejected)...)
			s.becomes(actions[0].ID, domain.ActionApplying)
			worker.kill()
			s.worker()
		}, domain.ActionUnknown, 0},
		"after it took effect": {func(s *site, w *watch, actions []domain.Action, worker *process) {
			s.decide(seen(actions, domain.ActionApproved, domain.ActionRejected)...)
			s.runs(w.id, firstDrop)
			worker.kill()
			s.worker()
		}, domain.ActionUnknown, 1},
		"when it has ended": {func(s *site, w *watch, actions []domain.Action, worker *process) {
			s.decide(seen(actions, domain.ActionApproved, domain.ActionRejected)...)
			s.becomes(actions[0].ID, domain.ActionApplied)
			worker.kill()
			s.worker()
		}, domain.ActionApplied, 1},
	} {
		for query, as := range map[string]string{"Please remove it.": "paused and killed ", "Please scrap it.": "paused for a local action and killed "} {
			t.Run(as+name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				worker := s.worker()
				w, actions := s.pausedBy(query)
				c.kill(s, w, actions, worker)
				s.ended(w)
				s.came(actions[0], firstDrop, c.status, c.effects)
				s.came(actions[1], secondDrop, domain.ActionRejected, 0)
				s.history(w.id, as+name)
			})
		}
	}
}

// A short action is run once, without an activity of its own.
func TestShortActionsAreRunLocally(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker()
	w, actions := s.pausedBy("Please scrap it.")
	s.decide(seen(actions, domain.ActionApproved, domain.ActionApproved)...)
	s.ended(w)
	s.came(actions[0], firstDrop, domain.ActionApplied, 1)
	s.came(actions[1], secondDrop, domain.ActionApplied, 1)
	for _, event := range s.history(w.id, "short actions").Events {
		if name := event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName(); name == workflows.ApplyAction.Name {
			t.Errorf("event %d schedules %s", event.EventId, name)
		}
	}
}

// Actions are decided one by one, in any order, and nothing goes on before the last.
func TestActionsAreDecidedOneByOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker()
	w, actions := s.paused()
	decisions := seen(actions, domain.ActionRejected, domain.ActionApproved)
	s.decide(decisions[1])
	s.becomes(actions[1].ID, domain.ActionApplied)
	if turn, err := s.Turn(context.Background(), w.id); err != nil || turn.Status != domain.TurnWaiting {
		t.Errorf("the turn is %s, %v", turn.Status, err)
	}
	s.decide(decisions[0])
	s.ended(w)
	s.came(actions[0], firstDrop, domain.ActionRejected, 0)
	s.came(actions[1], secondDrop, domain.ActionApplied, 1)
	s.history(w.id, "decided one by one")
}

// What nobody decides in time is not run, and the model goes on.
func TestActionsThatExpire(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker()
	w, actions := s.paused()
	if _, err := s.pool.Exec(context.Background(), "update actions set expires_at = now() where turn_id = $1", w.id); err != nil {
		t.Fatal(err)
	}
	for _, d := range seen(actions, domain.ActionApproved, domain.ActionApproved) {
		if _, err := s.DecideActions(context.Background(), decider, []domain.Decision{d}); domain.CodeOf(err) != domain.CodeConflict {
			t.Errorf("a late decision gives %v", err)
		}
	}
	for _, a := range actions { // as the timer does
		if err := s.client.SignalWorkflow(context.Background(), "turn/"+w.id, "", "action.decided", map[string]string{"call_id": a.CallID}); err != nil {
			t.Fatal(err)
		}
	}
	s.ended(w)
	s.came(actions[0], firstDrop, domain.ActionExpired, 0)
	s.came(actions[1], secondDrop, domain.ActionExpired, 0)
	s.history(w.id, "actions that expire")
}

// A cancel ends what waits and stops what runs.
func TestCancelAroundAnAction(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(s *site, w *watch, actions []domain.Action)
		status domain.ActionStatus
	}{
		"while it waits": {func(*site, *watch, []domain.Action) {}, domain.ActionExpired},
		"while it runs": {func(s *site, _ *watch, actions []domain.Action) {
			s.decide(seen(actions[:1], domain.ActionApproved)...)
			s.becomes(actions[0].ID, domain.ActionApplying)
		}, domain.ActionUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.worker()
			w, actions := s.paused()
			c.before(s, w, actions)
			if _, err := s.CancelTurn(context.Background(), w.id); err != nil {
				t.Fatal(err)
			}
			if turn := s.end(w); turn.Status != domain.TurnCanceled {
				t.Errorf("the turn is %s", turn.Status)
			}
			s.came(actions[0], firstDrop, c.status, 0)
			s.came(actions[1], secondDrop, domain.ActionExpired, 0)
			s.history(w.id, "paused and canceled "+name)
		})
	}
}

// approve approves an action by an API, and gives the answer; 0 where there is none.
func approve(address string, a domain.Action) (status int, text string) {
	return decideAt(address, token, a, true)
}

// decideAt decides an action at a process, as the person of a key.
func decideAt(address, key string, a domain.Action, approved bool) (status int, text string) {
	body, err := json.Marshal(map[string]any{"approved": approved, "nonce": a.Nonce, "hash": a.Hash})
	if err != nil {
		return 0, err.Error()
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+address+"/actions/"+a.ID+"/decide", bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := (&http.Client{Timeout: 20 * time.Second}).Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(answer)
}

// Two processes that take the same decision at once agree on one of them.
func TestTwoAPIsDecide(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker()
	addresses := []string{freeAddress(t), freeAddress(t)}
	for _, address := range addresses {
		s.api(address, false)
	}
	w, actions := s.paused()
	for _, a := range actions {
		var both sync.WaitGroup
		answers := make([]string, 2)
		won := make([]bool, 2)
		for i, address := range addresses {
			both.Go(func() {
				status, text := approve(address, a)
				answers[i], won[i] = text, status == http.StatusOK
			})
		}
		both.Wait()
		if won[0] == won[1] || !strings.Contains(strings.Join(answers, ""), "owner has decided") {
			t.Errorf("the answers are %q", answers)
		}
	}
	s.ended(w)
	s.came(actions[0], firstDrop, domain.ActionApplied, 1)
	s.came(actions[1], secondDrop, domain.ActionApplied, 1)
}

// An API that is killed around a decision has recorded it, and then it is carried out, or has
// not, and then it can be taken again.
func TestAnAPIDiesAroundADecision(t *testing.T) {
	t.Parallel()
	for name, delay := range map[string]time.Duration{
		"at once": 0, "in its midst": 2 * time.Millisecond, "towards its end": 5 * time.Millisecond, "after it": 100 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.worker()
			doomedAddress, heir := freeAddress(t), freeAddress(t)
			doomed := s.api(doomedAddress, false)
			w, actions := s.paused()
			var asked sync.WaitGroup
			for _, a := range actions {
				asked.Go(func() { approve(doomedAddress, a) })
			}
			<-time.After(delay)
			doomed.kill()
			asked.Wait()
			s.api(heir, false)
			for _, a := range actions {
				if status, text := approve(heir, a); status != http.StatusOK && !strings.Contains(text, "owner has decided") {
					t.Errorf("taken again: %d %s", status, text)
				}
			}
			s.ended(w)
			s.came(actions[0], firstDrop, domain.ActionApplied, 1)
			s.came(actions[1], secondDrop, domain.ActionApplied, 1)
		})
	}
}

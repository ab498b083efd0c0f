package crashtest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// A worker that is stopped while an approved action runs lets it end.
func TestAStoppedWorkerEndsItsAction(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	worker := s.worker()
	w := s.watch(s.ask(domain.TurnRequest{Query: "Take it away slowly.", ConversationID: domain.NewID()}).ID)
	w.until(domain.EventUnlock, 1)
	actions, err := s.WaitingActions(context.Background(), w.id)
	if err != nil || len(actions) != 1 {
		t.Fatalf("the turn waits for %+v, %v", actions, err)
	}
	s.decide(seen(actions, domain.ActionApproved)...)
	s.becomes(actions[0].ID, domain.ActionApplying)
	worker.stop()
	s.came(actions[0], firstDrop, domain.ActionApplied, 1)
	s.worker()
	s.ended(w)
	s.came(actions[0], firstDrop, domain.ActionApplied, 1)
	s.history(w.id, "paused and stopped while it runs")
}

// Automatic calls run while others wait. Two people decide these one by one, each at another
// process, and then the turn is canceled.
func TestTwoPeopleDecideOneByOne(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newSite(t)
	s.worker()
	addresses := []string{freeAddress(t), freeAddress(t)}
	for _, address := range addresses {
		s.api(address, false)
	}
	on := s.team()
	turn, err := s.StartTurn(ctx, domain.TurnRequest{UserID: on.ada.ID, UserName: on.ada.Name, ProjectID: on.project.ID, ConversationID: domain.NewID(), Query: "Please tidy up."})
	if err != nil {
		t.Fatal(err)
	}
	w := s.watch(turn.ID)
	s.stands(turn.ID, domain.TurnWaiting)
	s.eventually("what needs no approval is done", func(ctx context.Context) bool {
		var done int
		err := s.pool.QueryRow(ctx, "select count(*) from turn_calls where turn_id = $1 and not asks and kind = 'tool' and status = 'done'", turn.ID).Scan(&done)
		return err == nil && done == 2
	})
	actions, err := s.WaitingActions(ctx, turn.ID)
	if err != nil || len(actions) != 3 {
		t.Fatalf("the turn waits for %+v, %v", actions, err)
	}
	if status, text := decideAt(addresses[0], on.adas, actions[0], true); status != http.StatusOK {
		t.Errorf("Ada: %d %s", status, text)
	}
	if status, text := decideAt(addresses[1], on.hers, actions[1], false); status != http.StatusOK {
		t.Errorf("Grace: %d %s", status, text)
	}
	if status, text := decideAt(addresses[1], on.hers, actions[0], false); status != http.StatusConflict || !strings.Contains(text, on.ada.Name+" has decided") {
		t.Errorf("Grace decides what Ada has decided: %d %s", status, text)
	}
	s.becomes(actions[0].ID, domain.ActionApplied)
	if turn, err := s.Turn(ctx, turn.ID); err != nil || turn.Status != domain.TurnWaiting {
		t.Errorf("with one left the turn is %s, %v", turn.Status, err)
	}
	if _, err := s.CancelTurn(ctx, turn.ID); err != nil {
		t.Fatal(err)
	}
	if turn := s.end(w); turn.Status != domain.TurnCanceled {
		t.Errorf("the turn is %s", turn.Status)
	}
	s.came(actions[0], firstDrop, domain.ActionApplied, 1)
	s.came(actions[1], secondDrop, domain.ActionRejected, 0)
	s.came(actions[2], thirdDrop, domain.ActionExpired, 0)
	if status, text := decideAt(addresses[0], on.hers, actions[2], true); status != http.StatusConflict || !strings.Contains(text, "canceled") {
		t.Errorf("an action of the canceled turn: %d %s", status, text)
	}
	s.history(turn.ID, "decided by two and canceled")
}

// The turns that wait outlive the worker; the next one wakes each of them once.
func TestAWorkerIsReplacedWhileManyWait(t *testing.T) {
	t.Parallel()
	const many = 50
	ctx := context.Background()
	s := newSite(t)
	worker := s.worker()
	watches, actions := make([]*watch, many), make([][]domain.Action, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			watches[i] = s.watch(s.ask(domain.TurnRequest{Query: "Please remove it.", ConversationID: domain.NewID()}).ID)
			watches[i].until(domain.EventUnlock, 1)
		})
	}
	all.Wait()
	for i, w := range watches {
		var err error
		if actions[i], err = s.WaitingActions(ctx, w.id); err != nil || len(actions[i]) != 2 {
			t.Fatalf("turn %d waits for %+v, %v", i, actions[i], err)
		}
	}
	worker.stop()
	for i := range many / 2 { // the others once the next worker is there
		s.decide(seen(actions[i], domain.ActionApproved, domain.ActionRejected)...)
	}
	s.worker()
	for i := range many / 2 {
		s.decide(seen(actions[many/2+i], domain.ActionApproved, domain.ActionRejected)...)
	}
	for i, w := range watches {
		s.ended(w)
		s.came(actions[i][0], firstDrop, domain.ActionApplied, 1)
		s.came(actions[i][1], secondDrop, domain.ActionRejected, 0)
	}
}

// A deletion that is killed is done once, or unknown: done a second time it would fail.
func TestKilledAroundADeletion(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, delay := range []time.Duration{0, 3 * time.Millisecond, 8 * time.Millisecond, 20 * time.Millisecond} {
		t.Run(fmt.Sprint(delay), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			on := s.team()
			made, err := s.store.CreateArtifact(ctx, domain.Artifact{ProjectID: on.project.ID, Title: "Plan", Kind: domain.ArtifactMarkdown, Content: "one"}, domain.Author{UserID: on.ada.ID})
			if err != nil {
				t.Fatal(err)
			}
			s.order.Doomed = made.ID
			worker := s.worker()
			w := s.watch(s.ask(domain.TurnRequest{Query: "Delete the artifact.", ConversationID: domain.NewID(), ProjectID: on.project.ID}).ID)
			w.until(domain.EventUnlock, 1)
			actions, err := s.WaitingActions(ctx, w.id)
			if err != nil || len(actions) != 1 || !strings.Contains(actions[0].Description, "\n  artifact: Plan\n  kind: markdown\n  versions: 1,") {
				t.Fatalf("the turn waits for %+v, %v", actions, err)
			}
			s.decide(seen(actions, domain.ActionApproved)...)
			<-time.After(delay)
			worker.kill()
			s.worker()
			s.ended(w)
			a, err := s.Action(ctx, actions[0].ID)
			_, lost := s.store.Artifact(ctx, made.ID)
			gone := domain.CodeOf(lost) == domain.CodeNotFound
			if err != nil || a.Status != domain.ActionUnknown && !(a.Status == domain.ActionApplied && gone) {
				t.Errorf("the action is %s: %s (%v), and the artifact is gone: %v", a.Status, a.Outcome, err, gone)
			}
		})
	}
}

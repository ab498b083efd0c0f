package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

var (
	ada   = domain.Actor{UserID: "ada", Name: "ada"}
	grace = domain.Actor{UserID: "grace", Name: "grace"}
)

// paused is a turn whose model asked for two actions, c1 and c2.
type paused struct {
	*testing.T
	*postgres.Store
	pool *pgxpool.Pool
	turn domain.Turn
}

func newPaused(t *testing.T) paused {
	t.Helper()
	pool := testkit.Postgres(t)
	p := paused{t, postgres.NewStore(pool), pool, domain.Turn{}}
	req := request()
	req.ConversationID = "c"
	p.turn = create(t, p.Store, req)
	begin(t, p.Store, p.turn.ID)
	commit := domain.ModelCommit{
		CallWrite: domain.CallWrite{Claim: claim(t, p.Store, p.turn.ID, "m0")}, Outcome: json.RawMessage(`{}`),
		Message: &domain.Message{Role: domain.RoleAssistant},
	}
	for _, id := range []string{"c1", "c2"} {
		input := json.RawMessage(`{"id":"` + id + `"}`)
		action := domain.Action{
			ID: "a" + id[1:], TurnID: p.turn.ID, CallID: id, Requester: "ada", Name: "drop", Input: input, Description: domain.DescribeAction("drop", input),
			Hash: domain.ActionHash("drop", input), Nonce: "nonce-" + id, ExpiresAt: time.Now().Add(time.Hour),
		}
		commit.Actions, commit.Events = append(commit.Actions, action), append(commit.Events, action.Event())
		commit.Tools = append(commit.Tools, domain.ToolCall{ID: id, Name: "drop", Input: input, Asks: true, Status: domain.CallPending, Timeout: time.Second})
	}
	commit.Events = append(commit.Events, domain.NewPayload(domain.EventUnlock, map[string]string{"conv_id": "c"}))
	if _, err := p.CommitModelCall(context.Background(), commit); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p paused) status(want domain.TurnStatus) {
	p.Helper()
	turn, err := p.Turn(context.Background(), p.turn.ID)
	if err != nil || turn.Status != want {
		p.Errorf("the turn is %s, %v; want %s", turn.Status, err, want)
	}
}

func (p paused) action(id string, want domain.ActionStatus) domain.Action {
	p.Helper()
	a, err := p.Action(context.Background(), id)
	if err != nil || a.Status != want {
		p.Errorf("action %s is %s, %v; want %s", id, a.Status, err, want)
	}
	return a
}

// decision is the right one about an action.
func (p paused) decision(id string, status domain.ActionStatus) domain.Decision {
	p.Helper()
	a := p.action(id, domain.ActionPending)
	return domain.Decision{ActionID: id, Status: status, Nonce: a.Nonce, Hash: a.Hash}
}

func (p paused) decide(who domain.Actor, list ...domain.Decision) error {
	_, err := p.Decide(context.Background(), who, list)
	return err
}

func (p paused) claim(callID string) domain.ActionClaim {
	p.Helper()
	c, err := p.ClaimAction(context.Background(), p.turn.ID, callID, nil)
	if err != nil {
		p.Fatalf("claim %s: %v", callID, err)
	}
	return c
}

func (p paused) commit(c domain.ActionClaim, status domain.ActionStatus) error {
	c.Call.Status, c.Call.Result = domain.CallDone, domain.ToolResult{Text: "did it"}
	c.Action.Status, c.Action.Outcome = status, "did it"
	return p.CommitAction(context.Background(), domain.ActionEnd{
		Call: c.Call, Action: c.Action, Event: domain.NewPayload(domain.EventToolResult, map[string]string{"id": c.Call.ID}),
	})
}

func (p paused) exec(sql string) {
	p.Helper()
	if _, err := p.pool.Exec(context.Background(), sql); err != nil {
		p.Fatal(err)
	}
}

// An approved action is claimed once; the attempt that finds it begun knows it as unknown, and
// what the one before says then is refused.
func TestAnActionIsBegunOnce(t *testing.T) {
	t.Parallel()
	p := newPaused(t)
	p.status(domain.TurnWaiting)
	if c := p.claim("c1"); c.Claimed || c.Action.Status != domain.ActionPending || c.Action.Input == nil {
		t.Errorf("claimed before the decision: %+v", c)
	}
	if _, _, err := p.ClaimToolCall(context.Background(), p.turn.ID, "c1"); domain.CodeOf(err) != domain.CodeSuperseded {
		t.Errorf("a call that asks was claimed as one that doesn't: %v", err)
	}
	if err := p.decide(ada, p.decision("a1", domain.ActionApproved)); err != nil {
		t.Fatal(err)
	}
	p.status(domain.TurnWaiting) // for the other
	first := p.claim("c1")
	if !first.Claimed || first.Action.Status != domain.ActionApplying || first.Scope.ActionID != "a1" || first.Scope.UserID != "ada" {
		t.Errorf("the first claim is %+v", first)
	}
	second := p.claim("c1")
	if !second.Claimed || second.Action.Status != domain.ActionUnknown {
		t.Errorf("the second claim is %+v", second)
	}
	wantCode(t, "a late outcome", p.commit(first, domain.ActionApplied), domain.CodeSuperseded)
	if err := p.commit(second, domain.ActionUnknown); err != nil {
		t.Fatal(err)
	}
	p.action("a1", domain.ActionUnknown)
	if c := p.claim("c1"); c.Claimed || c.Open() {
		t.Errorf("claimed again: %+v", c)
	}
	if err := p.decide(grace, p.decision("a2", domain.ActionRejected)); err != nil {
		t.Fatal(err)
	}
	p.status(domain.TurnRunning)
	if c := p.claim("c2"); !c.Claimed || c.Action.Status != domain.ActionRejected || c.Action.DecidedByName != "grace" {
		t.Errorf("a rejected action is claimed as %+v", c)
	}
}

// Whatever is wrong with a decision, nothing of it is recorded.
func TestDecisionsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(p paused, d *domain.Decision)
		code   domain.Code
		says   string
	}{
		"another nonce":       {func(_ paused, d *domain.Decision) { d.Nonce = "nonce-c2" }, domain.CodeForbidden, "nonce"},
		"no nonce":            {func(_ paused, d *domain.Decision) { d.Nonce = "" }, domain.CodeForbidden, "nonce"},
		"another hash":        {func(_ paused, d *domain.Decision) { d.Hash = "beef" }, domain.CodeConflict, "hash"},
		"an unknown action":   {func(_ paused, d *domain.Decision) { d.ActionID = "a9" }, domain.CodeNotFound, "a9"},
		"expired":             {func(p paused, _ *domain.Decision) { p.exec("update actions set expires_at = now() where id = 'a1'") }, domain.CodeConflict, "expired"},
		"of a canceled turn":  {func(p paused, _ *domain.Decision) { _, _ = p.RequestCancel(context.Background(), p.turn.ID) }, domain.CodeConflict, "canceled"},
		"decided, and reused": {func(p paused, d *domain.Decision) { _ = p.decide(grace, *d) }, domain.CodeConflict, "grace has decided"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPaused(t)
			good, d := p.decision("a2", domain.ActionApproved), p.decision("a1", domain.ActionApproved)
			c.change(p, &d)
			err := p.decide(ada, good, d)
			wantCode(t, name, err, c.code)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want it to say %q", err, c.says)
			}
			p.action("a2", domain.ActionPending)
		})
	}
}

// Of many who decide at once exactly one wins, and all others learn who.
func TestOneDecisionWins(t *testing.T) {
	t.Parallel()
	p := newPaused(t)
	d := p.decision("a1", domain.ActionApproved)
	var all sync.WaitGroup
	refusals := make(chan string, 8)
	for i := range 8 {
		who := []domain.Actor{ada, grace}[i%2]
		all.Go(func() {
			if err := p.decide(who, d); err != nil {
				refusals <- err.Error()
			}
		})
	}
	all.Wait()
	close(refusals)
	winner := p.action("a1", domain.ActionApproved).DecidedBy
	n := 0
	for text := range refusals {
		if n++; !strings.Contains(text, winner+" has decided") {
			t.Errorf("a refusal says %q, want it to name %s", text, winner)
		}
	}
	if n != 7 {
		t.Errorf("%d were refused, want 7", n)
	}
}

// Two decisions on one turn, each by another process, let it go on, whichever is the later.
func TestTheLastDecisionResumes(t *testing.T) {
	t.Parallel()
	p := newPaused(t)
	one, two := p.decision("a1", domain.ActionApproved), p.decision("a2", domain.ActionApproved)
	var both sync.WaitGroup
	for _, d := range []domain.Decision{one, two} {
		both.Go(func() {
			if err := p.decide(ada, d); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	p.status(domain.TurnRunning)
	untold, err := p.UntoldDecisions(context.Background(), 0, 10)
	if err != nil || len(untold) != 2 {
		t.Fatalf("untold %+v, %v", untold, err)
	}
	if err := p.MarkTold(context.Background(), "a1", "a2"); err != nil {
		t.Fatal(err)
	}
	if untold, err := p.UntoldDecisions(context.Background(), 0, 10); err != nil || len(untold) != 0 {
		t.Errorf("untold %+v, %v", untold, err)
	}
}

// What nobody decides in time is settled as expired, and lets the turn go on.
func TestActionsExpire(t *testing.T) {
	t.Parallel()
	p := newPaused(t)
	p.exec("update actions set expires_at = now()")
	for i, id := range []string{"c1", "c2"} {
		c := p.claim(id)
		if !c.Claimed || c.Action.Status != domain.ActionExpired {
			t.Errorf("claimed as %+v", c)
		}
		if err := p.commit(c, domain.ActionExpired); err != nil {
			t.Fatal(err)
		}
		p.status([]domain.TurnStatus{domain.TurnWaiting, domain.TurnRunning}[i])
	}
	p.told(`{"status":"expired","decided_by":""`, domain.EventActionDecided, domain.EventToolResult,
		domain.EventActionDecided, domain.EventLock, domain.EventToolResult)
}

// told checks the events of the turn after it has paused, and what the first of them says.
func (p paused) told(says string, want ...domain.EventType) {
	p.Helper()
	var types []domain.EventType
	var first string
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	past := false
	for e, err := range p.Follow(ctx, p.turn.ID, domain.Cursor{}) {
		if err != nil {
			p.Fatal(err)
		}
		if past {
			types = append(types, e.Type)
		}
		if past && first == "" {
			first = string(e.Payload)
		}
		past = past || e.Type == domain.EventUnlock
		if len(types) == len(want) {
			break
		}
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(first), &got); err != nil || !slices.Equal(types, want) {
		p.Errorf("after the pause came %v, want %v (%v)", types, want, err)
	}
	var parts map[string]any
	if err := json.Unmarshal([]byte(says+"}"), &parts); err != nil {
		p.Fatal(err)
	}
	for name, value := range parts {
		if got[name] != value {
			p.Errorf("the first event is %s, want %s", first, says)
		}
	}
}

// The last decision lets the turn go on, and locks its conversation again.
func TestADecisionIsTold(t *testing.T) {
	t.Parallel()
	p := newPaused(t)
	for i, id := range []string{"a1", "a2"} {
		if err := p.decide(grace, p.decision(id, domain.ActionRejected)); err != nil {
			t.Fatal(err)
		}
		if err := p.commit(p.claim([]string{"c1", "c2"}[i]), domain.ActionRejected); err != nil {
			t.Fatal(err)
		}
	}
	p.told(`{"status":"rejected","decided_by":"grace","name":"grace","id":"a1","call_id":"c1"`, domain.EventActionDecided, domain.EventToolResult,
		domain.EventActionDecided, domain.EventLock, domain.EventToolResult)
}

// The end of a turn ends its actions; what was begun is unknown.
func TestACanceledTurnEndsItsActions(t *testing.T) {
	t.Parallel()
	p := newPaused(t)
	if err := p.decide(ada, p.decision("a1", domain.ActionApproved)); err != nil {
		t.Fatal(err)
	}
	begun := p.claim("c1")
	_, _, err := p.CreateTurn(context.Background(), domain.TurnRequest{UserID: "ada", ConversationID: "c", Query: "And now?"})
	var busy *domain.Error
	if wantCode(t, "a query meanwhile", err, domain.CodeConflict); !asError(err, &busy) || !slices.Equal(busy.Actions, []string{"a2"}) ||
		busy.Holder != p.turn.ID || !strings.Contains(busy.Message, "drop (a2)") {
		t.Errorf("refused with %+v", busy)
	}
	finish(t, p.Store, domain.TurnEnd{TurnID: p.turn.ID, Status: domain.TurnCanceled, Reason: domain.EndCanceled})
	p.action("a1", domain.ActionUnknown)
	p.action("a2", domain.ActionExpired)
	wantCode(t, "a late outcome", p.commit(begun, domain.ActionApplied), domain.CodeSuperseded)
	_, err = p.ClaimAction(context.Background(), p.turn.ID, "c2", nil)
	wantCode(t, "a claim after the end", err, domain.CodeSuperseded)
}

// What a client reports is recorded, and believed where the server saw the call itself.
func TestReportsOfClients(t *testing.T) {
	t.Parallel()
	p := newPaused(t)
	note := func(by domain.Performance, inputs ...string) {
		t.Helper()
		for _, input := range inputs {
			by.Inputs = append(by.Inputs, json.RawMessage(input))
		}
		if err := p.NotePerformed(context.Background(), by); err != nil {
			t.Fatal(err)
		}
	}
	// Another person's, project's and tool's, another input, and what was done before it was asked.
	note(domain.Performance{UserID: "grace", Tool: "drop"}, `{"id":"c2"}`)
	note(domain.Performance{UserID: "ada", ProjectID: "p", Tool: "drop"}, `{"id":"c2"}`)
	note(domain.Performance{UserID: "ada", Tool: "dig"}, `{"id":"c2"}`)
	note(domain.Performance{UserID: "ada", Tool: "drop"}, `{"id":"c3"}`)
	note(domain.Performance{UserID: "ada", Tool: "drop"}, `{"id":"c2"}`)
	p.exec("update performed set at = at - interval '1 hour' where at = (select max(at) from performed)")
	note(domain.Performance{UserID: "ada", Tool: "drop"}, ` { "id" : "c1" } `, `{"id":"c1","version":2}`)
	report := func(id string) domain.Decision {
		return domain.Decision{ActionID: id, Status: domain.ActionApplied, Reported: true, Reason: "it is gone"}
	}
	if err := p.decide(ada, report("a1"), report("a2")); err != nil {
		t.Fatal(err)
	}
	for id, verified := range map[string]bool{"a1": true, "a2": false} {
		if a := p.action(id, domain.ActionApplied); !a.Reported || a.Verified != verified || a.Outcome != "it is gone" {
			t.Errorf("reported as %+v", a)
		}
	}
	if c := p.claim("c1"); !c.Claimed || c.Action.Status != domain.ActionApplied {
		t.Errorf("claimed as %+v", c)
	}
	var left int
	if err := p.pool.QueryRow(context.Background(), "select count(*) from performed").Scan(&left); err != nil || left != 5 {
		t.Errorf("%d notes are left, want 5 (%v): one act vouches for one action", left, err)
	}
	p.exec("update performed set at = at - interval '32 days' where user_id = 'grace'")
	if _, err := p.Housekeep(context.Background(), domain.Retention{}); err != nil {
		t.Fatal(err)
	}
	if err := p.pool.QueryRow(context.Background(), "select count(*) from performed").Scan(&left); err != nil || left != 4 {
		t.Errorf("%d notes are left, want 4 (%v): old ones vouch for nothing", left, err)
	}
}

func TestConfirmSettings(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	project, err := s.CreateProject(ctx, domain.Project{Name: "p", GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	want := domain.DefaultConfirmSettings()
	for range 2 {
		got, err := s.ConfirmSettings(ctx, project.ID)
		if err != nil || got.Approvers != want.Approvers || got.Expiry != want.Expiry || !slices.Equal(got.Asking, want.Asking) {
			t.Errorf("settings %+v, %v; want %+v", got, err, want)
		}
		want = domain.ConfirmSettings{
			Approvers: domain.ApproveOthers, Expiry: time.Minute, Asking: []string{"dig"},
			Commands: domain.CommandRules{Policy: domain.CommandsAllowListed, Allowed: []string{"git status"}},
		}
		if err := s.SetConfirmSettings(ctx, project.ID, want); err != nil {
			t.Fatal(err)
		}
	}
	want.Expiry = time.Second
	wantCode(t, "a second", s.SetConfirmSettings(ctx, project.ID, want), domain.CodeInvalid)
}

func asError(err error, into **domain.Error) bool { return errors.As(err, into) }

// A conversation shows its actions as they stand, from the moment that they wait.
func TestActionsInAConversation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p := newPaused(t)
	chain := func(status domain.TurnStatus) []domain.ChainEntry {
		t.Helper()
		c, err := p.Conversation(ctx, "c")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := p.Entries(ctx, c, "")
		if err != nil || len(entries) != 2 || entries[1].Status != status || len(entries[1].Chain) != 2 {
			t.Fatalf("entries %+v, %v", entries, err)
		}
		return entries[1].Chain
	}
	stand := func(list []domain.ChainEntry) (all []string) {
		for _, e := range list {
			all = append(all, strings.Join([]string{e.ID, e.Status, e.Action.DecidedByName, e.Action.Nonce, e.ResultText}, "|"))
		}
		return all
	}
	same(t, "while they wait", []string{"a1|pending||nonce-c1|", "a2|pending||nonce-c2|"}, stand(chain(domain.TurnWaiting)))
	if err := p.decide(grace, p.decision("a1", domain.ActionApproved), p.decision("a2", domain.ActionRejected)); err != nil {
		t.Fatal(err)
	}
	same(t, "decided", []string{"a1|approved|grace||", "a2|rejected|grace||"}, stand(chain(domain.TurnRunning)))
	begun := p.claim("c1")
	same(t, "begun", []string{"a1|applying|grace||", "a2|rejected|grace||"}, stand(chain(domain.TurnRunning)))
	if err := p.commit(begun, domain.ActionApplied); err != nil {
		t.Fatal(err)
	}
	finish(t, p.Store, domain.TurnEnd{TurnID: p.turn.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "It is gone."})
	same(t, "in the end", []string{"a1|applied|grace||did it", "a2|rejected|grace||"}, stand(chain(domain.TurnDone)))
}

// A tool that finds again what it began is run again where an attempt was cut off.
func TestAResumableActionGoesOn(t *testing.T) {
	t.Parallel()
	p := newPaused(t)
	if err := p.decide(ada, p.decision("a1", domain.ActionApproved), p.decision("a2", domain.ActionApproved)); err != nil {
		t.Fatal(err)
	}
	again := func(callID string, resumable ...string) domain.ActionClaim {
		t.Helper()
		c, err := p.ClaimAction(context.Background(), p.turn.ID, callID, resumable)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, other := again("c1", "drop"), again("c2", "drop")
	second := again("c1", "else", "drop")
	if !second.Claimed || second.Action.Status != domain.ActionApplying || second.Call.Attempt != first.Call.Attempt+1 || second.Scope.ActionID != "a1" {
		t.Errorf("claimed again as %+v", second)
	}
	if late := again("c2", "else"); !late.Claimed || late.Action.Status != domain.ActionUnknown {
		t.Errorf("another tool's is claimed as %+v", late)
	}
	wantCode(t, "the outcome of the first attempt", p.commit(first, domain.ActionApplied), domain.CodeSuperseded)
	wantCode(t, "the outcome of the other", p.commit(other, domain.ActionApplied), domain.CodeSuperseded)
	if err := p.commit(second, domain.ActionApplied); err != nil {
		t.Error(err)
	}
	p.action("a1", domain.ActionApplied)
	if c := again("c1", "drop"); c.Claimed {
		t.Errorf("claimed after its end: %+v", c)
	}
}

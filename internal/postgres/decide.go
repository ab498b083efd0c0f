package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	// Logs are locked before anything else, in order, as every append does.
	sqlLockDecided = statement("lock the logs of decisions", `
select s.id from subjects s where s.id in (select turn_id from actions where id = any(@actions::text[])) order by s.id for no key update`)

	// The log of a project comes before those of its turns: it is told of actions without one.
	sqlLockTold = statement("lock the logs of projects that are told of decisions", `
select s.id from subjects s where s.id in (select 'project/' || project_id from actions where id = any(@actions::text[]) and turn_id = '')
order by s.id for no key update`)

	sqlDecidable = statement("read what is to be decided", `
select`+actionColumns+`, a.nonce, a.expires_at <= now(), coalesce(t.ended_at is not null or t.cancel_requested_at is not null, false),
    coalesce(c.ended_at is not null, false), coalesce(c.hostname, ''), coalesce(m.hostname, c.hostname, ''), `+barred("a.requester", "a.project_id")+`
from actions a left join turns t on t.id = a.turn_id
left join commands c on a.turn_id = '' and c.id = a.id left join agents m on m.id = c.agent_id
where a.id = @action for update of a`)

	sqlDecide = statement("decide an action", `
update actions set status = @status, decided_by = @by, decided_at = now(), reason = @reason,
    reported = @reported, verified = @verified, outcome = @outcome
where id = @action and status = 'pending'`)

	sqlResume = statement("let turns go on", `
update turns t set status = 'running'
where t.id = @turn and t.status = 'waiting' and not exists (select from actions o where o.turn_id = t.id and o.status = 'pending')
returning coalesce(t.conversation_id, ''), t.user_id, coalesce((select name from users u where u.id = t.user_id), t.user_id)`)

	sqlUntold = statement("list decisions that nobody told of", `
select`+actionColumns+` from actions a
where a.decided_at < now() - @age::interval and a.told_at is null order by a.decided_at limit @limit`)

	sqlMarkTold = statement("mark decisions told", `
update actions set told_at = now(), status = case when turn_id = '' and status = 'approved' then 'applying' else status end
where id = any(@actions::text[]) and told_at is null`)
)

// decidable is an action about to be decided.
type decidable struct {
	domain.Action
	nonce       string
	late, ended bool
	gone        bool   // its command, of a person's own, is over
	shown, now  string // the name of that command's machine, as it was shown and as it is
	barred      domain.Bar
}

// Decide records what a person decides, all of it or nothing, with an event for each, and
// gives the actions as they are then. Whether the person may decide is the caller's to check.
//
// Errors: conflict for what is decided already (the text says by whom), has expired, belongs
// to a turn that was canceled, or is not what the person saw; forbidden for a wrong nonce;
// not_found; unprocessable where an approval must bring a secret's value and doesn't.
func (s *Store) Decide(ctx context.Context, who domain.Actor, decisions []domain.Decision) ([]domain.Action, error) {
	ids := make([]string, len(decisions))
	for i, d := range decisions {
		ids[i] = d.ActionID
	}
	var decided []domain.Action
	var told []func()
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		for _, lock := range []string{sqlLockTold, sqlLockDecided} {
			if _, err := tx.Exec(ctx, lock, pgx.NamedArgs{"actions": ids}); err != nil {
				return fmt.Errorf("lock the logs: %w", err)
			}
		}
		for _, d := range decisions {
			a, err := decide(ctx, tx, who, d)
			if err != nil {
				return err
			}
			decided = append(decided, a)
		}
		told, err = s.tellDecided(ctx, tx, decided)
		return err
	})
	if err != nil {
		if domain.CodeOf(err) != domain.CodeInternal {
			return nil, err
		}
		return nil, failed("decide", err)
	}
	for _, tell := range told {
		tell()
	}
	return decided, nil
}

// tellDecided tells the turns of what was decided, and the projects of what belongs to none; what
// it gives is to be called after the commit.
func (s *Store) tellDecided(ctx context.Context, tx pgx.Tx, decided []domain.Action) (told []func(), err error) {
	type log struct{ turn, project string } // one of the two
	var logs []log
	events := map[log][]domain.NewEvent{}
	for _, a := range decided {
		to := log{turn: a.TurnID}
		if a.TurnID == "" {
			to.project = a.ProjectID
		}
		if events[to] == nil {
			logs = append(logs, to)
		}
		events[to] = append(events[to], a.DecidedEvent())
	}
	for _, to := range logs {
		if to.turn != "" {
			tell, err := s.resume(ctx, tx, to.turn, events[to])
			if err != nil {
				return nil, err
			}
			told = append(told, tell)
			continue
		}
		_, news, err := note(ctx, tx, to.project, events[to]...)
		if err != nil {
			return nil, err
		}
		told = append(told, func() { s.tell(news...) })
	}
	return told, nil
}

// decide checks and records one decision.
func decide(ctx context.Context, tx pgx.Tx, who domain.Actor, d domain.Decision) (domain.Action, error) {
	var at decidable
	var input []byte
	err := tx.QueryRow(ctx, sqlDecidable, pgx.NamedArgs{"action": d.ActionID}).
		Scan(append(actionFields(&at.Action, &input), &at.nonce, &at.late, &at.ended, &at.gone, &at.shown, &at.now, &at.barred)...)
	if noRows(err) {
		return domain.Action{}, domain.NotFound("there is no action %q", d.ActionID)
	}
	if err != nil {
		return domain.Action{}, fmt.Errorf("read action %s: %w", d.ActionID, err)
	}
	at.Input = input
	if err := at.refuse(d); err != nil {
		return domain.Action{}, err
	}
	if err := decideOffer(ctx, tx, at.Action, d); err != nil {
		return domain.Action{}, err
	}
	a := at.Action
	a.Status, a.DecidedBy, a.DecidedByName, a.Nonce = d.Status, who.UserID, who.Name, ""
	a.Reason, a.Reported = clean(d.Reason), d.Reported
	if d.Reported {
		a.Reason, a.Outcome = "", a.Reason
		if a.Verified, err = vouched(ctx, tx, a); err != nil {
			return domain.Action{}, err
		}
	}
	_, err = tx.Exec(ctx, sqlDecide, pgx.NamedArgs{
		"action": a.ID, "status": string(a.Status), "by": a.DecidedBy, "reason": a.Reason,
		"reported": a.Reported, "verified": a.Verified, "outcome": a.Outcome,
	})
	if err != nil {
		return domain.Action{}, fmt.Errorf("decide action %s: %w", a.ID, err)
	}
	return a, nil
}

// decideOffer keeps the value that an approval brings for the call, or removes what a call that
// is not run was given.
func decideOffer(ctx context.Context, tx pgx.Tx, a domain.Action, d domain.Decision) error {
	by := domain.Author{TurnID: a.TurnID, CallID: a.CallID}
	sql, args := sqlDropOffer, pgx.NamedArgs{"turn": a.TurnID, "call": a.CallID}
	switch {
	case d.Offer != nil:
		sql, args = sqlOfferSecret, offerArgs(by, *d.Offer)
	case d.Status == domain.ActionApproved || a.ProjectID == "":
		return nil
	}
	if _, err := tx.Exec(ctx, sql, args); err != nil {
		return fmt.Errorf("keep the value for action %s: %w", a.ID, err)
	}
	return nil
}

// refuse says why a decision can't be taken, or nil.
func (at decidable) refuse(d domain.Decision) error {
	switch {
	case at.DecidedBy != "":
		return domain.Errorf(domain.CodeConflict, "%s has decided action %s already: it is %s", at.DecidedByName, at.ID, at.Status)
	case at.ended:
		return domain.Errorf(domain.CodeConflict, "the turn of action %s was canceled, or has ended; nothing is run", at.ID)
	case at.gone:
		return domain.Errorf(domain.CodeConflict, "the command of action %s was canceled, or its machine was removed; nothing is run", at.ID)
	case at.Status != domain.ActionPending:
		return domain.Errorf(domain.CodeConflict, "action %s is %s already", at.ID, at.Status)
	case at.late:
		return domain.Errorf(domain.CodeConflict, "action %s has expired; nothing is run", at.ID)
	case d.Reported:
		return nil // nothing is run for it
	case d.Nonce != at.nonce:
		return domain.Errorf(domain.CodeForbidden, "the nonce is not that of action %s; look at the action again", at.ID)
	case d.Hash != at.Hash:
		return domain.Errorf(domain.CodeConflict, "action %s is not what was shown: its hash differs; look at it again", at.ID)
	case d.Status == domain.ActionApproved && at.barred != "":
		return domain.Errorf(domain.CodeConflict,
			"action %s can't be approved: %s; nothing is run. Reject it, or ask for the same yourself", at.ID, at.barred.Says(at.RequesterName))
	case d.Status == domain.ActionApproved && at.shown != at.now:
		return domain.Errorf(domain.CodeConflict,
			"the machine of action %s was called %q as it was asked for, and is %q now; look whether it is the right one, reject this, and order it again", at.ID, at.shown, at.now)
	case d.Status == domain.ActionApproved && d.Offer == nil && at.AsksValue():
		return domain.Errorf(domain.CodeUnprocessable, "action %s saves a secret: give its value with the approval, or have one generated", at.ID)
	}
	return nil
}

// resume appends the events of a turn's decisions, and lets the turn go on where it waits for
// no other; tell is to be called after the commit.
func (s *Store) resume(ctx context.Context, tx pgx.Tx, turnID string, events []domain.NewEvent) (tell func(), err error) {
	locked, err := goOn(ctx, tx, turnID)
	if err != nil {
		return nil, err
	}
	b := newBatch(turnID, 0, append(events, locked...), nil)
	var last int64
	var at time.Time
	if err := tx.QueryRow(ctx, sqlAppend, b.args).Scan(&last, &at); err != nil {
		return nil, fmt.Errorf("tell of decisions in turn %s: %w", turnID, err)
	}
	return func() { s.tell(b.messages(last, at)...) }, nil
}

// goOn lets a turn go on that waits for no decision any more, and gives the event that tells
// of it: its conversation is locked again. The turn's log must be locked.
func goOn(ctx context.Context, tx pgx.Tx, turnID string) ([]domain.NewEvent, error) {
	var conversation, user, name string
	err := tx.QueryRow(ctx, sqlResume, pgx.NamedArgs{"turn": turnID}).Scan(&conversation, &user, &name)
	if err != nil && !noRows(err) {
		return nil, fmt.Errorf("resume turn %s: %w", turnID, err)
	}
	if err != nil || conversation == "" {
		return nil, nil
	}
	return []domain.NewEvent{domain.NewPayload(domain.EventLock, map[string]string{
		"by": name, "user_id": user, "conv_id": conversation, "turn_id": turnID,
	})}, nil
}

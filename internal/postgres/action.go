package postgres

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const actionColumns = `
a.id, a.turn_id, a.call_id, a.conversation_id, coalesce(a.project_id, ''), a.requester,
coalesce((select name from users u where u.id = a.requester), a.requester), a.tool, a.input, a.description, a.hash,
case when a.status = 'pending' then a.nonce else '' end, a.status, a.created_at, a.expires_at,
a.decided_by, coalesce((select name from users u where u.id = a.decided_by), a.decided_by), a.decided_at, a.reason,
a.reported, a.verified, a.outcome, a.ended_at`

var (
	sqlAction = statement("read an action", `select`+actionColumns+` from actions a where a.id = @action`)

	sqlActions = statement("list actions", `
select`+actionColumns+` from actions a
where (@project <> '' and a.project_id = @project or @project = '' and a.project_id is null and a.requester = @user)
  and (@status = '' or a.status = @status) and (@conversation = '' or a.conversation_id = @conversation)
  and (@tool = '' or a.tool = @tool) and (@before = '' or a.id < (select b.id from actions b where b.id = @before))
order by a.id desc limit @limit`)

	sqlActionPlace = statement("look for a place in a list of actions", `
select exists (select from actions a where a.id = @before
    and (@project <> '' and a.project_id = @project or @project = '' and a.project_id is null and a.requester = @user))`)

	sqlTurnActions = statement("list a turn's waiting actions", `
select`+actionColumns+` from actions a join turn_calls c on c.turn_id = a.turn_id and c.call_id = a.call_id
where a.turn_id = @turn and a.status = 'pending' order by c.round, c.ord`)

	sqlActionElsewhere = statement("look for an action anywhere", `select exists (select from actions where id = @id)`)

	sqlActionNamed = statement("find an action of a conversation", `
select id from actions
where conversation_id = @conversation and coalesce(project_id, '') = @project and (id = @name or call_id = @name)
order by status = 'pending' desc, id desc limit 1`)

	sqlConfirmSettings = statement("read the settings of confirmations", `
select approvers, confirm_expiry, asking_tools, command_policy, allowed_commands from project_settings where project_id = @project`)

	sqlSetConfirmSettings = statement("keep the settings of confirmations", `
insert into project_settings (project_id, approvers, confirm_expiry, asking_tools, command_policy, allowed_commands)
values (@project, @approvers, @expiry, @tools, @commands, @allowed)
on conflict (project_id) do update
set approvers = excluded.approvers, confirm_expiry = excluded.confirm_expiry, asking_tools = excluded.asking_tools,
    command_policy = excluded.command_policy, allowed_commands = excluded.allowed_commands`)
)

// maxActions bounds a list of actions.
const maxActions = 500

func actionFields(a *domain.Action, input *[]byte) []any {
	return []any{&a.ID, &a.TurnID, &a.CallID, &a.ConversationID, &a.ProjectID, &a.Requester, &a.RequesterName, &a.Name, input, &a.Description, &a.Hash,
		&a.Nonce, &a.Status, &a.CreatedAt, &a.ExpiresAt, &a.DecidedBy, &a.DecidedByName, &a.DecidedAt, &a.Reason,
		&a.Reported, &a.Verified, &a.Outcome, &a.EndedAt}
}

func scanAction(row pgx.Row) (a domain.Action, err error) {
	var input []byte
	err = row.Scan(actionFields(&a, &input)...)
	a.Input = input
	a.NeedsValue = a.Status == domain.ActionPending && a.AsksValue()
	return a, err
}

// Action gives an action, or not_found.
func (s *Store) Action(ctx context.Context, id string) (domain.Action, error) {
	a, err := scanAction(s.pool.QueryRow(ctx, sqlAction, pgx.NamedArgs{"action": id}))
	if noRows(err) {
		return a, domain.NotFound("there is no action %q", id)
	}
	return a, failed("load action "+id, err)
}

// Actions lists actions, the newest first, at most maxActions. The error is invalid for a place that
// is none of the list's.
func (s *Store) Actions(ctx context.Context, q domain.ActionQuery) ([]domain.Action, error) {
	limit := q.Limit
	if limit <= 0 || limit > maxActions {
		limit = maxActions
	}
	args := pgx.NamedArgs{
		"project": q.ProjectID, "user": q.UserID, "status": string(q.Status), "conversation": q.ConversationID, "tool": q.Tool,
		"before": q.Before, "limit": limit,
	}
	list, err := s.actions(ctx, sqlActions, args)
	if err == nil {
		err = s.placed(ctx, len(list), "cursor", sqlActionPlace, args)
	}
	return list, err
}

// WaitingActions lists what a turn waits for.
func (s *Store) WaitingActions(ctx context.Context, turnID string) ([]domain.Action, error) {
	return s.actions(ctx, sqlTurnActions, pgx.NamedArgs{"turn": turnID})
}

func (s *Store) actions(ctx context.Context, sql string, args pgx.NamedArgs) ([]domain.Action, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, failed("list actions", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Action, error) { return scanAction(row) })
	return list, failed("list actions", err)
}

// ActionOf finds an action of a conversation, of a project or with "" of a person's own, by its id or that of its call; the one
// that waits before others. not_found where there is none.
func (s *Store) ActionOf(ctx context.Context, projectID, conversationID, name string) (domain.Action, error) {
	var id string
	err := s.pool.QueryRow(ctx, sqlActionNamed, pgx.NamedArgs{"conversation": conversationID, "project": projectID, "name": name}).Scan(&id)
	if noRows(err) {
		return domain.Action{}, s.missing(ctx, sqlActionElsewhere, name, "no action %q waits in this conversation")
	}
	if err != nil {
		return domain.Action{}, failed("find an action", err)
	}
	return s.Action(ctx, id)
}

// ConfirmSettings gives what holds for the actions of a project; "" is no project.
func (s *Store) ConfirmSettings(ctx context.Context, projectID string) (domain.ConfirmSettings, error) {
	c := domain.DefaultConfirmSettings()
	if projectID == "" {
		return c, nil
	}
	err := s.pool.QueryRow(ctx, sqlConfirmSettings, pgx.NamedArgs{"project": projectID}).Scan(&c.Approvers, &c.Expiry, &c.Asking, &c.Commands.Policy, &c.Commands.Allowed)
	if noRows(err) {
		return c, nil
	}
	return c, failed("load the settings of project "+projectID, err)
}

// SetConfirmSettings keeps what holds for the actions of a project; invalid where the expiry
// is out of bounds.
func (s *Store) SetConfirmSettings(ctx context.Context, projectID string, c domain.ConfirmSettings) error {
	if c.Expiry < domain.MinConfirmExpiry || c.Expiry > domain.MaxConfirmExpiry {
		return domain.Invalid("confirm_expiry", "must be between %s and %s", domain.MinConfirmExpiry, domain.MaxConfirmExpiry)
	}
	_, err := s.pool.Exec(ctx, sqlSetConfirmSettings, pgx.NamedArgs{
		"project": projectID, "approvers": string(c.Approvers), "expiry": c.Expiry, "tools": list(c.Asking),
		"commands": string(cmp.Or(c.Commands.Policy, domain.CommandsChangesAsk)), "allowed": list(c.Commands.Allowed),
	})
	return failed("keep the settings of project "+projectID, err)
}

// UntoldDecisions lists actions that were decided longer than age ago and whose workflow was
// not told, oldest first.
func (s *Store) UntoldDecisions(ctx context.Context, age time.Duration, limit int) ([]domain.Action, error) {
	return s.actions(ctx, sqlUntold, pgx.NamedArgs{"age": age, "limit": limit})
}

// MarkTold records that the workflows of these actions were told of the decision.
func (s *Store) MarkTold(ctx context.Context, ids ...string) error {
	_, err := s.pool.Exec(ctx, sqlMarkTold, pgx.NamedArgs{"actions": ids})
	return failed("mark actions told", err)
}

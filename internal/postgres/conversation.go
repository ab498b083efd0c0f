package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const conversationColumns = `
c.id, coalesce(c.project_id, ''), c.title, c.user_id, coalesce(u.name, c.user_id), coalesce(m.depth, 0), c.created_at, c.updated_at,
coalesce(c.head_id, ''), coalesce(c.active_turn_id, ''), c.suggestions
from conversations c left join users u on u.id = c.user_id left join messages m on m.id = c.head_id`

var (
	sqlConversation = statement("read a conversation", `select`+conversationColumns+` where c.id = @conversation`)

	sqlConversations = statement("list conversations", `
select`+conversationColumns+`
where case when @project::text <> '' then c.project_id = @project else c.user_id = @user and c.project_id is null end
  and (@before::timestamptz is null or (c.updated_at, c.id) < (@before, @before_id::text))
order by c.updated_at desc, c.id desc limit @limit`)

	sqlAddConversation = statement("add a conversation", `
insert into conversations (id, user_id, project_id, title, titled, head_id)
values (@conversation, @user, @project, @title, @titled, @head) returning created_at, updated_at`)

	sqlLockTree = statement("lock a conversation's tree", `
select coalesce(active_turn_id, ''), coalesce(project_id, '') from conversations where id = @conversation for no key update`)

	sqlAskedBy = statement("who asked a turn", `
select coalesce(u.name, t.user_id) from turns t left join users u on u.id = t.user_id where t.id = @turn`)

	sqlRetitle = statement("title a conversation", `
update conversations set title = @title, titled = true, updated_at = now() where id = @conversation returning updated_at`)

	sqlCut = statement("cut a conversation back", `
update conversations set head_id = @message, suggestions = '[]', updated_at = now() where id = @conversation returning updated_at`)

	sqlDropConversation = statement("remove a conversation", `
delete from conversations where id = @conversation returning coalesce(project_id, '')`)
)

// Conversation gives a conversation, or not_found.
func (s *Store) Conversation(ctx context.Context, id string) (domain.Conversation, error) {
	c, err := scanConversation(s.pool.QueryRow(ctx, sqlConversation, pgx.NamedArgs{"conversation": id}))
	if noRows(err) {
		return c, domain.NotFound("there is no conversation %q", id)
	}
	return c, failed("load conversation "+id, err)
}

// Conversations lists a project's or a person's conversations, the one changed last first.
func (s *Store) Conversations(ctx context.Context, q domain.ConversationQuery) ([]domain.Conversation, error) {
	args := pgx.NamedArgs{"project": q.ProjectID, "user": q.UserID, "before": nil, "before_id": q.BeforeID, "limit": nil}
	if !q.BeforeTime.IsZero() {
		args["before"] = q.BeforeTime
	}
	if q.Limit > 0 {
		args["limit"] = q.Limit
	}
	rows, err := s.pool.Query(ctx, sqlConversations, args)
	if err != nil {
		return nil, failed("list conversations", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Conversation, error) { return scanConversation(row) })
	return list, failed("list conversations", err)
}

func scanConversation(row pgx.Row) (c domain.Conversation, err error) {
	var suggestions []byte
	err = row.Scan(&c.ID, &c.ProjectID, &c.Title, &c.CreatedBy, &c.CreatedByName, &c.MessageCount, &c.CreatedAt, &c.UpdatedAt,
		&c.HeadID, &c.ActiveTurnID, &suggestions)
	if err != nil {
		return c, err
	}
	c.CreatedAt, c.UpdatedAt = c.CreatedAt.UTC(), c.UpdatedAt.UTC()
	if err := json.Unmarshal(suggestions, &c.Suggestions); err != nil {
		return c, fmt.Errorf("read conversation %s: %w", c.ID, err)
	}
	return c, nil
}

// CreateConversation makes an empty conversation and tells its project of it. It is a conflict
// where the project is being deleted.
func (s *Store) CreateConversation(ctx context.Context, c domain.Conversation) (domain.Conversation, error) {
	c.ID, c.Title = domain.NewID(), clean(c.Title)
	err := s.changeNoted(ctx, c.ProjectID, func(tx pgx.Tx) ([]domain.NewEvent, error) {
		if err := addConversation(ctx, tx, &c); err != nil {
			return nil, err
		}
		return []domain.NewEvent{conversationCreated(c)}, nil
	})
	return c, failed("create a conversation", err)
}

func addConversation(ctx context.Context, tx pgx.Tx, c *domain.Conversation) error {
	if c.ProjectID != "" {
		if err := shareProject(ctx, tx, c.ProjectID); err != nil {
			return err
		}
	}
	err := tx.QueryRow(ctx, sqlAddConversation, pgx.NamedArgs{
		"conversation": c.ID, "user": c.CreatedBy, "project": optional(c.ProjectID), "title": c.Title, "titled": c.Title != "", "head": optional(c.HeadID),
	}).Scan(&c.CreatedAt, &c.UpdatedAt)
	c.CreatedAt, c.UpdatedAt = c.CreatedAt.UTC(), c.UpdatedAt.UTC()
	return err
}

// RetitleConversation gives a conversation a title of a person's own, or gives not_found.
func (s *Store) RetitleConversation(ctx context.Context, id, title string) error {
	title = clean(title)
	return s.changeConversation(ctx, id, "title", func(tx pgx.Tx, _ string) ([]domain.NewEvent, error) {
		var at time.Time
		err := tx.QueryRow(ctx, sqlRetitle, pgx.NamedArgs{"conversation": id, "title": title}).Scan(&at)
		named := domain.NewPayload(domain.EventTitleUpdated, map[string]string{"title": title, "conv_id": id})
		return []domain.NewEvent{named, conversationUpdated(id, at)}, err
	})
}

// CutConversation makes the message the end of the branch in use; "" empties it. What came
// after stays in the tree. It is a conflict while a turn runs.
func (s *Store) CutConversation(ctx context.Context, id, messageID string) error {
	return s.changeConversation(ctx, id, "cut", func(tx pgx.Tx, active string) ([]domain.NewEvent, error) {
		if active != "" {
			var by string
			if err := tx.QueryRow(ctx, sqlAskedBy, pgx.NamedArgs{"turn": active}).Scan(&by); err != nil {
				return nil, err
			}
			return nil, held(ctx, tx, active, by)
		}
		var at time.Time
		err := tx.QueryRow(ctx, sqlCut, pgx.NamedArgs{"conversation": id, "message": optional(messageID)}).Scan(&at)
		return []domain.NewEvent{conversationUpdated(id, at)}, err
	})
}

// changeConversation changes a conversation whose lock's holder change is told, and tells its
// project.
func (s *Store) changeConversation(ctx context.Context, id, doing string, change func(tx pgx.Tx, active string) ([]domain.NewEvent, error)) error {
	c, err := s.Conversation(ctx, id)
	if err != nil {
		return err
	}
	err = s.changeNoted(ctx, c.ProjectID, func(tx pgx.Tx) ([]domain.NewEvent, error) {
		var active, project string
		if err := tx.QueryRow(ctx, sqlLockTree, pgx.NamedArgs{"conversation": id}).Scan(&active, &project); err != nil {
			return nil, err
		}
		return change(tx, active)
	})
	switch {
	case noRows(err):
		return domain.NotFound("there is no conversation %q", id)
	case domain.CodeOf(err) == domain.CodeConflict:
		return err
	}
	return failed(doing+" conversation "+id, err)
}

// DeleteConversation removes a conversation with its messages, or gives not_found. Its turns
// stay, for what they took.
func (s *Store) DeleteConversation(ctx context.Context, id string) error {
	err := s.changeConversation(ctx, id, "remove", func(tx pgx.Tx, _ string) ([]domain.NewEvent, error) {
		var project string
		err := tx.QueryRow(ctx, sqlDropConversation, pgx.NamedArgs{"conversation": id}).Scan(&project)
		return []domain.NewEvent{domain.NewPayload(domain.EventConversationDeleted, map[string]string{"conv_id": id})}, err
	})
	return err
}

package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres/live"
)

// maxIDLength bounds the ids that clients choose.
const maxIDLength = 200

var (
	sqlKeepKey = statement("keep an idempotency key", `
insert into idempotency (user_id, key, body_hash, turn_id) values (@user, @key, @hash, @turn)
on conflict (user_id, key) do update set key = excluded.key
returning turn_id, body_hash`)

	sqlNewConversation = statement("new conversation", `
insert into conversations (id, user_id, project_id, title) values (@conversation, @user, @project, @title) on conflict do nothing
returning id`)

	sqlLockConversation = statement("lock a conversation", `
with was as (
    select id, project_id is not distinct from @project and (project_id is not null or user_id = @user) as own, active_turn_id, head_id
    from conversations where id = @conversation for update
), locked as (
    update conversations c set active_turn_id = @turn, suggestions = '[]', updated_at = now(),
        title = case when c.title = '' then @title else c.title end
    from was where c.id = was.id and was.own and was.active_turn_id is null
    returning c.id
)
select was.own, coalesce(was.active_turn_id, ''), was.head_id, exists (select from locked),
    coalesce((select coalesce(u.name, t.user_id) from turns t left join users u on u.id = t.user_id where t.id = was.active_turn_id), '')
from was`)

	sqlNewTurn = statement("new turn", `
insert into turns (id, user_id, project_id, feed_seq, conversation_id, message_id, query, repositories, versions, provider_id, model)
values (@turn, @user, @project, @feed_seq, @conversation, @message, @query, @repositories, @versions, @provider, @model)
returning created_at`)

	sqlNewMessage = statement("new message", `
insert into messages (id, conversation_id, parent_id, turn_id, role, content, characters, body, depth)
values (@message, @conversation, @parent, @turn, @role, @content, @characters, @query,
        1 + coalesce((select depth from messages where id = @parent), 0))`)

	sqlParent = statement("find a message's parent", `
select parent_id from messages where id = @message and conversation_id = @conversation`)

	// Shared by those who begin something; a deletion waits for them, and they see it after.
	sqlShareProject = statement("share a project", `
select deleting_at is not null from projects where id = @project for share`)

	sqlWaitingActions = statement("list what a turn waits for", `
select coalesce(array_agg(id order by id), '{}'), coalesce(array_agg(tool || ' (' || id || ')' order by id), '{}')
from actions where turn_id = @turn and status = 'pending'`)

	sqlHead = statement("move a conversation's head", `
update conversations set head_id = @message, updated_at = now() where id = @conversation`)
)

// CreateTurn accepts a query: the turn, the person's message with its event, the idempotency
// key and the conversation's lock are one commit. It gives the turn and whether it is new: a
// key that was used before, with the same request, gives the turn of then.
//
// Errors are unprocessable (the key came with another request), conflict (the conversation
// is busy; the text names the turn), not_found (it is another person's; or the query is limited
// to a repository or version that has not been read) and invalid.
func (s *Store) CreateTurn(ctx context.Context, req domain.TurnRequest) (turn domain.Turn, created bool, err error) {
	if err := checkRequest(&req); err != nil {
		return domain.Turn{}, false, err
	}
	n := newTurn{store: s, req: req, id: domain.NewID(), message: domain.NewID()}
	if n.plain() {
		err = n.insert(ctx, s.pool) // one batch, and so one transaction, without the round trips around it
	} else {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return n.insert(ctx, tx) })
	}
	var earlier earlierTurn
	if errors.As(err, &earlier) {
		turn, err := s.Turn(ctx, string(earlier))
		return turn, false, err
	}
	if err != nil {
		if domain.CodeOf(err) != domain.CodeInternal {
			return domain.Turn{}, false, err
		}
		return domain.Turn{}, false, failed("create a turn", err)
	}
	s.tell(n.told...)
	return n.turn, true, nil
}

func checkRequest(req *domain.TurnRequest) error {
	req.Query = clean(req.Query)
	switch {
	case strings.TrimSpace(req.Query) == "":
		return domain.Invalid("query", "must not be empty")
	case len(req.ConversationID) > maxIDLength || clean(req.ConversationID) != req.ConversationID:
		return domain.Invalid("conversation_id", "must be plain text of at most %d bytes", maxIDLength)
	case len(req.IdempotencyKey) > maxIDLength || clean(req.IdempotencyKey) != req.IdempotencyKey:
		return domain.Invalid("Idempotency-Key", "must be plain text of at most %d bytes", maxIDLength)
	}
	return nil
}

// earlierTurn reports that the request was accepted before.
type earlierTurn string

func (e earlierTurn) Error() string { return "accepted before as turn " + string(e) }

// newTurn is a turn on its way in.
type newTurn struct {
	store       *Store
	req         domain.TurnRequest
	id, message string
	parent      *string
	feedSeq     int64          // of a project's turn: where its lock stands
	told        []live.Message // of the project's log, once it is committed
	turn        domain.Turn
}

// sender is a pool or a transaction that takes batches.
type sender interface {
	querier
	SendBatch(ctx context.Context, steps *pgx.Batch) pgx.BatchResults
}

// plain reports that nothing has to be looked up before the turn is written.
func (n *newTurn) plain() bool {
	return n.req.IdempotencyKey == "" && n.req.ProjectID == "" && n.req.ConversationID == "" && len(n.req.Repositories) == 0 && len(n.req.Versions) == 0
}

func (n *newTurn) insert(ctx context.Context, tx sender) error {
	if err := n.keepKey(ctx, tx); err != nil {
		return err
	}
	if err := n.checkScope(ctx, tx); err != nil {
		return err
	}
	fresh, err := n.lock(ctx, tx)
	if err != nil {
		return err
	}
	if err := n.announce(ctx, tx, fresh); err != nil {
		return err
	}
	steps := &pgx.Batch{}
	content, refs, err := n.store.userContent(steps, n.req)
	if err != nil {
		return err
	}
	n.turn = domain.Turn{
		ID: n.id, UserID: n.req.UserID, ProjectID: n.req.ProjectID, ConversationID: n.req.ConversationID, Query: n.req.Query, Repositories: n.req.Repositories,
		Versions: n.req.Versions, Status: domain.TurnQueued, Sources: []domain.Source{},
	}
	args := pgx.NamedArgs{
		"turn": n.id, "subject": n.id, "user": n.req.UserID, "project": optional(n.req.ProjectID), "feed_seq": n.feedSeq,
		"conversation": optional(n.req.ConversationID), "message": n.message, "query": n.req.Query,
		"repositories": list(n.req.Repositories), "versions": list(n.req.Versions), "provider": n.req.Provider.ProviderID, "model": n.req.Provider.Model,
		"parent": n.parent, "role": domain.RoleUser, "content": content, "characters": utf8.RuneCountInString(n.req.Query), "stream": feedOf(n.req.ProjectID, n.req.UserID),
	}
	steps.Queue(sqlNewTurn, args).QueryRow(func(row pgx.Row) error { return row.Scan(&n.turn.CreatedAt) })
	steps.Queue(sqlNewMessage, args)
	for _, ref := range refs {
		steps.Queue(sqlUseValue, pgx.NamedArgs{"owner": feedOf(n.req.ProjectID, n.req.UserID), "sha256": ref.SHA256, "message": n.message})
	}
	if n.req.ConversationID != "" {
		steps.Queue(sqlHead, args)
	}
	steps.Queue(sqlNewStream, args)
	steps.Queue(sqlNewSubject, args)
	said := []domain.NewEvent{domain.NewPayload(domain.EventUserMessage, n.said())}
	steps.Queue(sqlAppend, newBatch(n.id, 0, said, nil).args)
	return tx.SendBatch(ctx, steps).Close()
}

// said is the payload of the user_message event.
func (n *newTurn) said() map[string]any {
	type file struct {
		Name     string `json:"name"`
		MimeType string `json:"mime_type"`
		Size     int    `json:"size"`
		Preview  string `json:"preview_url,omitempty"`
	}
	files := []file{}
	for i, a := range n.req.Attachments {
		files = append(files, file{a.Name, a.MimeType, len(a.Data), n.preview(i)})
	}
	said := map[string]any{"query": n.req.Query, "username": n.userName(), "attachments": files, "turn_id": n.id}
	if n.req.ConversationID != "" {
		said["conv_id"] = n.req.ConversationID
	}
	return said
}

// preview is where the API serves an attachment, of a turn that has a conversation.
func (n *newTurn) preview(i int) string {
	if n.req.ConversationID == "" {
		return ""
	}
	return domain.AttachmentPath(n.req.ProjectID, n.req.ConversationID, n.message, i)
}

var errOtherRequest = domain.Errorf(domain.CodeUnprocessable, "this Idempotency-Key was used with another request; choose a new key")

// keepKey records the idempotency key, or finds what it stands for.
func (n *newTurn) keepKey(ctx context.Context, tx sender) error {
	if n.req.IdempotencyKey == "" {
		return nil
	}
	unkeyed := n.req
	unkeyed.IdempotencyKey = ""
	body, err := json.Marshal(unkeyed)
	if err != nil {
		return fmt.Errorf("hash the request: %w", err)
	}
	sum := sha256.Sum256(body)
	var turnID string
	var hash []byte
	err = tx.QueryRow(ctx, sqlKeepKey, pgx.NamedArgs{"user": n.req.UserID, "key": n.req.IdempotencyKey, "hash": sum[:], "turn": n.id}).
		Scan(&turnID, &hash)
	switch {
	case err != nil:
		return fmt.Errorf("keep the idempotency key: %w", err)
	case !bytes.Equal(hash, sum[:]):
		return errOtherRequest
	case turnID != n.id:
		return earlierTurn(turnID)
	}
	return nil
}

// userName is what people call who asks.
func (n *newTurn) userName() string {
	if n.req.UserName != "" {
		return n.req.UserName
	}
	return n.req.UserID
}

// lock takes the conversation's lock, making the conversation on first use: fresh tells so.
func (n *newTurn) lock(ctx context.Context, tx sender) (fresh bool, err error) {
	if n.req.ConversationID == "" {
		return false, nil
	}
	args := pgx.NamedArgs{
		"conversation": n.req.ConversationID, "user": n.req.UserID, "project": optional(n.req.ProjectID), "turn": n.id, "title": domain.TitleOf(n.req.Query),
	}
	var own, locked bool
	var holder, by string
	steps := &pgx.Batch{}
	steps.Queue(sqlNewConversation, args).Query(func(rows pgx.Rows) error {
		fresh = rows.Next()
		rows.Close()
		return rows.Err()
	})
	steps.Queue(sqlLockConversation, args).QueryRow(func(row pgx.Row) error { return row.Scan(&own, &holder, &n.parent, &locked, &by) })
	if err := tx.SendBatch(ctx, steps).Close(); err != nil {
		return false, fmt.Errorf("lock the conversation: %w", err)
	}
	switch {
	case !own:
		return false, domain.Hidden("there is no conversation %q here; if you meant to begin one, choose another name", n.req.ConversationID)
	case !locked:
		return false, held(ctx, tx, holder, by)
	}
	return fresh, n.beside(ctx, tx)
}

// beside puts the query in the place of another message of the conversation.
func (n *newTurn) beside(ctx context.Context, tx sender) error {
	if n.req.Beside == "" {
		return nil
	}
	err := tx.QueryRow(ctx, sqlParent, pgx.NamedArgs{"message": n.req.Beside, "conversation": n.req.ConversationID}).Scan(&n.parent)
	if noRows(err) {
		return domain.NotFound("there is no message %q in this conversation", n.req.Beside)
	}
	return err
}

// shareProject keeps a project from being deleted until the transaction ends; it is a conflict
// where the deletion has begun.
func shareProject(ctx context.Context, tx querier, id string) error {
	var deleting bool
	err := tx.QueryRow(ctx, sqlShareProject, pgx.NamedArgs{"project": id}).Scan(&deleting)
	switch {
	case noRows(err):
		return domain.NotFound("there is no project %q", id)
	case err != nil:
		return fmt.Errorf("look at the project: %w", err)
	case deleting:
		return domain.Errorf(domain.CodeConflict, "the project is being deleted")
	}
	return nil
}

// announce tells the project that the turn begins: its conversation, where that is new, and
// the lock.
func (n *newTurn) announce(ctx context.Context, tx sender, fresh bool) error {
	if n.req.ProjectID == "" {
		return nil
	}
	if err := shareProject(ctx, tx, n.req.ProjectID); err != nil {
		return err
	}
	var events []domain.NewEvent
	if fresh {
		now := time.Now().UTC()
		events = append(events, conversationCreated(domain.Conversation{
			ID: n.req.ConversationID, Title: domain.TitleOf(n.req.Query), CreatedBy: n.req.UserID, CreatedByName: n.userName(),
			CreatedAt: now, UpdatedAt: now,
		}))
	}
	events = append(events, domain.NewPayload(domain.EventLock, map[string]string{
		"by": n.userName(), "user_id": n.req.UserID, "conv_id": n.req.ConversationID, "turn_id": n.id,
	}))
	var err error
	n.feedSeq, n.told, err = note(ctx, tx, n.req.ProjectID, events...)
	return err
}

// held says which turn holds the conversation, and what that one waits for.
func held(ctx context.Context, tx querier, holder, by string) error {
	refusal := domain.Errorf(domain.CodeConflict, "chat is locked by %s: turn %s of this conversation is still running", by, holder)
	refusal.Holder = holder
	var names []string
	err := tx.QueryRow(ctx, sqlWaitingActions, pgx.NamedArgs{"turn": holder}).Scan(&refusal.Actions, &names)
	if err != nil {
		return fmt.Errorf("list what the conversation waits for: %w", err)
	}
	if len(refusal.Actions) > 0 {
		refusal.Message = fmt.Sprintf("chat is locked by %s: turn %s waits for a decision on %s; approve or reject, or cancel the turn",
			by, holder, strings.Join(names, ", "))
	}
	return refusal
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// uniqueViolation reports whether err is that a key exists already.
func uniqueViolation(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == "23505"
}

package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var (
	sqlCopyMessage = statement("copy a message", `
insert into messages (id, conversation_id, parent_id, turn_id, role, content, characters, summary, created_at, body, depth)
select @copy, @conversation, @parent, turn_id, role, content, characters, summary, created_at, body, depth
from messages where id = @message`)

	sqlCopyUses = statement("copy what a message holds", `
insert into value_uses (owner, sha256, message_id) select owner, sha256, @copy from value_uses where message_id = @message`)

	sqlHoldPath = statement("hold a branch", `select id from messages where id = any(@messages::text[]) for share`)

	sqlTurnScope = statement("read what a turn was limited to", `
select repositories, versions, provider_id, model from turns where id = @turn`)
)

// BranchConversation makes a new conversation out of the branch that ends with a message of
// another one, which stays as it is. The title and who makes it come with c. The error is
// not_found where the message is not of the conversation.
func (s *Store) BranchConversation(ctx context.Context, from domain.Conversation, messageID string, c domain.Conversation) (domain.Conversation, error) {
	path, err := s.pathTo(ctx, from.ID, messageID)
	if err != nil {
		return domain.Conversation{}, err
	}
	c.ID, c.Title, c.ProjectID, c.MessageCount = domain.NewID(), clean(c.Title), from.ProjectID, len(path)
	copies := make([]string, len(path))
	for i := range path {
		copies[i] = domain.NewID()
	}
	c.HeadID = copies[len(copies)-1]
	err = s.changeNoted(ctx, c.ProjectID, func(tx pgx.Tx) ([]domain.NewEvent, error) {
		if err := addConversation(ctx, tx, &c); err != nil {
			return nil, err
		}
		steps := &pgx.Batch{}
		steps.Queue(sqlHoldPath, pgx.NamedArgs{"messages": path})
		var parent *string
		for i, id := range path {
			args := pgx.NamedArgs{"copy": copies[i], "conversation": c.ID, "parent": parent, "message": id}
			steps.Queue(sqlCopyMessage, args)
			steps.Queue(sqlCopyUses, args)
			parent = &copies[i]
		}
		return []domain.NewEvent{conversationCreated(c)}, tx.SendBatch(ctx, steps).Close()
	})
	if foreignKeyViolation(err) { // a message went while its copy was made
		return c, domain.Errorf(domain.CodeConflict, "the conversation has changed; try again")
	}
	return c, failed("branch conversation "+from.ID, err)
}

// pathTo gives the ids of the messages up to one, oldest first.
func (s *Store) pathTo(ctx context.Context, conversationID, messageID string) ([]string, error) {
	if err := s.knowMessage(ctx, conversationID, messageID); err != nil {
		return nil, err
	}
	entries, err := s.branch(ctx, messageID)
	if err != nil {
		return nil, failed("read a branch", err)
	}
	path := make([]string, len(entries))
	for i, e := range entries {
		path[i] = e.ID
	}
	return path, nil
}

func (s *Store) knowMessage(ctx context.Context, conversationID, messageID string) error {
	var content []byte
	var project, user string
	err := s.pool.QueryRow(ctx, sqlMessage, pgx.NamedArgs{"message": messageID, "conversation": conversationID}).Scan(&content, &project, &user)
	if noRows(err) {
		return s.noMessage(ctx, messageID)
	}
	return failed("read message "+messageID, err)
}

// LastQuestion gives the last thing that a person asked on the branch in use, as a request
// that asks it again, beside what it led to. A conversation without one is a conflict.
func (s *Store) LastQuestion(ctx context.Context, c domain.Conversation) (domain.TurnRequest, error) {
	entries, err := s.branch(ctx, c.HeadID)
	if err != nil {
		return domain.TurnRequest{}, failed("read the last question of conversation "+c.ID, err)
	}
	slices.Reverse(entries)
	i := slices.IndexFunc(entries, func(e storedEntry) bool { return e.Role == domain.RoleUser })
	if i < 0 {
		return domain.TurnRequest{}, domain.Errorf(domain.CodeConflict, "nothing was asked in this conversation yet")
	}
	asked := entries[i]
	room := int64(1 << 40) // all of them
	if err := s.inline(ctx, feedOf(c.ProjectID, c.CreatedBy), asked.files, &room); err != nil {
		return domain.TurnRequest{}, err
	}
	req := domain.TurnRequest{ProjectID: c.ProjectID, ConversationID: c.ID, Query: asked.Text, Beside: asked.ID}
	for _, f := range asked.files {
		req.Attachments = append(req.Attachments, domain.Attachment{Name: f.Name, MimeType: f.MimeType, Data: f.Data})
	}
	err = s.pool.QueryRow(ctx, sqlTurnScope, pgx.NamedArgs{"turn": asked.TurnID}).
		Scan(&req.Repositories, &req.Versions, &req.Provider.ProviderID, &req.Provider.Model)
	if noRows(err) {
		err = nil
	}
	return req, failed("read turn "+asked.TurnID, err)
}

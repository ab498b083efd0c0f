package api

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

const maxTitle = 200 // characters

// conversationBody is the body of POST …/conversations, which may be left out.
type conversationBody struct {
	Title string `json:"title"`
}

func (b *conversationBody) mayBeEmpty() {}

func (b *conversationBody) validate() error {
	b.Title = strings.TrimSpace(b.Title)
	return validTitle(b.Title)
}

func validTitle(title string) error {
	if utf8.RuneCountInString(title) > maxTitle || !plainText(title) {
		return domain.Invalid("title", "must be a text of at most %d characters", maxTitle)
	}
	return nil
}

// createConversation answers POST …/conversations.
func (s *Server) createConversation(ctx context.Context, r request[conversationBody]) (domain.Conversation, error) {
	if err := s.scrubNames(ctx, r.project.ID, &r.body.Title); err != nil {
		return domain.Conversation{}, err
	}
	return s.Conversations.CreateConversation(ctx, domain.Conversation{
		ProjectID: r.project.ID, Title: r.body.Title, CreatedBy: r.caller.UserID, CreatedByName: r.caller.Name,
	})
}

// theConversation loads the conversation that a path names: of its project, or the caller's own.
func (s *Server) theConversation(ctx context.Context, who caller, project domain.Project, id string) (domain.Conversation, error) {
	c, err := s.Conversations.Conversation(ctx, id)
	if err != nil {
		return c, err
	}
	if c.ProjectID != project.ID || project.ID == "" && c.CreatedBy != who.UserID {
		return domain.Conversation{}, domain.Hidden("there is no conversation %q", id)
	}
	return c, nil
}

// conversationDetail is a conversation with its messages.
type conversationDetail struct {
	ID            string    `json:"id"`
	Title         string    `json:"title"`
	Messages      []any     `json:"messages"`
	Suggestions   []string  `json:"suggestions"`
	CreatedBy     string    `json:"created_by"`
	CreatedByName string    `json:"created_by_name"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	ActiveTurnID  string    `json:"active_turn_id,omitempty"` // the turn that holds the lock
}

// conversation answers GET …/conversations/:cid.
func (s *Server) conversation(ctx context.Context, r request[none]) (conversationDetail, error) {
	c, err := s.theConversation(ctx, r.caller, r.project, r.path["cid"])
	if err != nil {
		return conversationDetail{}, err
	}
	entries, err := s.Conversations.Entries(ctx, c, "")
	if err != nil {
		return conversationDetail{}, err
	}
	return detailOf(c, entries), nil
}

func detailOf(c domain.Conversation, entries []domain.Entry) conversationDetail {
	detail := conversationDetail{
		ID: c.ID, Title: c.Title, Messages: make([]any, len(entries)), Suggestions: listed(c.Suggestions),
		CreatedBy: c.CreatedBy, CreatedByName: c.CreatedByName, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, ActiveTurnID: c.ActiveTurnID,
	}
	for i, e := range entries {
		detail.Messages[i] = elementOf(c, e)
	}
	return detail
}

// deleteConversation answers DELETE …/conversations/:cid, for who made it and for admins.
func (s *Server) deleteConversation(ctx context.Context, r request[none]) (done, error) {
	c, err := s.theConversation(ctx, r.caller, r.project, r.path["cid"])
	if err != nil {
		return done{}, err
	}
	if c.CreatedBy != r.caller.UserID && !r.caller.Admin() {
		return done{}, domain.Errorf(domain.CodeForbidden, "only %s and admins may delete this conversation", c.CreatedByName)
	}
	err = s.Workspaces.DeleteConversation(ctx, c.ID)
	return done{err == nil}, err
}

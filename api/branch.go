package api

import (
	"context"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// branchBody is the body of POST …/conversations/:cid/branch.
type branchBody struct {
	MessageID string `json:"message_id"`
	Title     string `json:"title"`
}

func (b *branchBody) validate() error {
	if b.MessageID == "" {
		return domain.Invalid("message_id", "names the last message of the new conversation")
	}
	b.Title = strings.TrimSpace(b.Title)
	return validTitle(b.Title)
}

// branchConversation answers POST …/conversations/:cid/branch with the new conversation.
func (s *Server) branchConversation(ctx context.Context, r request[branchBody]) (domain.Conversation, error) {
	if err := s.scrubNames(ctx, r.project.ID, &r.body.Title); err != nil {
		return domain.Conversation{}, err
	}
	c, err := s.theConversation(ctx, r.caller, r.project, r.path["cid"])
	if err != nil {
		return domain.Conversation{}, err
	}
	title := r.body.Title
	if title == "" {
		title = c.Title
	}
	return s.Conversations.BranchConversation(ctx, c, r.body.MessageID, domain.Conversation{
		Title: title, CreatedBy: r.caller.UserID, CreatedByName: r.caller.Name,
	})
}

// retryBody is the body of POST …/conversations/:cid/retry, which may be left out.
type retryBody struct {
	ProviderID string `json:"provider_id"`
	Model      string `json:"model"`
}

func (b *retryBody) mayBeEmpty() {}

func (b *retryBody) validate() error {
	if err := validName("provider_id", b.ProviderID); err != nil {
		return err
	}
	return validName("model", b.Model)
}

// turnStarted is the answer of what begins a turn and does not wait for it.
type turnStarted struct {
	OK     bool   `json:"ok"`
	TurnID string `json:"turn_id"`
}

// retryConversation answers POST …/conversations/:cid/retry: the last question is answered
// anew, as another branch.
func (s *Server) retryConversation(ctx context.Context, r request[retryBody]) (turnStarted, error) {
	c, err := s.theConversation(ctx, r.caller, r.project, r.path["cid"])
	if err != nil {
		return turnStarted{}, err
	}
	key, err := idempotencyKey(r.header)
	if err != nil {
		return turnStarted{}, err
	}
	turn, err := s.Workspaces.AskAgain(ctx, c, domain.TurnRequest{
		UserID: r.caller.UserID, UserName: r.caller.Name, IdempotencyKey: key,
		Provider: domain.ProviderSelection{ProviderID: r.body.ProviderID, Model: r.body.Model},
	})
	if err != nil {
		return turnStarted{}, err
	}
	r.reply.Set(turnIDHeader, turn.ID)
	return turnStarted{true, turn.ID}, nil
}

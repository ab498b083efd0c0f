package api

import (
	"context"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// conversationChange is the body of PUT …/conversations/:cid.
type conversationChange struct {
	Title    *string         `json:"title"`
	Messages *[]messageShort `json:"messages"`
}

// messageShort is what a client must say of a message to keep it.
type messageShort struct {
	Role domain.Role `json:"role"`
	Text string      `json:"text"`
}

func (b *conversationChange) validate() error {
	if b.Title == nil && b.Messages == nil {
		return domain.Invalid("", "give a title or messages")
	}
	if b.Title == nil {
		return nil
	}
	*b.Title = strings.TrimSpace(*b.Title)
	return validTitle(*b.Title)
}

// changeConversation answers PUT …/conversations/:cid. The messages are the server's: all that
// a client can do to them is to leave the last ones out, and then another branch begins there.
func (s *Server) changeConversation(ctx context.Context, r request[conversationChange]) (done, error) {
	if err := s.scrubNames(ctx, r.project.ID, r.body.Title); err != nil {
		return done{}, err
	}
	c, err := s.theConversation(ctx, r.caller, r.project, r.path["cid"])
	if err != nil {
		return done{}, err
	}
	if r.body.Messages != nil {
		if err := s.cutConversation(ctx, c, *r.body.Messages); err != nil {
			return done{}, err
		}
	}
	if r.body.Title != nil && *r.body.Title != c.Title {
		err = s.Conversations.RetitleConversation(ctx, c.ID, *r.body.Title)
	}
	return done{err == nil}, err
}

// cutConversation cuts a conversation back to the messages that are kept. As many as there
// are, or more, change nothing: what a client has on its screen is not what is stored.
func (s *Server) cutConversation(ctx context.Context, c domain.Conversation, kept []messageShort) error {
	if len(kept) >= c.MessageCount {
		return nil
	}
	entries, err := s.Conversations.Entries(ctx, c, "")
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return s.Conversations.CutConversation(ctx, c.ID, "")
	}
	for i, m := range kept {
		if i >= len(entries) || m.Role != entries[i].Role || m.Text != entries[i].Text {
			return domain.Invalid("messages", "message %d is not the conversation's: messages can be left out at the end, and no more", i)
		}
	}
	last := entries[len(kept)-1]
	if last.Role != domain.RoleAssistant {
		return domain.Invalid("messages", "must end with an answer")
	}
	return s.Conversations.CutConversation(ctx, c.ID, last.ID)
}

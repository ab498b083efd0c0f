package api

import (
	"context"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	maxTitle     = 200 // characters
	defaultPage  = 50
	maxPage      = 200
	maxSearch    = 1000 // characters of what is looked for
	searchResult = 50
)

// conversationItem is an element of a list of conversations.
type conversationItem = domain.Conversation

// conversationPage is a list that was asked for in pages.
type conversationPage struct {
	Conversations []conversationItem `json:"conversations"`
	NextCursor    string             `json:"next_cursor,omitempty"` // absent on the last page
}

// conversations answers GET …/conversations: all of them, or with ?limit= or ?cursor= a page.
func (s *Server) conversations(ctx context.Context, r request[none]) (any, error) {
	q := domain.ConversationQuery{ProjectID: r.project.ID, UserID: r.caller.UserID}
	paged := r.query.Has("limit") || r.query.Has("cursor")
	if paged {
		if err := readPage(r, &q); err != nil {
			return nil, err
		}
	}
	list, err := s.Conversations.Conversations(ctx, q)
	if err != nil {
		return nil, err
	}
	if list == nil {
		list = []conversationItem{}
	}
	if !paged {
		return list, nil
	}
	page := conversationPage{Conversations: list}
	if len(list) == q.Limit { // one more than the page has: there is more
		page.Conversations = list[:q.Limit-1]
		last := page.Conversations[q.Limit-2]
		page.NextCursor = base64.RawURLEncoding.EncodeToString([]byte(last.UpdatedAt.Format(time.RFC3339Nano) + " " + last.ID))
	}
	return page, nil
}

// readPage reads ?limit= and ?cursor= into q, whose limit is one more than the page's.
func readPage(r request[none], q *domain.ConversationQuery) error {
	limit, err := readLimit(r.query.Get("limit"), defaultPage, maxPage)
	if err != nil {
		return err
	}
	q.Limit = limit + 1
	cursor := r.query.Get("cursor")
	if cursor == "" {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	at, id, found := strings.Cut(string(text), " ")
	when, timeErr := time.Parse(time.RFC3339Nano, at)
	if err != nil || !found || timeErr != nil || !plainText(id) {
		return domain.Invalid("cursor", "is not a next_cursor of this list")
	}
	q.BeforeTime, q.BeforeID = when, id
	return nil
}

func readLimit(text string, standard, most int) (int, error) {
	if text == "" {
		return standard, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, domain.Invalid("limit", "must be a number from 1 to %d", most)
	}
	return n, nil
}

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
		return domain.Conversation{}, hidden{domain.NotFound("there is no conversation %q", id)}
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
		ID: c.ID, Title: c.Title, Messages: make([]any, len(entries)), Suggestions: c.Suggestions,
		CreatedBy: c.CreatedBy, CreatedByName: c.CreatedByName, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, ActiveTurnID: c.ActiveTurnID,
	}
	if detail.Suggestions == nil {
		detail.Suggestions = []string{}
	}
	for i, e := range entries {
		detail.Messages[i] = elementOf(c, e)
	}
	return detail
}

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

// searchConversations answers GET …/conversations/search?q=.
func (s *Server) searchConversations(ctx context.Context, r request[none]) (searched, error) {
	words := strings.TrimSpace(r.query.Get("q"))
	if words == "" || utf8.RuneCountInString(words) > maxSearch {
		return searched{}, domain.Invalid("q", "must have 1 to %d characters", maxSearch)
	}
	limit, err := readLimit(r.query.Get("limit"), searchResult, maxPage)
	if err != nil {
		return searched{}, err
	}
	q := domain.ConversationQuery{ProjectID: r.project.ID, UserID: r.caller.UserID, Limit: limit}
	found, err := s.Conversations.SearchConversations(ctx, q, words)
	if found == nil {
		found = []domain.Found{}
	}
	return searched{found}, err
}

// searched is what a search found.
type searched struct {
	Results []domain.Found `json:"results"`
}

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

func idempotencyKey(header http.Header) (string, error) {
	key := header.Get("Idempotency-Key")
	if len(key) > 255 || !plainText(key) {
		return "", domain.Invalid("Idempotency-Key", "must be a text of at most 255 bytes")
	}
	return key, nil
}

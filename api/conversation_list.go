package api

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
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
	list, err := listing(s.Conversations.Conversations(ctx, q))
	if err != nil {
		return nil, err
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
	found, err := listing(s.Conversations.SearchConversations(ctx, q, words))
	return searched{found}, err
}

// searched is what a search found.
type searched struct {
	Results []domain.Found `json:"results"`
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

package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// fakeTalks keeps conversations in memory. "c1" is of the project p1 and has messages; "mine"
// is the owner's own, "hers" another person's.
type fakeTalks struct {
	mu       sync.Mutex
	talks    map[string]domain.Conversation
	entries  map[string][]domain.Entry
	again    []domain.TurnRequest
	queries  []domain.FeedQuery
	feed     []domain.FeedEvent // what a follower is given
	lastTalk int
}

func newFakeTalks() *fakeTalks {
	f := &fakeTalks{talks: map[string]domain.Conversation{}, entries: map[string][]domain.Entry{}}
	talk := func(id, project, by string, minute int) {
		f.talks[id] = domain.Conversation{ID: id, ProjectID: project, Title: "About " + id, CreatedBy: by, CreatedByName: "Name of " + by,
			CreatedAt: day, UpdatedAt: day.Add(time.Duration(minute) * time.Minute), Suggestions: []string{"And then?"}}
	}
	talk("c1", "p1", "ada", 3)
	talk("c2", "p1", domain.OwnerID, 2)
	talk("elsewhere", "p9", domain.OwnerID, 9)
	talk("mine", "", domain.OwnerID, 1)
	talk("hers", "", "grace", 1)
	f.entries["c1"], f.entries["mine"] = exampleEntries(), exampleWaiting()
	c := f.talks["c1"]
	c.MessageCount, c.HeadID = 4, "m4"
	f.talks["c1"] = c
	c = f.talks["mine"]
	c.MessageCount, c.HeadID, c.ActiveTurnID = 1, "m1", "t3"
	f.talks["mine"] = c
	return f
}

func exampleEntries() []domain.Entry {
	return []domain.Entry{
		{ID: "m1", Role: domain.RoleUser, Text: "Where is it?", TurnID: "t1", At: day, Username: "Ada",
			Attachments: []domain.File{{Name: "a b.png", MimeType: "image/png", Size: 3, Data: []byte("abc")}}},
		{ID: "m2", Role: domain.RoleAssistant, Text: "In main [app:v1:main.go:3].", TurnID: "t1", At: day.Add(time.Minute), Status: domain.TurnDone,
			Sources: []domain.Source{{Repo: "app", Version: "v1", File: "main.go", Line: 3, Verified: true}}, ToolCallsMade: 2,
			Chain: []domain.ChainEntry{
				{Type: domain.ChainThinking, Text: "Hm."},
				{Type: domain.ChainToolCall, ID: "c1", Name: "search_symbols", Input: json.RawMessage(`{"query":"main"}`), Status: "done", Preview: "1 symbol", Description: "Looking for main"},
				exampleAction("a1", domain.Action{CallID: "c2", Status: domain.ActionApplied, DecidedBy: "grace", DecidedByName: "Grace", DecidedAt: &day, Reason: "it is old", Outcome: "Deleted Plan"}),
				exampleAction("a2", domain.Action{CallID: "c3", Status: domain.ActionExpired}),
				exampleAction("a3", domain.Action{CallID: "c4", Status: domain.ActionApplied, DecidedBy: "grace", DecidedByName: "Grace", DecidedAt: &day, Reported: true, Verified: true, Outcome: "gone"}),
			},
			Provider: &domain.ProviderUsed{ProviderID: "p", Kind: "anthropic", Model: "m"}},
		{ID: "m3", Role: domain.RoleUser, Text: "Which one?", TurnID: "t2", At: day.Add(2 * time.Minute), Username: "Grace"},
		{ID: "m4", Role: domain.RoleAssistant, Text: "Which do you mean?", TurnID: "t2", At: day.Add(3 * time.Minute), Status: domain.TurnDone,
			Question: &domain.Question{Question: "Which do you mean?", Choices: []string{"a", "b"}}},
	}
}

func exampleAction(id string, a domain.Action) domain.ChainEntry {
	a.ID, a.Hash, a.ExpiresAt = id, "9f86d081", day.Add(24*time.Hour)
	return domain.ChainEntry{
		Type: domain.ChainAction, ID: id, Name: "delete_artifact", Input: json.RawMessage(`{"id":"a"}`), Description: "Delete a",
		Status: string(a.Status), Steps: []string{}, ResultText: a.Outcome, Action: &a,
	}
}

// exampleWaiting is a turn that has asked: one action waits, others are decided.
func exampleWaiting() []domain.Entry {
	who := domain.Action{CallID: "c1", Status: domain.ActionApproved, DecidedBy: "owner", DecidedByName: "Olga", DecidedAt: &day}
	rejected := who
	rejected.CallID, rejected.Status, rejected.Reason = "c2", domain.ActionRejected, "not that one"
	return []domain.Entry{
		{ID: "m1", Role: domain.RoleUser, Text: "Remove them.", TurnID: "t3", At: day, Username: "Olga"},
		{ID: "reply-t3", Role: domain.RoleAssistant, TurnID: "t3", At: day, Status: domain.TurnWaiting, ToolCallsMade: 3, Chain: []domain.ChainEntry{
			exampleAction("a1", who), exampleAction("a2", rejected),
			exampleAction("a3", domain.Action{CallID: "c3", Status: domain.ActionPending, Nonce: "KQ3ZVXJ4T7QW2Y5N6M8R"}),
		}},
	}
}

func (f *fakeTalks) Conversations(_ context.Context, q domain.ConversationQuery) (list []domain.Conversation, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.talks {
		mine := c.ProjectID == q.ProjectID && (q.ProjectID != "" || c.CreatedBy == q.UserID)
		if mine && (q.BeforeID == "" || c.UpdatedAt.Before(q.BeforeTime)) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b domain.Conversation) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
	}
	return list, nil
}

func (f *fakeTalks) SearchConversations(_ context.Context, q domain.ConversationQuery, words string) (found []domain.Found, _ error) {
	list, _ := f.Conversations(context.Background(), q)
	for _, c := range list {
		if strings.Contains(c.Title, words) {
			found = append(found, domain.Found{ConversationID: c.ID, Title: c.Title, Excerpt: c.Title, At: c.UpdatedAt})
		}
	}
	return found, nil
}

func (f *fakeTalks) CreateConversation(_ context.Context, c domain.Conversation) (domain.Conversation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastTalk++
	c.ID, c.CreatedAt, c.UpdatedAt = fmt.Sprint("new", f.lastTalk), day, day
	f.talks[c.ID] = c
	return c, nil
}

func (f *fakeTalks) Conversation(_ context.Context, id string) (domain.Conversation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.talks[id]
	if !ok {
		return c, domain.NotFound("there is no conversation %q", id)
	}
	return c, nil
}

func (f *fakeTalks) Entries(_ context.Context, c domain.Conversation, _ string) ([]domain.Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, e := range f.entries[c.ID] {
		switch {
		case e.ID == c.HeadID && c.ActiveTurnID != "": // with what its turn has asked
			return f.entries[c.ID], nil
		case e.ID == c.HeadID:
			return f.entries[c.ID][:i+1], nil
		}
	}
	return nil, nil
}

func (f *fakeTalks) Attachment(_ context.Context, conversationID, messageID string, n int) (domain.File, error) {
	for _, e := range f.entries[conversationID] {
		if e.ID == messageID && n >= 0 && n < len(e.Attachments) {
			return e.Attachments[n], nil
		}
	}
	return domain.File{}, domain.NotFound("the message has no attachment %d", n)
}

func (f *fakeTalks) RetitleConversation(_ context.Context, id, title string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.talks[id]
	c.Title = title
	f.talks[id] = c
	return nil
}

func (f *fakeTalks) CutConversation(_ context.Context, id, messageID string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.talks[id]
	c.HeadID, c.MessageCount = messageID, 0
	for i, e := range f.entries[id] {
		if e.ID == messageID {
			c.MessageCount = i + 1
		}
	}
	f.talks[id] = c
	return nil
}

func (f *fakeTalks) BranchConversation(ctx context.Context, from domain.Conversation, messageID string, c domain.Conversation) (domain.Conversation, error) {
	if !slices.ContainsFunc(f.entries[from.ID], func(e domain.Entry) bool { return e.ID == messageID }) {
		return c, domain.NotFound("there is no message %q in this conversation", messageID)
	}
	c.ProjectID = from.ProjectID
	return f.CreateConversation(ctx, c)
}

func (f *fakeTalks) FollowProject(ctx context.Context, q domain.FeedQuery) iter.Seq2[domain.FeedEvent, error] {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queries = append(f.queries, q)
	return func(yield func(domain.FeedEvent, error) bool) {
		for _, e := range f.feed {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (f *fakeTalks) ProjectUsage(_ context.Context, _ string, from, to time.Time) (domain.ProjectUsage, error) {
	return domain.ProjectUsage{From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), Days: []domain.UsageRow{}, People: []domain.UsageRow{}, Models: []domain.UsageRow{}}, nil
}

func (f *fakeTalks) DeleteProject(context.Context, string) (domain.Removed, error) {
	return domain.Removed{Conversations: 2, Messages: 4, Turns: 2, Canceled: 1}, nil
}

func (f *fakeTalks) DeleteConversation(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.talks, id)
	return nil
}

func (f *fakeTalks) AskAgain(_ context.Context, _ domain.Conversation, by domain.TurnRequest) (domain.Turn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.again = append(f.again, by)
	return domain.Turn{ID: "again"}, nil
}

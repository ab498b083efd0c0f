package domain

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// Conversation is a person's own, or a project's: then its people share it. Its messages are
// a tree, of which one branch is in use.
type Conversation struct {
	ID            string    `json:"id"`
	ProjectID     string    `json:"-"` // "" for a person's own
	Title         string    `json:"title"`
	CreatedBy     string    `json:"created_by"`
	CreatedByName string    `json:"created_by_name"`
	MessageCount  int       `json:"message_count"` // of the branch in use
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`

	HeadID       string   `json:"-"` // the newest message of the branch in use; "" for none
	ActiveTurnID string   `json:"-"` // the turn that holds the lock; "" for none
	Suggestions  []string `json:"-"` // what to ask next
}

// ConversationQuery asks for a page of conversations, the one changed last first.
type ConversationQuery struct {
	ProjectID string // "": the user's own
	UserID    string
	// Before is the conversation after which the page begins, as its change and id; the zero
	// value begins with the newest.
	BeforeTime time.Time
	BeforeID   string
	Limit      int // 0 for all
}

// Entry is a message of a conversation as people read it.
type Entry struct {
	ID            string        `json:"id"`
	Role          Role          `json:"role"`
	Text          string        `json:"text"`
	TurnID        string        `json:"turn_id,omitempty"`
	At            time.Time     `json:"created_at"`
	Username      string        `json:"username,omitempty"`        // of a person's message
	Attachments   []File        `json:"attachments,omitempty"`     // of a person's message
	Sources       []Source      `json:"sources,omitempty"`         // of an answer, like all below
	Chain         []ChainEntry  `json:"chain,omitempty"`           // what was done for it
	ToolCallsMade int           `json:"tool_calls_made,omitempty"` // by its turn
	Question      *Question     `json:"question,omitempty"`
	Provider      *ProviderUsed `json:"provider,omitempty"`
	Status        TurnStatus    `json:"status,omitempty"` // of its turn
	ParentID      string        `json:"-"`
}

// File is an attachment of a message.
type File struct {
	Name       string `json:"name"`
	MimeType   string `json:"mime_type"`
	Size       int64  `json:"size"`
	Data       []byte `json:"data,omitempty"`        // absent where the message holds too much
	PreviewURL string `json:"preview_url,omitempty"` // where its bytes are served
}

// ConversationPath is where a conversation stands in the API.
func ConversationPath(projectID, id string) string {
	path := "/conversations/" + url.PathEscape(id)
	if projectID != "" {
		path = "/projects/" + projectID + path
	}
	return path
}

// AttachmentPath is where the API serves a file of a message, counted from 0.
func AttachmentPath(projectID, conversationID, messageID string, n int) string {
	return ConversationPath(projectID, conversationID) + "/messages/" + messageID + "/attachments/" + strconv.Itoa(n)
}

// ChainEntry is a step of a turn: what a model thought or said on its way, or a call of a tool.
type ChainEntry struct {
	Type        string          `json:"type"` // thinking, tool_call, confirm_action
	Text        string          `json:"text,omitempty"`
	ID          string          `json:"id,omitempty"`
	Name        string          `json:"name,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Status      string          `json:"status,omitempty"` // of a call: running, done, error; of an action also pending, approved, rejected …
	Preview     string          `json:"preview,omitempty"`
	Description string          `json:"description,omitempty"`
	Steps       []string        `json:"steps,omitempty"` // of an action
	ResultText  string          `json:"result_text,omitempty"`
}

// The types of a ChainEntry.
const (
	ChainThinking = "thinking"
	ChainToolCall = "tool_call"
	ChainAction   = "confirm_action"
)

// Chain rebuilds what a turn did from its log. The text of the last round is the answer, and
// no part of the chain; what a retry dropped is none either.
func Chain(events []Event) []ChainEntry {
	b := chainBuilder{entries: []ChainEntry{}, calls: map[string]int{}}
	for _, e := range events {
		b.take(e)
	}
	return b.entries
}

// chainBuilder is a chain that is being rebuilt. What a round said waits in said until its
// calls show that it was not the answer.
type chainBuilder struct {
	entries []ChainEntry
	said    []ChainEntry // of the round that goes on
	calls   map[string]int
}

func (b *chainBuilder) take(e Event) {
	var p struct {
		ID          string          `json:"id"`
		Name        string          `json:"name"`
		Text        string          `json:"text"`
		Input       json.RawMessage `json:"input"`
		Description string          `json:"description"`
		Preview     string          `json:"preview"`
		Error       bool            `json:"error"`
		Discard     bool            `json:"discard"`
	}
	_ = json.Unmarshal(e.Payload, &p) // our own payloads
	switch e.Type {
	case EventThinkingDelta:
		b.settle(true) // what was said before goes on
		b.entries = append(b.entries, ChainEntry{Type: ChainThinking, Text: p.Text})
		b.said = append(b.said, ChainEntry{}) // a retry drops it
	case EventTextDelta:
		b.said = append(b.said, ChainEntry{Type: ChainThinking, Text: p.Text})
	case EventRetry, EventFailover:
		if p.Discard || e.Type == EventFailover {
			b.discard()
		}
	case EventToolCall:
		b.settle(false)
		b.calls[p.ID] = len(b.entries)
		b.entries = append(b.entries, ChainEntry{Type: ChainToolCall, ID: p.ID, Name: p.Name, Input: p.Input, Description: p.Description, Status: "running"})
	case EventConfirmAction:
		entry := ChainEntry{Type: ChainAction, ID: p.ID, Name: p.Name, Input: p.Input, Description: p.Description, Status: "pending", Steps: []string{}}
		b.settle(false)
		if i, known := b.calls[p.ID]; known { // the call itself, which waits
			b.entries[i] = entry
			return
		}
		b.calls[p.ID] = len(b.entries)
		b.entries = append(b.entries, entry)
	case EventToolResult:
		b.result(p.ID, p.Preview, p.Error)
	}
}

// settle moves what the round said into the chain. A round goes on where open is set.
func (b *chainBuilder) settle(open bool) {
	kept := b.said[:0:0]
	for _, s := range b.said {
		switch {
		case s.Text != "":
			b.entries = append(b.entries, s)
			if open {
				kept = append(kept, ChainEntry{})
			}
		case open:
			kept = append(kept, s)
		}
	}
	b.said = kept
}

// discard drops what the round that goes on has thought and said.
func (b *chainBuilder) discard() {
	for _, s := range b.said {
		if s.Text == "" && len(b.entries) > 0 && b.entries[len(b.entries)-1].Type == ChainThinking {
			b.entries = b.entries[:len(b.entries)-1]
		}
	}
	b.said = nil
}

func (b *chainBuilder) result(id, preview string, failed bool) {
	i, known := b.calls[id]
	if !known {
		return
	}
	entry := &b.entries[i]
	entry.Status = "done"
	if failed {
		entry.Status = "error"
	}
	if entry.Type == ChainAction {
		entry.ResultText = preview
		return
	}
	entry.Preview = preview
}

// Afterword is what follows a turn that ended well: a title for its conversation, "" for none,
// and at most four questions to ask next.
type Afterword struct {
	TurnID      string
	Title       string
	Suggestions []string
	Usage       Usage
}

// Removed says what went with a project.
type Removed struct {
	Conversations int64 `json:"conversations"`
	Messages      int64 `json:"messages"`
	Turns         int64 `json:"turns"`
	Canceled      int64 `json:"canceled_turns"` // of them: those that were still running
}

// Found is a conversation that a search found.
type Found struct {
	ConversationID string    `json:"conversation_id"`
	Title          string    `json:"title"`
	MessageID      string    `json:"message_id,omitempty"` // "" where the title was found
	Role           Role      `json:"role,omitempty"`
	Excerpt        string    `json:"excerpt"` // plain text around the words
	At             time.Time `json:"at"`
}

// UsageRow is what turns took, of a day, a person or a model.
type UsageRow struct {
	Key               string  `json:"key"`  // the day (2026-11-30), the person's id, the model
	Name              string  `json:"name"` // for people
	Turns             int64   `json:"turns"`
	InputTokens       int64   `json:"input_tokens"`
	OutputTokens      int64   `json:"output_tokens"`
	CachedInputTokens int64   `json:"cached_input_tokens"`
	Cost              float64 `json:"cost"`
}

// ProjectUsage is what a project's turns took in a span of days.
type ProjectUsage struct {
	From   string     `json:"from"` // the first day (UTC)
	To     string     `json:"to"`   // the last
	Total  UsageRow   `json:"total"`
	Days   []UsageRow `json:"days"`
	People []UsageRow `json:"people"`
	Models []UsageRow `json:"models"`
}

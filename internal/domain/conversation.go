package domain

import (
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
	Note       string `json:"note,omitempty"`        // why models don't get its text, for people
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
	Actions       int64 `json:"actions"`
	Artifacts     int64 `json:"artifacts"`
	Skills        int64 `json:"skills"`
	Memories      int64 `json:"memories"`
	Secrets       int64 `json:"secrets"`
	Agents        int64 `json:"agents"`
	Commands      int64 `json:"commands"`
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

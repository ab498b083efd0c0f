package domain

import "time"

// TurnStatus is the state of a query turn.
type TurnStatus string

// The states of a turn. Done, failed and canceled are final: each has exactly one terminal event.
const (
	TurnQueued   TurnStatus = "queued"
	TurnRunning  TurnStatus = "running"
	TurnWaiting  TurnStatus = "waiting" // for a person's decision
	TurnDone     TurnStatus = "done"
	TurnFailed   TurnStatus = "failed"
	TurnCanceled TurnStatus = "canceled"
)

// Final reports whether s can change no more.
func (s TurnStatus) Final() bool {
	return s == TurnDone || s == TurnFailed || s == TurnCanceled
}

// EndReason says why a turn ended as it did.
type EndReason string

// The reasons for a turn's end.
const (
	EndAnswered        EndReason = "answered"
	EndAsked           EndReason = "asked"            // the model asked the person a question
	EndSynthesized     EndReason = "max_iterations"   // the rounds were used up; a last call summed up
	EndBudgetExhausted EndReason = "budget_exhausted" // the partial answer is kept
	EndMaxTokens       EndReason = "max_tokens"       // the answer was cut by the token limit
	EndCanceled        EndReason = "canceled"
	EndFailed          EndReason = "failed"
)

// Intent is what a message asks for.
type Intent string

// The intents of a message.
const (
	IntentConversational Intent = "conversational"
	IntentResearch       Intent = "research"
	IntentAction         Intent = "action"
	IntentHybrid         Intent = "hybrid"
)

// Attachment is a file that came with a query.
type Attachment struct {
	Name     string `json:"name"`
	MimeType string `json:"mime_type"`
	Data     []byte `json:"data"`
}

// TurnRequest is a query as a client gives it.
type TurnRequest struct {
	UserID         string
	UserName       string // for people; "": the UserID
	ProjectID      string // "" for a person's own
	ConversationID string // "" for a turn of its own; made on first use
	Query          string
	Attachments    []Attachment
	Repositories   []string
	Versions       []string
	Provider       ProviderSelection
	IdempotencyKey string // "" for none
	// Beside is the message whose place the query takes, as another branch: see LastQuestion.
	Beside string
}

// Turn is one query and its outcome.
type Turn struct {
	ID             string        `json:"turn_id"`
	UserID         string        `json:"-"`
	ProjectID      string        `json:"project_id,omitempty"`
	ConversationID string        `json:"conversation_id,omitempty"`
	Query          string        `json:"query"`
	Repositories   []string      `json:"repositories,omitempty"`
	Versions       []string      `json:"versions,omitempty"`
	Status         TurnStatus    `json:"status"`
	Reason         EndReason     `json:"reason,omitempty"`
	Intent         Intent        `json:"intent,omitempty"`
	Answer         string        `json:"answer"`
	Sources        []Source      `json:"sources"`
	Question       *Question     `json:"question,omitempty"`
	ToolCallsMade  int           `json:"tool_calls_made"`
	ProviderUsed   *ProviderUsed `json:"provider_used"`
	Usage          Usage         `json:"usage"`
	ErrorCode      Code          `json:"error_code,omitempty"`
	Error          string        `json:"error,omitempty"` // for people
	CreatedAt      time.Time     `json:"created_at"`
	StartedAt      *time.Time    `json:"started_at,omitempty"`
	EndedAt        *time.Time    `json:"ended_at,omitempty"`

	Launched        bool `json:"-"` // its workflow was started
	CancelRequested bool `json:"-"`
}

// Source is a citation of an answer after it was checked against the graph.
type Source struct {
	Repo     string `json:"repo"`
	Version  string `json:"version"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	EndLine  int    `json:"end_line,omitempty"`
	Symbol   string `json:"symbol,omitempty"` // the innermost symbol at the line
	Verified bool   `json:"verified"`         // the file exists and the line is in its range
	Stale    bool   `json:"stale,omitempty"`  // the version's ref has moved since it was read
	Commit   string `json:"commit,omitempty"`
}

// Question is what ask_user asks a person.
type Question struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

// EndEvent is the terminal event of a turn with a final status.
func (t Turn) EndEvent() NewEvent {
	type outcome struct {
		TurnID         string        `json:"turn_id"`
		ConversationID string        `json:"conversation_id,omitempty"`
		Answer         string        `json:"answer"`
		Sources        []Source      `json:"sources"`
		ToolCallsMade  int           `json:"tool_calls_made"`
		ProviderUsed   *ProviderUsed `json:"provider_used"`
		Reason         EndReason     `json:"reason"`
		Question       *Question     `json:"question,omitempty"`
		Usage          Usage         `json:"usage"`
		Message        string        `json:"message,omitempty"`
		Code           Code          `json:"code,omitempty"`
	}
	out := outcome{t.ID, t.ConversationID, t.Answer, t.Sources, t.ToolCallsMade, t.ProviderUsed, t.Reason, t.Question, t.Usage, t.Error, t.ErrorCode}
	switch t.Status {
	case TurnFailed:
		return NewPayload(EventError, out)
	case TurnCanceled:
		if out.Message == "" {
			out.Message = "the turn was canceled"
		}
		return NewPayload(EventCanceled, out)
	}
	return NewPayload(EventDone, out)
}

package domain

import "encoding/json"

// NewEvent is an event about to be appended to a subject's log.
type NewEvent struct {
	Type    EventType
	CallID  string          // the call that it belongs to; "" outside calls
	Payload json.RawMessage // a JSON object
}

// NewPayload builds an event whose payload is the JSON form of payload, which must marshal
// to an object: a struct or a map of plain values.
func NewPayload(eventType EventType, payload any) NewEvent {
	body, err := json.Marshal(payload)
	if err != nil {
		body, _ = json.Marshal(map[string]string{"fault": err.Error()}) // plain values always marshal
	}
	return NewEvent{Type: eventType, Payload: body}
}

// TextPiece is a piece of an open block on its way to readers, ahead of its commit.
type TextPiece struct {
	Subject string    `json:"s"`
	Seq     int64     `json:"q"` // the block's place in the subject's log
	Attempt int       `json:"a"`
	Type    EventType `json:"t"`
	From    int64     `json:"o"` // bytes of the block before this piece
	Text    string    `json:"x"`
}

// End gives the number of bytes of the block after the piece.
func (p TextPiece) End() int64 { return p.From + int64(len(p.Text)) }

// CallClaim is the right to write for a call: it holds until a higher attempt claims.
type CallClaim struct {
	TurnID   string
	CallID   string
	Attempt  int
	LastSeq  int64           // of the turn's log when the claim was made
	Failures int             // what providers refused in earlier attempts
	Outcome  json.RawMessage // set where the call was committed before: nothing is to be done
	Reserved bool            // a part of the day's budget is reserved for it
}

// ModelCall names a model call of a turn and what it may cost.
type ModelCall struct {
	TurnID  string
	CallID  string // m<round>, classify, compact-<n>
	Round   int    // from 0; -1 for calls beside the rounds
	Reserve float64
	// DayLimit is the most that the turn's person may spend a day (UTC), in the currency of
	// the prices; 0 for no limit.
	DayLimit float64
}

// TextFlush stores a piece of an open block. With Open set it also makes the block's event,
// which must be the next of the log.
type TextFlush struct {
	Claim CallClaim
	Open  bool
	Seq   int64
	Type  EventType
	From  int64
	Text  string
}

// ClosedBlock is the whole text of a block.
type ClosedBlock struct {
	Seq    int64
	Type   EventType
	Text   string
	Stored bool // its event is there already, with the text so far in pieces
}

// CallWrite closes a block and appends events for a call that goes on.
type CallWrite struct {
	Claim  CallClaim
	Close  *ClosedBlock
	Events []NewEvent
}

// ModelCommit is the outcome of a model call, committed as one.
type ModelCommit struct {
	CallWrite
	Outcome  json.RawMessage // what the caller is told, now and at every repetition
	Usage    Usage
	Provider *ProviderUsed

	Round   int        // of Message
	Message *Message   // the assistant's message of the round; nil for calls beside the rounds
	Tools   []ToolCall // the calls that the message asks for, in order
	Actions []Action   // those of Tools that wait for a person
	Intent  Intent     // of a classification
	Summary *Summary   // of a compaction
}

// Summary stands for the older part of a conversation, or of a turn's own rounds.
type Summary struct {
	MessageID string // the newest message that it covers; "" for a digest of rounds
	Round     int    // the last round that it covers, where MessageID is ""
	Text      string
}

// Dialogue is all that a model call is told: the conversation so far and the turn's rounds.
type Dialogue struct {
	Turn     Turn
	Title    string // of the conversation; "" without one
	Provider ProviderSelection
	Scope    Scope
	Canceled bool           // somebody asked to stop
	Summary  string         // stands for all before History; "" for none
	History  []PastMessage  // oldest first, without the turn's own message
	Message  Message        // the person's
	Digest   string         // stands for the rounds before Rounds; "" for none
	Rounds   []DialogueTurn // oldest first
}

// HistorySize gives the characters of what came before the turn.
func (d Dialogue) HistorySize() int {
	size := len(d.Summary)
	for _, m := range d.History {
		size += m.Characters
	}
	return size
}

// PastMessage is a message of an earlier turn.
type PastMessage struct {
	ID         string
	Characters int
	Message
}

// DialogueTurn is a round: what the model said and what its tool calls gave.
type DialogueTurn struct {
	Round   int
	Message Message
	Calls   []ToolCall
}

// TurnEnd says how a turn ends.
type TurnEnd struct {
	TurnID   string
	Status   TurnStatus // done, failed or canceled
	Reason   EndReason
	Answer   string
	Note     string // appended to the answer, and to the text that readers follow
	Sources  []Source
	Question *Question
	Code     Code   // of a failure
	Error    string // of a failure, for people
	// Known is the turn as it stands, from whoever knows that nobody else writes to it any more;
	// nil: it is read.
	Known *Turn
}

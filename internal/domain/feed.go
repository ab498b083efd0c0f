package domain

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// FeedEvent is an event of a project's feed.
type FeedEvent struct {
	// ID is where a reader stands once it has the event; "" of what is a state and is not
	// stored (presence, and the locks that are held when a reader joins).
	ID    string
	Event Event
}

// FeedCursor is a place in a project's feed. The feed is the project's own log, in which a
// turn begins with its lock, and beside it the logs of the turns: several run at once. So a
// place is how far the project's log was read, and how far those turns that have begun there
// and were not read to their end.
//
// The text form is the place in the project's log, and for each open turn the place of its
// lock with its own cursor: "41_38:7_40:12.512".
type FeedCursor struct {
	Log  int64
	Open map[int64]Cursor // by the place of the turn's lock
}

// String gives the text form.
func (c FeedCursor) String() string {
	var text strings.Builder
	text.WriteString(strconv.FormatInt(c.Log, 10))
	for _, lock := range slices.Sorted(maps.Keys(c.Open)) {
		fmt.Fprintf(&text, "_%d:%s", lock, c.Open[lock])
	}
	return text.String()
}

// maxOpenTurns bounds the turns that a cursor may name: no feed has so many at once.
const maxOpenTurns = 4096

// ParseFeedCursor reads the text form of a place in a project's feed.
func ParseFeedCursor(s string) (FeedCursor, error) {
	wrong := Invalid("after", "%q is not an event id of a project; give the id of an event you received", cutText(s, 80))
	parts := strings.Split(s, "_")
	log, err := strconv.ParseUint(parts[0], 10, 64)
	if err != nil || log > maxCursor || len(parts) > maxOpenTurns {
		return FeedCursor{}, wrong
	}
	c := FeedCursor{Log: int64(log), Open: map[int64]Cursor{}}
	for _, part := range parts[1:] {
		lockText, at, found := strings.Cut(part, ":")
		lock, err := strconv.ParseUint(lockText, 10, 64)
		if !found || at == "" || err != nil || lock == 0 || lock > log {
			return FeedCursor{}, wrong
		}
		place, err := ParseCursor(at)
		if err != nil {
			return FeedCursor{}, wrong
		}
		c.Open[int64(lock)] = place
	}
	return c, nil
}

func cutText(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// FeedQuery is what a reader of a project's feed asks for.
type FeedQuery struct {
	ProjectID string
	// After is the id of the last event that the reader has; "": from now on, with the turns
	// that are running from their beginning.
	After string
	// Visitor is who reads: the others are told of them while they do.
	Visitor Visitor
}

// Visitor is a person who has a project's feed open.
type Visitor struct {
	UserID string `json:"user_id"`
	Name   string `json:"name"`
	ConvID string `json:"conv_id"` // the conversation that is looked at; "" for none
}

// InConversation gives the event as a project's feed shows it: with the conversation and the
// turn that it belongs to.
func (e Event) InConversation(convID, turnID string) Event {
	var has struct {
		ConvID *string `json:"conv_id"`
		TurnID *string `json:"turn_id"`
	}
	if !e.Type.Block() {
		_ = json.Unmarshal(e.Payload, &has) // our own payloads
	}
	var extra []string
	if convID != "" && has.ConvID == nil {
		extra = append(extra, `"conv_id":`+quoteJSON(convID))
	}
	if turnID != "" && has.TurnID == nil {
		extra = append(extra, `"turn_id":`+quoteJSON(turnID))
	}
	if len(extra) == 0 {
		return e
	}
	body := strings.TrimSpace(string(e.Payload))
	if len(body) > 2 {
		extra = append(extra, strings.TrimPrefix(body[1:len(body)-1], " "))
	}
	e.Payload = json.RawMessage("{" + strings.Join(extra, ",") + "}")
	return e
}

func quoteJSON(s string) string {
	text, _ := json.Marshal(s) // a string always marshals
	return string(text)
}

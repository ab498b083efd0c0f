package domain

import "encoding/json"

// ChainEntry is a step of a turn: what a model thought or said on its way, or a call of a tool.
type ChainEntry struct {
	Type        string          `json:"type"` // thinking, tool_call, confirm_action
	Text        string          `json:"text,omitempty"`
	ID          string          `json:"id,omitempty"` // of the call, or of the action
	Name        string          `json:"name,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Status      string          `json:"status,omitempty"` // of a call: running, done, error; of an action its ActionStatus
	Preview     string          `json:"preview,omitempty"`
	Description string          `json:"description,omitempty"`
	Hostname    string          `json:"hostname,omitempty"`    // of the machine that the call is about
	Steps       []string        `json:"steps,omitempty"`       // of an action
	ResultText  string          `json:"result_text,omitempty"` // of an action: what came of it
	Action      *Action         `json:"-"`                     // the action as it stands now
}

// The types of a ChainEntry.
const (
	ChainThinking = "thinking"
	ChainToolCall = "tool_call"
	ChainAction   = "confirm_action"
)

// Chain rebuilds what a turn did from its log. The text of the last round is the answer, and
// no part of the chain; what a retry dropped is none either. Actions are shown as they stand
// now, whatever the log has told of them.
func Chain(events []Event, actions []Action) []ChainEntry {
	b := chainBuilder{entries: []ChainEntry{}, calls: map[string]int{}}
	for _, e := range events {
		b.take(e)
	}
	for _, a := range actions {
		if i, known := b.calls[a.CallID]; known {
			b.entries[i].stand(a)
		}
	}
	return b.entries
}

// stand shows an action as it stands.
func (e *ChainEntry) stand(a Action) {
	e.Action, e.Status = &a, string(a.Status)
	if a.Outcome != "" {
		e.ResultText = a.Outcome
	}
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
		CallID      string          `json:"call_id"` // of an action
		Name        string          `json:"name"`
		Text        string          `json:"text"`
		Input       json.RawMessage `json:"input"`
		Description string          `json:"description"`
		Hostname    string          `json:"hostname"`
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
		b.call(p.ID, ChainEntry{Type: ChainToolCall, ID: p.ID, Name: p.Name, Input: p.Input, Description: p.Description, Hostname: p.Hostname, Status: "running"})
	case EventConfirmAction:
		b.call(p.CallID, ChainEntry{
			Type: ChainAction, ID: p.ID, Name: p.Name, Input: p.Input, Description: p.Description, Hostname: p.Hostname, Status: string(ActionPending), Steps: []string{},
		})
	case EventToolResult:
		b.result(p.ID, p.Preview, p.Error)
	}
}

// call adds a call, by its id in the turn.
func (b *chainBuilder) call(id string, entry ChainEntry) {
	b.settle(false)
	b.calls[id] = len(b.entries)
	b.entries = append(b.entries, entry)
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

func (b *chainBuilder) result(callID, preview string, failed bool) {
	i, known := b.calls[callID]
	if !known {
		return
	}
	entry := &b.entries[i]
	if entry.Type == ChainAction { // its status is the action's
		entry.ResultText = preview
		return
	}
	entry.Status, entry.Preview = "done", preview
	if failed {
		entry.Status = "error"
	}
}

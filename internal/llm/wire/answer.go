package wire

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Answer gathers a streamed answer and passes its pieces on.
type Answer struct {
	emit  func(domain.ModelDelta) error
	parts []*Part
}

// NewAnswer starts an answer whose pieces go to emit.
func NewAnswer(emit func(domain.ModelDelta) error) *Answer { return &Answer{emit: emit} }

// Part is a block that is still growing.
type Part struct {
	domain.Block
	grown strings.Builder // the text, or the JSON of a call's input
}

// Start begins a block. The beginning of a tool call is told at once.
func (a *Answer) Start(b domain.Block) (*Part, error) {
	p := &Part{Block: b}
	a.parts = append(a.parts, p)
	if b.Type == domain.BlockToolUse {
		return p, a.emit(domain.ModelDelta{ToolName: b.Tool})
	}
	return p, nil
}

// Grow adds a piece to a block; text and thinking are passed on.
func (a *Answer) Grow(p *Part, piece string) error {
	if piece == "" {
		return nil
	}
	p.grown.WriteString(piece)
	switch p.Type {
	case domain.BlockText:
		return a.emit(domain.ModelDelta{Text: piece})
	case domain.BlockThinking:
		return a.emit(domain.ModelDelta{Thinking: piece})
	}
	return nil
}

// Say adds a piece to the last block where it is of the type and not signed yet, and to a
// new one otherwise.
func (a *Answer) Say(kind domain.BlockType, piece string) (*Part, error) {
	if last := a.Last(); last != nil && last.Type == kind && last.Signature == "" {
		return last, a.Grow(last, piece)
	}
	p, err := a.Start(domain.Block{Type: kind})
	if err != nil {
		return nil, err
	}
	return p, a.Grow(p, piece)
}

// Last gives the block that was begun last, or nil.
func (a *Answer) Last() *Part {
	if len(a.parts) == 0 {
		return nil
	}
	return a.parts[len(a.parts)-1]
}

// Finish gives the whole answer to req. Calls without an id of their own get one. The calls
// of an answer that was cut off may be cut off themselves: they are kept, so that the model
// can be told, but the stop reason says that none may be run. An answer with neither text nor
// calls is an upstream error.
func (a *Answer) Finish(s Service, req domain.ModelRequest, stop domain.StopReason, usage domain.Usage) (domain.ModelResponse, error) {
	taken := callIDs(req.Messages)
	response := domain.ModelResponse{Message: domain.Message{Role: domain.RoleAssistant}, Stop: stop, Usage: usage}
	said := false
	for _, p := range a.parts {
		b := p.Block
		if b.Type != domain.BlockToolUse {
			b.Text = p.grown.String()
			if strings.TrimSpace(b.Text) == "" && b.Signature == "" {
				continue
			}
			said = said || b.Type == domain.BlockText && strings.TrimSpace(b.Text) != ""
			response.Message.Blocks = append(response.Message.Blocks, b)
			continue
		}
		if b.CallID == "" || taken[b.CallID] {
			b.CallID = "call_" + domain.NewID()
		}
		taken[b.CallID] = true
		b.Input = object(cmp.Or(p.grown.String(), string(b.Input)))
		response.Message.Blocks = append(response.Message.Blocks, b)
		if said = true; stop != domain.StopMaxTokens {
			response.Stop = domain.StopToolUse
		}
	}
	if !said && stop == domain.StopRefusal {
		return response, domain.Errorf(domain.CodeUpstream, "the model of provider %q declined to answer", s.ID)
	}
	if !said && stop != domain.StopMaxTokens {
		return response, s.Empty()
	}
	return response, nil
}

// callIDs gives the ids of the calls that a conversation holds. Some services number the
// calls of each answer anew, and a turn's calls need ids of their own.
func callIDs(messages []domain.Message) map[string]bool {
	ids := map[string]bool{}
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Type == domain.BlockToolUse {
				ids[b.CallID] = true
			}
		}
	}
	return ids
}

// object makes sure that a call's input is a JSON object.
func object(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		return json.RawMessage(`{}`)
	}
	if text[0] == '{' && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	wrapped, err := json.Marshal(map[string]string{domain.MalformedInput: text})
	if err != nil { // a map of strings always marshals
		return json.RawMessage(`{}`)
	}
	return wrapped
}

package activities

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/workflows"
)

// The results of calls that are not run, as the model reads them.
const (
	cutOff     = "Not run: your answer reached the token limit, so this call may be incomplete. Make it again, shorter."
	notPlain   = "Not run: the input of this call %s. Make the call again with each field once."
	noObject   = "Not run: the input of this call is not a JSON object. Make the call again with a whole one."
	notOffered = "Not run: this message needs no look-up, so no tools are offered. Answer from the conversation."
	wasAsked   = "The question was put to the person; the answer is their next message."
	askedFirst = "Not run: the turn ended with a question to the person."
	maxPreview = 160
)

// outcome works out what a model's answer leads to.
type outcome struct {
	in       workflows.GenerateInput
	dialogue domain.Dialogue
	response domain.ModelResponse
	tools    ToolBox
	asks     func(call domain.ToolCall) bool // must wait for a person
	explain  func(call domain.ToolCall) []domain.Detail
	pin      func(name string, input json.RawMessage) json.RawMessage // gives the input of a call that asks with ids for names
	place    func(call domain.ToolCall) string                        // the machine that it is about; "" for none
	expiry   time.Duration                                            // of what waits
	// shortened: the turn's budgets left less than the longest answer
	shortened bool

	refused map[string]domain.ToolResult // calls that are not run, by id: what the model is told
	handles map[string]bool              // calls with handles of secrets, by id
	hide    scrub                        // takes out of the answer's texts what its calls gave; nil where that is nothing

	message   domain.Message    // with call ids that are unique in the turn
	calls     []domain.ToolCall // what message asks for
	actions   []domain.Action   // those of calls that wait for a person
	events    []domain.NewEvent
	generated workflows.Generated
}

// build fills the rest, once the calls are ready. The error is an upstream one: an answer that
// is none.
func (o *outcome) build() error {
	if o.in.Synthesis {
		o.generated.Reason = domain.EndSynthesized
		return o.answered()
	}
	for _, b := range o.message.Blocks {
		if b.Type == domain.BlockToolUse {
			o.calls = append(o.calls, o.toolCall(b))
		}
	}
	o.announce()
	switch {
	case o.generated.Reason != "": // asked
		return nil
	case len(o.calls) > 0:
		return nil
	case o.response.Stop == domain.StopMaxTokens && o.shortened:
		o.generated.Reason = domain.EndBudgetExhausted
	case o.response.Stop == domain.StopMaxTokens:
		o.generated.Reason = domain.EndMaxTokens
	default:
		o.generated.Reason = domain.EndAnswered
	}
	return o.answered()
}

// answered checks that there is an answer.
func (o *outcome) answered() error {
	switch {
	case strings.TrimSpace(o.message.Text()) != "":
		return nil
	case o.response.Stop == domain.StopMaxTokens && o.shortened:
		o.generated.Reason = domain.EndBudgetExhausted
		return nil
	case o.response.Stop == domain.StopMaxTokens:
		return domain.Errorf(domain.CodeUpstream, "the model reached the limit of its answer before it said anything; set a larger max_tokens in its [[llm]] block")
	case o.response.Stop == domain.StopRefusal:
		return domain.Errorf(domain.CodeUpstream, "the model declined to answer")
	}
	return domain.Errorf(domain.CodeUpstream, "the model gave an empty answer")
}

func withoutCalls(m domain.Message) domain.Message {
	kept := domain.Message{Role: m.Role}
	for _, b := range m.Blocks {
		if b.Type != domain.BlockToolUse {
			kept.Blocks = append(kept.Blocks, b)
		}
	}
	return kept
}

// identify takes the answer over. Calls whose id is taken are renamed: some services count
// them anew in each answer. A synthesis has no calls.
func (o *outcome) identify() {
	o.message = domain.Message{Role: domain.RoleAssistant, Blocks: slices.Clone(o.response.Message.Blocks)}
	if o.in.Synthesis {
		o.message = withoutCalls(o.message)
		return
	}
	taken := map[string]bool{"": true}
	for _, round := range o.dialogue.Rounds {
		for _, call := range round.Calls {
			taken[call.ID] = true
		}
	}
	calls := 0
	for i, b := range o.message.Blocks {
		if b.Type != domain.BlockToolUse {
			continue
		}
		if len(b.Input) == 0 || !json.Valid(b.Input) {
			b.Input = json.RawMessage("{}")
		}
		id := domain.CleanText(b.CallID)
		for n := calls; taken[id] || modelCallID(id) || n == calls && o.dialogue.Digest != ""; n++ {
			id = fmt.Sprintf("call_%d_%d", o.in.Round, n) // ids of digested rounds are not known here
		}
		b.CallID, taken[id] = id, true
		o.message.Blocks[i] = b
		calls++
	}
}

// modelCallID reports whether an id is one that the turn gives its model calls.
func modelCallID(id string) bool {
	var n int
	_, err := fmt.Sscanf(id, "m%d", &n)
	return err == nil || id == "classify" || id == "compact" || len(id) > 7 && id[:7] == "squeeze"
}

func (o *outcome) toolCall(b domain.Block) domain.ToolCall {
	spec, known := o.tools.Lookup(b.Tool)
	refusal, refused := o.refused[b.CallID]
	call := domain.ToolCall{
		TurnID: o.in.TurnID, Round: o.in.Round, ID: b.CallID, Name: b.Tool, Input: b.Input,
		Local: spec.Local || !known, Timeout: spec.Timeout, Status: domain.CallPending,
	}
	switch {
	case o.response.Stop == domain.StopMaxTokens:
		call.Status, call.Result = domain.CallError, domain.ToolResult{Text: cutOff, Error: true}
	case domain.IsMalformedInput(b.Input):
		call.Status, call.Result = domain.CallError, domain.ToolResult{Text: noObject, Error: true}
	case o.in.Conversational && b.Tool != tools.AskUserName:
		call.Status, call.Result = domain.CallError, domain.ToolResult{Text: notOffered, Error: true}
	case refused:
		call.Status, call.Result = domain.CallError, refusal
	default:
		if call.Asks = known && (o.handles[b.CallID] || o.asks(call)); call.Asks {
			call.Input = o.pin(call.Name, spec.Known(call.Input))
		}
	}
	return call
}

// announce writes the events of the calls. A question to the person ends the turn, and the
// calls beside it are not run.
func (o *outcome) announce() {
	question, asking := o.question()
	if label := o.phase(); label != "" {
		o.events = append(o.events, domain.NewPayload(domain.EventPhase, map[string]string{"label": label}))
	}
	for i := range o.calls {
		call := &o.calls[i]
		if call.Asks && question == nil {
			o.propose(*call)
			continue
		}
		o.events = append(o.events, callEvent(*call, o.tools.Describe(call.Name, call.Input), o.place(*call)))
		if call.Status == domain.CallPending && question != nil {
			call.Status, call.Result = domain.CallError, domain.ToolResult{Text: askedFirst, Error: true}
			if call.ID == asking {
				call.Status, call.Result = domain.CallDone, domain.ToolResult{Text: wasAsked, Preview: "waits for your answer"}
			}
		}
		if call.Status != domain.CallPending {
			o.events = append(o.events, resultEvent(*call))
			continue
		}
		o.generated.Calls = append(o.generated.Calls, workflows.CallRef{
			ID: call.ID, Name: call.Name, Local: call.Local, Asks: call.Asks, Limit: call.Timeout,
		})
	}
	if question != nil {
		o.events = append(o.events, domain.NewPayload(domain.EventQuestion, question))
		o.generated.Reason = domain.EndAsked
	}
	o.pause()
}

// propose makes a call an action that waits for a person.
func (o *outcome) propose(call domain.ToolCall) {
	turn := o.dialogue.Turn
	action := domain.Action{
		ID: domain.NewID(), TurnID: turn.ID, CallID: call.ID, ConversationID: turn.ConversationID, ProjectID: turn.ProjectID,
		Requester: turn.UserID, Name: call.Name, Input: call.Input, Description: domain.DescribeAction(call.Name, call.Input, o.explain(call)...),
		Hash: domain.ActionHash(call.Name, call.Input), Nonce: domain.NewNonce(), Status: domain.ActionPending,
		ExpiresAt: time.Now().Add(o.expiry).UTC().Truncate(time.Millisecond), Hostname: o.place(call),
	}
	o.actions = append(o.actions, action)
	o.generated.Calls = append(o.generated.Calls, workflows.CallRef{
		ID: call.ID, Name: call.Name, Local: call.Local, Asks: true, Limit: call.Timeout, Expires: action.ExpiresAt,
	})
}

// pause announces the actions, last of all: then the turn waits.
func (o *outcome) pause() {
	for _, action := range o.actions {
		o.events = append(o.events, action.Event())
	}
	if conversation := o.dialogue.Turn.ConversationID; len(o.actions) > 0 && conversation != "" {
		o.events = append(o.events, domain.NewPayload(domain.EventUnlock, map[string]string{"conv_id": conversation}))
	}
}

// phase names what people see while the calls run: the label of the first that has one.
func (o *outcome) phase() string {
	for _, call := range o.calls {
		if spec, ok := o.tools.Lookup(call.Name); ok && spec.Phase != "" {
			return spec.Phase
		}
	}
	return ""
}

// question gives the first question that is well-formed; others are answered as tools are.
func (o *outcome) question() (*domain.Question, string) {
	for _, call := range o.calls {
		if q := asked(call); q != nil && call.Status == domain.CallPending {
			return q, call.ID
		}
	}
	return nil, ""
}

// asked gives the question that a call puts, or nil.
func asked(call domain.ToolCall) *domain.Question {
	if call.Name != tools.AskUserName {
		return nil
	}
	q, err := tools.ParseQuestion(call.Input)
	if err != nil {
		return nil
	}
	return &q
}

// callEvent tells readers of a call. What the store keeps of it is whole.
func callEvent(call domain.ToolCall, description, hostname string) domain.NewEvent {
	shown, cut := domain.ShownInput(call.Input)
	payload := map[string]any{"id": call.ID, "name": call.Name, "input": shown, "description": description}
	if cut {
		payload["input_bytes"] = len(call.Input)
	}
	if hostname != "" {
		payload["hostname"] = hostname
	}
	return domain.NewPayload(domain.EventToolCall, payload)
}

// resultEvent tells readers of a call's outcome.
func resultEvent(call domain.ToolCall) domain.NewEvent {
	e := domain.NewPayload(domain.EventToolResult, map[string]any{
		"id": call.ID, "name": call.Name, "preview": previewOf(call.Result), "error": call.Result.Error, "truncated": call.Result.Truncated,
	})
	e.CallID = call.ID
	return e
}

// previewOf gives the line about a result that people read.
func previewOf(r domain.ToolResult) string {
	if r.Preview != "" {
		return r.Preview
	}
	return firstLine(r.Text)
}

func firstLine(text string) string {
	for i, r := range text {
		if r == '\n' || i >= maxPreview {
			return text[:i]
		}
	}
	return text
}

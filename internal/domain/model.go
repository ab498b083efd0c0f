package domain

import (
	"encoding/json"
	"math"
	"time"
)

// Role says who wrote a message.
type Role string

// The roles of a message. Tool results are blocks of a user message.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// BlockType names what a block holds.
type BlockType string

// The types of a content block.
const (
	BlockText       BlockType = "text"
	BlockThinking   BlockType = "thinking"
	BlockToolUse    BlockType = "tool_use"
	BlockToolResult BlockType = "tool_result"
	BlockMedia      BlockType = "media"
)

// Message is one entry of the conversation given to a model.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
}

// Block is one piece of a message's content; which fields are set follows from Type.
type Block struct {
	Type BlockType `json:"type"`

	Text      string `json:"text,omitempty"`      // text, thinking
	Signature string `json:"signature,omitempty"` // the provider's proof of its reasoning, given back verbatim
	SignedBy  string `json:"signed_by,omitempty"` // the kind of provider that Signature belongs to; others never see it
	Redacted  bool   `json:"redacted,omitempty"`  // thinking: hidden by the provider, Signature holds it encrypted

	CallID string          `json:"call_id,omitempty"` // tool_use, tool_result
	Tool   string          `json:"tool,omitempty"`    // tool_use, tool_result: the tool's name
	Input  json.RawMessage `json:"input,omitempty"`   // tool_use: a JSON object
	Error  bool            `json:"error,omitempty"`   // tool_result: Text is an error
	// Reveals is that of a tool_result, see ToolResult.
	Reveals string `json:"-"`

	MimeType string `json:"mime_type,omitempty"` // media
	Name     string `json:"name,omitempty"`      // media: file name
	Data     []byte `json:"data,omitempty"`      // media

	Document *DocumentText `json:"-"` // media: what was read of a PDF; nil where nobody tried
}

// MalformedInput is the field that holds a tool call's input where the model did not write a
// JSON object. Such a call is never run, and the model is told why.
const MalformedInput = "malformed_input"

// IsMalformedInput reports whether a tool call's input stands for one that was no JSON object.
func IsMalformedInput(input json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return true
	}
	_, found := fields[MalformedInput]
	return found && len(fields) == 1
}

// TextMessage builds a message of one text block.
func TextMessage(role Role, text string) Message {
	return Message{Role: role, Blocks: []Block{{Type: BlockText, Text: text}}}
}

// Text joins the text blocks of m.
func (m Message) Text() string {
	text := ""
	for _, b := range m.Blocks {
		if b.Type == BlockText {
			text += b.Text
		}
	}
	return text
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"` // a JSON Schema object
}

// ModelRequest is one call to a model.
type ModelRequest struct {
	Model     string // overrides the provider's model where set
	System    string
	Messages  []Message
	Tools     []ToolSpec
	MaxTokens int    // the longest answer, in tokens; 0 for the provider's default
	User      string // an opaque id of the person, for the provider's abuse controls
	ProjectID string // whose secrets stay out of it; "" for none. Providers don't look at it
}

// ModelDelta is a piece of a streaming answer. Exactly one of its fields is set.
type ModelDelta struct {
	Text     string // answer text
	Thinking string // reasoning text
	ToolName string // a tool call has begun; its input follows in the final response only
}

// StopReason says why a model stopped.
type StopReason string

// The reasons for which a model stops.
const (
	StopEndTurn   StopReason = "end_turn"
	StopToolUse   StopReason = "tool_use"
	StopMaxTokens StopReason = "max_tokens" // cut off: tool calls of this response must not run
	StopRefusal   StopReason = "refusal"
)

// Usage counts what a model call took.
type Usage struct {
	InputTokens       int     `json:"input_tokens"`
	OutputTokens      int     `json:"output_tokens"`
	CachedInputTokens int     `json:"cached_input_tokens,omitempty"` // of the input: read from the service's cache
	CacheWriteTokens  int     `json:"-"`                             // of the input: written to a cache that is billed apart; told by its cost alone
	Cost              float64 `json:"cost"`                          // in the currency of the configured prices; 0 where none is set
}

// costUnits is how many parts of the currency's unit costs are told in.
const costUnits = 1e9

// Rounded gives u without the last digits that sums of fractions leave behind.
func (u Usage) Rounded() Usage {
	u.Cost = math.Round(u.Cost*costUnits) / costUnits
	return u
}

// Add gives the sum of u and o.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		InputTokens:       u.InputTokens + o.InputTokens,
		OutputTokens:      u.OutputTokens + o.OutputTokens,
		CachedInputTokens: u.CachedInputTokens + o.CachedInputTokens,
		CacheWriteTokens:  u.CacheWriteTokens + o.CacheWriteTokens,
		Cost:              u.Cost + o.Cost,
	}
}

// ModelResponse is the whole answer of a model call.
type ModelResponse struct {
	Message  Message // the assistant's blocks, in order
	Stop     StopReason
	Usage    Usage
	Provider ProviderUsed // who answered; set where a choice among providers was made
}

// ModelSink hears what happens during a model call, in order, from one goroutine. An error
// that it gives ends the call and is returned as it is.
type ModelSink struct {
	Delta    func(ModelDelta) error
	Failover func(ModelFailover) error // nil where nobody listens
}

// ModelFailover says that a call goes on at another provider: every delta of the call so
// far must be dropped.
type ModelFailover struct {
	From   ProviderUsed
	To     ProviderUsed
	Reason Code          // what the provider left behind said
	Wait   time.Duration // how long it asked to be left alone; 0 where unknown
}

// ToolCalls gives the tool_use blocks of the response.
func (r ModelResponse) ToolCalls() []Block {
	var calls []Block
	for _, b := range r.Message.Blocks {
		if b.Type == BlockToolUse {
			calls = append(calls, b)
		}
	}
	return calls
}

// ProviderSelection is a person's choice of provider and model; empty fields mean the default.
type ProviderSelection struct {
	ProviderID string `json:"provider_id,omitempty"`
	Model      string `json:"model,omitempty"`
}

// ProviderUsed says which provider and model answered.
type ProviderUsed struct {
	ProviderID string `json:"provider_id"`
	Kind       string `json:"kind"` // anthropic, gemini, openai-compatible, offline, scripted
	Model      string `json:"model"`
}

// ModelInfo names a model that a provider offers.
type ModelInfo struct {
	ID          string `json:"id"`
	DisplayName string `json:"display_name,omitempty"`
}

// ProviderInfo describes a provider to the model picker.
type ProviderInfo struct {
	ID           string      `json:"id"`
	Kind         string      `json:"kind"`
	Name         string      `json:"name"`
	DefaultModel string      `json:"default_model"`
	Models       []ModelInfo `json:"models"`
}

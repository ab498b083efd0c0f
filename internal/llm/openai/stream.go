package openai

import (
	"encoding/json"

	sdk "github.com/openai/openai-go/v3"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/wire"
)

// reasoningFields are the names under which services send a model's reasoning.
var reasoningFields = []string{"reasoning_content", "reasoning"}

// reader gathers the chunks of one answer.
type reader struct {
	service wire.Service
	answer  *wire.Answer
	calls   map[int64]*wire.Part // by the service's index
	usage   domain.Usage
	ending  string
	refused bool
	begun   bool
}

func (r *reader) chunk(c sdk.ChatCompletionChunk) error {
	r.begun = true
	if c.Usage.TotalTokens > 0 || c.Usage.PromptTokens > 0 {
		r.usage = domain.Usage{
			InputTokens:       int(c.Usage.PromptTokens),
			OutputTokens:      int(c.Usage.CompletionTokens),
			CachedInputTokens: int(c.Usage.PromptTokensDetails.CachedTokens),
		}
	}
	if len(c.Choices) == 0 {
		return nil
	}
	choice := c.Choices[0]
	if choice.FinishReason != "" {
		r.ending = choice.FinishReason
	}
	if err := r.reasoning(choice.Delta); err != nil {
		return err
	}
	text := choice.Delta.Content
	if choice.Delta.Refusal != "" {
		r.refused = true
		text += choice.Delta.Refusal
	}
	if text != "" {
		if _, err := r.answer.Say(domain.BlockText, text); err != nil {
			return err
		}
	}
	for _, call := range choice.Delta.ToolCalls {
		if err := r.call(call); err != nil {
			return err
		}
	}
	return nil
}

// reasoning reads the field that the SDK does not know.
func (r *reader) reasoning(delta sdk.ChatCompletionChunkChoiceDelta) error {
	for _, name := range reasoningFields {
		field, ok := delta.JSON.ExtraFields[name]
		if !ok {
			continue
		}
		var piece string
		if json.Unmarshal([]byte(field.Raw()), &piece) != nil || piece == "" {
			continue
		}
		part := r.answer.Last()
		if part == nil || part.Type != domain.BlockThinking {
			var err error
			// The name of the field is kept as the signature: it says how to give the text back.
			if part, err = r.answer.Start(domain.Block{Type: domain.BlockThinking, Signature: name, SignedBy: llm.KindOpenAI}); err != nil {
				return err
			}
		}
		return r.answer.Grow(part, piece)
	}
	return nil
}

// call adds to a tool call. Some services give every call the index 0, each with an id of
// its own.
func (r *reader) call(c sdk.ChatCompletionChunkChoiceDeltaToolCall) error {
	part := r.calls[c.Index]
	if part == nil || c.ID != "" && part.CallID != "" && c.ID != part.CallID {
		var err error
		if part, err = r.answer.Start(domain.Block{Type: domain.BlockToolUse, CallID: c.ID, Tool: c.Function.Name}); err != nil {
			return err
		}
		r.calls[c.Index] = part
	}
	return r.answer.Grow(part, c.Function.Arguments)
}

func (r *reader) finish(req domain.ModelRequest) (domain.ModelResponse, error) {
	stop := domain.StopEndTurn
	switch r.ending {
	case "":
		if r.begun {
			return domain.ModelResponse{}, r.service.Broken()
		}
		return domain.ModelResponse{}, r.service.Empty()
	case "length":
		stop = domain.StopMaxTokens
	case "content_filter":
		stop = domain.StopRefusal
	}
	if r.refused {
		stop = domain.StopRefusal
	}
	return r.answer.Finish(r.service, req, stop, r.usage)
}

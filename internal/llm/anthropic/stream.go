package anthropic

import (
	"context"
	"errors"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/wire"
)

// reader gathers the events of one answer.
type reader struct {
	service wire.Service
	model   string
	answer  *wire.Answer
	parts   map[int64]*wire.Part // by the service's index
	usage   domain.Usage
	stop    sdk.StopReason
	begun   bool
	done    bool
}

func (r *reader) event(e sdk.MessageStreamEventUnion) error {
	switch e.Type {
	case "message_start":
		r.begun = true
		r.count(e.Message.Usage.InputTokens, e.Message.Usage.CacheReadInputTokens, e.Message.Usage.CacheCreationInputTokens)
		r.usage.OutputTokens = int(e.Message.Usage.OutputTokens)
	case "content_block_start":
		return r.start(e.Index, e.ContentBlock)
	case "content_block_delta":
		return r.grow(e.Index, e.Delta)
	case "message_delta":
		r.stop = e.Delta.StopReason
		r.usage.OutputTokens = int(e.Usage.OutputTokens)
		if e.Usage.JSON.InputTokens.Valid() {
			r.count(e.Usage.InputTokens, e.Usage.CacheReadInputTokens, e.Usage.CacheCreationInputTokens)
		}
	case "message_stop":
		r.done = true
	}
	return nil
}

// count notes the input: the service counts what it read from and wrote to its cache apart.
func (r *reader) count(fresh, read, written int64) {
	r.usage.InputTokens = int(fresh + read + written)
	r.usage.CachedInputTokens, r.usage.CacheWriteTokens = int(read), int(written)
}

func (r *reader) start(index int64, b sdk.ContentBlockStartEventContentBlockUnion) error {
	block := domain.Block{}
	switch b.Type {
	case "text":
		block.Type = domain.BlockText
	case "thinking":
		block = domain.Block{Type: domain.BlockThinking, Signature: b.Signature, SignedBy: llm.KindAnthropic}
	case "redacted_thinking":
		block = domain.Block{Type: domain.BlockThinking, Signature: b.Data, SignedBy: llm.KindAnthropic, Redacted: true}
	case "tool_use":
		block = domain.Block{Type: domain.BlockToolUse, CallID: b.ID, Tool: b.Name}
	default:
		return nil // of a feature that was not asked for
	}
	part, err := r.answer.Start(block)
	if err != nil {
		return err
	}
	r.parts[index] = part
	if err := r.answer.Grow(part, b.Text); err != nil {
		return err
	}
	return r.answer.Grow(part, b.Thinking)
}

func (r *reader) grow(index int64, d sdk.MessageStreamEventUnionDelta) error {
	part := r.parts[index]
	if part == nil {
		return nil
	}
	switch d.Type {
	case "text_delta":
		return r.answer.Grow(part, d.Text)
	case "thinking_delta":
		return r.answer.Grow(part, d.Thinking)
	case "input_json_delta":
		return r.answer.Grow(part, d.PartialJSON)
	case "signature_delta":
		part.Signature += d.Signature
	}
	return nil
}

func (r *reader) finish(req domain.ModelRequest) (domain.ModelResponse, error) {
	if !r.begun {
		return domain.ModelResponse{}, r.service.Empty()
	}
	if !r.done {
		return domain.ModelResponse{}, r.service.Broken()
	}
	stop := domain.StopEndTurn
	switch r.stop {
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		stop = domain.StopMaxTokens
	case sdk.StopReasonRefusal:
		stop = domain.StopRefusal
	}
	return r.answer.Finish(r.service, req, stop, r.usage)
}

// fail maps an SDK's error; one that came inside of the stream holds the service's report.
func (p *Provider) fail(ctx context.Context, model string, err error) error {
	var reported *sdk.Error
	if ctx.Err() == nil && errors.As(err, &reported) && reported.RawJSON() != "" {
		return p.service.Report(model, []byte(reported.RawJSON()))
	}
	return p.service.Fail(ctx, model, err)
}

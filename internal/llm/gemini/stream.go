package gemini

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/genai"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/wire"
)

// reader gathers the chunks of one answer.
type reader struct {
	service wire.Service
	model   string
	answer  *wire.Answer
	usage   domain.Usage
	ending  genai.FinishReason
	blocked string
	begun   bool
}

func (r *reader) chunk(c *genai.GenerateContentResponse) error {
	r.begun = true
	if u := c.UsageMetadata; u != nil {
		r.usage = domain.Usage{
			InputTokens:       int(u.PromptTokenCount + u.ToolUsePromptTokenCount),
			OutputTokens:      int(u.CandidatesTokenCount + u.ThoughtsTokenCount),
			CachedInputTokens: int(u.CachedContentTokenCount),
		}
	}
	if f := c.PromptFeedback; f != nil && f.BlockReason != "" {
		r.blocked = string(f.BlockReason)
	}
	if len(c.Candidates) == 0 {
		return nil
	}
	candidate := c.Candidates[0]
	if candidate.FinishReason != "" {
		r.ending = candidate.FinishReason
	}
	if candidate.Content == nil {
		return nil
	}
	for _, p := range candidate.Content.Parts {
		if err := r.part(p); err != nil {
			return err
		}
	}
	return nil
}

// part adds a part. A signature belongs to the part that it came with and closes it; one
// that came alone belongs to what was said last.
func (r *reader) part(p *genai.Part) error {
	var grown *wire.Part
	var err error
	switch {
	case p.FunctionCall != nil:
		var input []byte
		if input, err = json.Marshal(p.FunctionCall.Args); err != nil {
			return fmt.Errorf("input of %s: %w", p.FunctionCall.Name, err)
		}
		grown, err = r.answer.Start(domain.Block{
			Type: domain.BlockToolUse, CallID: p.FunctionCall.ID, Tool: p.FunctionCall.Name, Input: input,
		})
	case p.Text == "":
		grown = r.answer.Last()
	case p.Thought:
		grown, err = r.answer.Say(domain.BlockThinking, p.Text)
	default:
		grown, err = r.answer.Say(domain.BlockText, p.Text)
	}
	if err == nil && grown != nil && len(p.ThoughtSignature) > 0 {
		grown.Signature = base64.StdEncoding.EncodeToString(p.ThoughtSignature)
		grown.SignedBy = llm.KindGemini
	}
	return err
}

func (r *reader) finish(req domain.ModelRequest) (domain.ModelResponse, error) {
	if r.blocked != "" {
		return domain.ModelResponse{}, domain.Errorf(domain.CodeUpstream, "provider %q blocked the question (%s)", r.service.ID, r.blocked)
	}
	stop := domain.StopEndTurn
	switch r.ending {
	case "":
		if r.begun {
			return domain.ModelResponse{}, r.service.Broken()
		}
		return domain.ModelResponse{}, r.service.Empty()
	case genai.FinishReasonStop, genai.FinishReasonUnspecified:
	case genai.FinishReasonMaxTokens:
		stop = domain.StopMaxTokens
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall, genai.FinishReasonTooManyToolCalls, genai.FinishReasonOther:
		return domain.ModelResponse{}, domain.Errorf(domain.CodeUpstream, "the model of provider %q failed to finish its answer (%s)", r.service.ID, r.ending)
	default:
		stop = domain.StopRefusal // safety, recitation and their like
	}
	return r.answer.Finish(r.service, req, stop, r.usage)
}

// fail maps an SDK's error; one that came inside of the stream holds the service's report.
func (p *Provider) fail(ctx context.Context, model string, err error) error {
	var reported genai.APIError
	if ctx.Err() == nil && errors.As(err, &reported) {
		if body, marshalErr := json.Marshal(reported); marshalErr == nil {
			return p.service.Report(model, body)
		}
	}
	return p.service.Fail(ctx, model, err)
}

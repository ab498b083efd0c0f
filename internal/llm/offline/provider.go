// Package offline is the provider without a model: it answers questions about code by
// plans that are written down here, through the same tools and the same loop as a model.
// It needs no key and no network, gives the same answer to the same findings, shows only
// what the tools returned, and says that no model wrote it.
//
// The provider keeps nothing between calls. Each call replays the plan of the question
// over the results that the conversation already holds: where the plan needs one that is
// missing, the answer is the call for it; where it needs none, the answer is text.
package offline

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Kind is the provider kind as configurations and provider_used name it; Model is the name
// of what answers.
const (
	Kind  = "offline"
	Model = "rules"
)

// maxRounds bounds the rounds of tool calls that a question may take.
const maxRounds = 5

// Provider answers without a model. It is safe for concurrent use.
type Provider struct{ id string }

// New builds the provider with the given id ("" for "offline").
func New(id string) *Provider { return &Provider{id: cmp.Or(id, Kind)} }

// Info describes the provider.
func (p *Provider) Info() domain.ProviderInfo {
	return domain.ProviderInfo{ID: p.id, Kind: Kind, Name: "Offline (no model)", DefaultModel: Model, Models: []domain.ModelInfo{{ID: Model}}}
}

// Models gives the one model.
func (p *Provider) Models(context.Context) ([]domain.ModelInfo, error) {
	return []domain.ModelInfo{{ID: Model, DisplayName: "Rules, no model"}}, nil
}

// Stream answers the last question of the conversation, or asks for what it needs to know.
func (p *Provider) Stream(ctx context.Context, req domain.ModelRequest, emit func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	if ctx.Err() != nil {
		return domain.ModelResponse{}, domain.Wrap(domain.CodeCanceled, context.Cause(ctx), "the model call was canceled")
	}
	talk := read(req.Messages)
	if text, ok := aside(req, talk); ok {
		return say(req, text, emit)
	}
	run := newPlan(req.Tools, talk)
	text := run.answer(analyze(talk))
	if len(run.wanted) == 0 {
		return say(req, text, emit)
	}
	return call(req, run, talk.rounds, emit)
}

// say gives an answer, line by line.
func say(req domain.ModelRequest, text string, emit func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	for line := range strings.Lines(text) {
		if err := emit(domain.ModelDelta{Text: line}); err != nil {
			return domain.ModelResponse{}, err
		}
	}
	message := domain.TextMessage(domain.RoleAssistant, text)
	return domain.ModelResponse{Message: message, Stop: domain.StopEndTurn, Usage: usage(req, message)}, nil
}

// call asks for the tools that the plan wants, with a word on what for.
func call(req domain.ModelRequest, run *plan, round int, emit func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	thought := run.purpose()
	message := domain.Message{Role: domain.RoleAssistant, Blocks: []domain.Block{{Type: domain.BlockThinking, Text: thought}}}
	if err := emit(domain.ModelDelta{Thinking: thought}); err != nil {
		return domain.ModelResponse{}, err
	}
	for i, want := range run.wanted {
		if err := emit(domain.ModelDelta{ToolName: want.tool}); err != nil {
			return domain.ModelResponse{}, err
		}
		message.Blocks = append(message.Blocks, domain.Block{
			Type: domain.BlockToolUse, CallID: fmt.Sprintf("call-%d-%d", round, i), Tool: want.tool, Input: json.RawMessage(want.input),
		})
	}
	return domain.ModelResponse{Message: message, Stop: domain.StopToolUse, Usage: usage(req, message)}, nil
}

// usage estimates tokens from lengths, so that the figures of a turn look alike whoever
// answers it.
func usage(req domain.ModelRequest, answer domain.Message) domain.Usage {
	const bytesPerToken = 4
	size := func(m domain.Message) (n int) {
		for _, b := range m.Blocks {
			n += len(b.Text) + len(b.Input)
		}
		return n
	}
	input := len(req.System)
	for _, m := range req.Messages {
		input += size(m)
	}
	return domain.Usage{InputTokens: input / bytesPerToken, OutputTokens: size(answer) / bytesPerToken}
}

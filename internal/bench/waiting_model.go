package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/tools"
)

// askingModel takes no time: it asks for a change that a person must approve, and answers
// once it has heard what came of it.
type askingModel struct{}

// Info implements llm.Provider.
func (askingModel) Info() domain.ProviderInfo {
	return domain.ProviderInfo{ID: "bench", Kind: "scripted", Name: "Bench", DefaultModel: "bench"}
}

// Models implements llm.Provider.
func (askingModel) Models(context.Context) ([]domain.ModelInfo, error) {
	return []domain.ModelInfo{{ID: "bench"}}, nil
}

// Stream implements llm.Provider.
func (askingModel) Stream(_ context.Context, req domain.ModelRequest, emit func(domain.ModelDelta) error) (domain.ModelResponse, error) {
	text, stop := "It must be changed. ", domain.StopToolUse
	message := domain.Message{Role: domain.RoleAssistant, Blocks: []domain.Block{
		{Type: domain.BlockText, Text: text},
		{Type: domain.BlockToolUse, CallID: "call-0", Tool: "change", Input: json.RawMessage(`{"name":"handler","to":"router"}`)},
	}}
	if last := req.Messages[len(req.Messages)-1]; last.Blocks[0].Type == domain.BlockToolResult {
		text, stop = answerText, domain.StopEndTurn
		message.Blocks = []domain.Block{{Type: domain.BlockText, Text: text}}
	}
	if err := emit(domain.ModelDelta{Text: text}); err != nil {
		return domain.ModelResponse{}, err
	}
	return domain.ModelResponse{Message: message, Stop: stop, Usage: domain.Usage{InputTokens: 100, OutputTokens: 20}}, nil
}

// askingTools offers a tool that always asks, and is done at once: as short as what our own
// tools do that ask.
func askingTools() *tools.Registry { return tools.NewRegistry(change{}, tools.AskUser{}) }

type change struct{}

// Spec implements tools.Tool.
func (change) Spec() tools.Spec {
	return tools.Spec{
		ToolSpec: domain.ToolSpec{Name: "change", Description: "Changes something.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Policy:   domain.PolicyAlways, Local: true, Timeout: 2 * time.Second, MaxResult: 1000,
	}
}

// Run implements tools.Tool.
func (change) Run(context.Context, domain.Scope, json.RawMessage) (domain.ToolResult, error) {
	return domain.ToolResult{Text: "It is changed."}, nil
}

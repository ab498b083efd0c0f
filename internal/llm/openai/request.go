package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/wire"
)

// build renders req. native says that OpenAI itself is asked.
func build(req domain.ModelRequest, native bool) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{
		Model:         req.Model,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	if req.User != "" {
		params.User = sdk.String(req.User)
	}
	switch {
	case req.MaxTokens == 0:
	case native:
		params.MaxCompletionTokens = sdk.Int(int64(req.MaxTokens))
	default:
		params.MaxTokens = sdk.Int(int64(req.MaxTokens))
	}
	if req.System != "" {
		params.Messages = append(params.Messages, sdk.SystemMessage(req.System))
	}
	for _, t := range req.Tools {
		var schema shared.FunctionParameters
		if err := json.Unmarshal(wire.Schema(t.InputSchema), &schema); err != nil {
			return params, fmt.Errorf("schema of tool %s: %w", t.Name, err)
		}
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: sdk.String(t.Description), Parameters: schema,
		}))
	}
	asked := lastQuestion(req.Messages)
	for i, m := range req.Messages {
		if m.Role == domain.RoleAssistant {
			params.Messages = append(params.Messages, assistant(m, i > asked))
			continue
		}
		messages, err := user(m)
		if err != nil {
			return params, err
		}
		params.Messages = append(params.Messages, messages...)
	}
	return params, nil
}

// lastQuestion gives the index of the person's last message, -1 where there is none.
func lastQuestion(messages []domain.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == domain.RoleUser && messages[i].Text() != "" {
			return i
		}
	}
	return -1
}

// assistant renders an answer of the model. Its reasoning is given back, in the field in
// which it came, only within the turn that it belongs to: services that want it want it
// there, and refuse it elsewhere.
func assistant(m domain.Message, current bool) sdk.ChatCompletionMessageParamUnion {
	message := &sdk.ChatCompletionAssistantMessageParam{}
	reasoning := map[string]any{}
	for _, b := range m.Blocks {
		switch b.Type {
		case domain.BlockThinking:
			if current && b.SignedBy == llm.KindOpenAI {
				before, _ := reasoning[b.Signature].(string)
				reasoning[b.Signature] = before + b.Text
			}
		case domain.BlockToolUse:
			message.ToolCalls = append(message.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
					ID: b.CallID,
					Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
						Name: b.Tool, Arguments: string(wire.Input(b.Input)),
					},
				},
			})
		}
	}
	if text := m.Text(); text != "" || len(message.ToolCalls) == 0 {
		message.Content.OfString = sdk.String(text)
	}
	if len(reasoning) > 0 {
		message.SetExtraFields(reasoning)
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: message}
}

// user renders a person's message, or the results of tools: each is a message of its own.
func user(m domain.Message) ([]sdk.ChatCompletionMessageParamUnion, error) {
	var out []sdk.ChatCompletionMessageParamUnion
	var parts []sdk.ChatCompletionContentPartUnionParam
	plain := true
	for _, b := range m.Blocks {
		switch b.Type {
		case domain.BlockToolResult:
			out = append(out, sdk.ToolMessage(b.Text, b.CallID))
		case domain.BlockText:
			if b.Text != "" {
				parts = append(parts, sdk.TextContentPart(b.Text))
			}
		case domain.BlockMedia:
			plain = false
			part, err := media(b)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
	}
	switch {
	case len(parts) == 0:
	case plain: // the simplest form is the one that every service knows
		out = append(out, sdk.UserMessage(m.Text()))
	default:
		out = append(out, sdk.UserMessage(parts))
	}
	return out, nil
}

func media(b domain.Block) (sdk.ChatCompletionContentPartUnionParam, error) {
	data := "data:" + b.MimeType + ";base64," + base64.StdEncoding.EncodeToString(b.Data)
	switch wire.MediaOf(b) {
	case wire.Image:
		return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: data}), nil
	case wire.PDF:
		return sdk.FileContentPart(sdk.ChatCompletionContentPartFileFileParam{FileData: sdk.String(data), Filename: sdk.String(b.Name)}), nil
	case wire.Text:
		return sdk.TextContentPart(wire.AttachedText(b)), nil
	}
	return sdk.ChatCompletionContentPartUnionParam{}, wire.UnsupportedMedia(b)
}

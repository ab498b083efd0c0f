package gemini

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"

	"google.golang.org/genai"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/wire"
)

// foreignSignature stands where the service wants a signature for a call that another
// model made; its documentation names it for histories taken over.
var foreignSignature = []byte("skip_thought_signature_validator")

// build renders req.
func build(req domain.ModelRequest) ([]*genai.Content, *genai.GenerateContentConfig, error) {
	config := &genai.GenerateContentConfig{MaxOutputTokens: int32(min(req.MaxTokens, 1<<30))}
	if req.System != "" {
		config.SystemInstruction = genai.NewContentFromText(req.System, genai.RoleUser)
	}
	if version := generation(req.Model); version >= 25 {
		config.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true}
	}
	if len(req.Tools) > 0 {
		tool := &genai.Tool{}
		for _, t := range req.Tools {
			tool.FunctionDeclarations = append(tool.FunctionDeclarations, &genai.FunctionDeclaration{
				Name: t.Name, Description: t.Description, ParametersJsonSchema: wire.Schema(t.InputSchema),
			})
		}
		config.Tools = []*genai.Tool{tool}
	}
	var contents []*genai.Content
	for _, m := range req.Messages {
		parts, err := parts(m, req.Model)
		if err != nil {
			return nil, nil, err
		}
		if len(parts) == 0 {
			continue
		}
		role := genai.RoleUser
		if m.Role == domain.RoleAssistant {
			role = genai.RoleModel
		}
		contents = append(contents, genai.NewContentFromParts(parts, genai.Role(role)))
	}
	return contents, config, nil
}

// parts renders a message's blocks.
func parts(m domain.Message, model string) ([]*genai.Part, error) {
	var out []*genai.Part
	firstCall := true
	for _, b := range m.Blocks {
		part, err := part(b)
		if err != nil {
			return nil, err
		}
		if part == nil {
			continue
		}
		if part.FunctionCall != nil {
			if firstCall && part.ThoughtSignature == nil && generation(model) >= 30 {
				part.ThoughtSignature = foreignSignature
			}
			firstCall = false
		}
		out = append(out, part)
	}
	return out, nil
}

// part renders one block; nil where there is nothing to send.
func part(b domain.Block) (*genai.Part, error) {
	var p *genai.Part
	switch b.Type {
	case domain.BlockText:
		if b.Text == "" {
			return nil, nil
		}
		p = &genai.Part{Text: b.Text}
	case domain.BlockThinking:
		if b.SignedBy != llm.KindGemini {
			return nil, nil
		}
		p = &genai.Part{Text: b.Text, Thought: true}
	case domain.BlockToolUse:
		var args map[string]any
		if err := json.Unmarshal(wire.Input(b.Input), &args); err != nil {
			return nil, fmt.Errorf("input of call %s: %w", b.CallID, err)
		}
		p = &genai.Part{FunctionCall: &genai.FunctionCall{ID: b.CallID, Name: b.Tool, Args: args}}
	case domain.BlockToolResult:
		field := "output"
		if b.Error {
			field = "error"
		}
		return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: b.CallID, Name: b.Tool, Response: map[string]any{field: b.Text}}}, nil
	case domain.BlockMedia:
		return media(b)
	default:
		return nil, nil
	}
	if b.SignedBy == llm.KindGemini && b.Signature != "" {
		signature, err := base64.StdEncoding.DecodeString(b.Signature)
		if err != nil {
			return nil, fmt.Errorf("signature of a block: %w", err)
		}
		p.ThoughtSignature = signature
	}
	return p, nil
}

func media(b domain.Block) (*genai.Part, error) {
	switch wire.MediaOf(b) {
	case wire.Image, wire.PDF:
		return genai.NewPartFromBytes(b.Data, b.MimeType), nil
	case wire.Text:
		return genai.NewPartFromText(wire.AttachedText(b)), nil
	}
	return nil, wire.UnsupportedMedia(b)
}

var modelVersion = regexp.MustCompile(`^(?:models/)?gemini-(\d)(?:\.(\d))?`)

// generation gives the model's version times ten, 0 for other models: 25 and later think,
// 30 and later want their signatures back.
func generation(model string) int {
	m := modelVersion.FindStringSubmatch(model)
	if m == nil {
		return 0
	}
	version := int(m[1][0]-'0') * 10
	if m[2] != "" {
		version += int(m[2][0] - '0')
	}
	return version
}

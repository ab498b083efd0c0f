package anthropic

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/wire"
)

// build renders req. What stays the same from round to round (tools, system prompt, the
// messages so far) is marked for the service's cache, so that a long turn pays for its
// history once.
func build(req domain.ModelRequest) (sdk.MessageNewParams, error) {
	params := sdk.MessageNewParams{Model: req.Model, MaxTokens: int64(req.MaxTokens)}
	if req.System != "" {
		params.System = []sdk.TextBlockParam{{Text: req.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	if req.User != "" {
		params.Metadata.UserID = sdk.String(req.User)
	}
	if adapts(req.Model) {
		params.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
	}
	for i, t := range req.Tools {
		tool := sdk.ToolParam{
			Name: t.Name, Description: sdk.String(t.Description),
			InputSchema: param.Override[sdk.ToolInputSchemaParam](wire.Schema(t.InputSchema)),
		}
		if i == len(req.Tools)-1 {
			tool.CacheControl = sdk.NewCacheControlEphemeralParam()
		}
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: &tool})
	}
	for _, m := range req.Messages {
		blocks, err := content(m)
		if err != nil {
			return params, err
		}
		if len(blocks) > 0 {
			params.Messages = append(params.Messages, sdk.MessageParam{Role: sdk.MessageParamRole(m.Role), Content: blocks})
		}
	}
	markCached(params.Messages)
	return params, nil
}

// content renders a message's blocks. The service wants the results of tools first, and
// refuses blank texts.
func content(m domain.Message) ([]sdk.ContentBlockParamUnion, error) {
	var results, others []sdk.ContentBlockParamUnion
	for _, b := range m.Blocks {
		switch b.Type {
		case domain.BlockText:
			if strings.TrimSpace(b.Text) != "" {
				others = append(others, sdk.NewTextBlock(b.Text))
			}
		case domain.BlockThinking:
			if b.SignedBy != llm.KindAnthropic {
				continue // of another provider; this one would refuse it
			}
			if b.Redacted {
				others = append(others, sdk.NewRedactedThinkingBlock(b.Signature))
			} else {
				others = append(others, sdk.NewThinkingBlock(b.Signature, b.Text))
			}
		case domain.BlockToolUse:
			others = append(others, sdk.NewToolUseBlock(b.CallID, wire.Input(b.Input), b.Tool))
		case domain.BlockToolResult:
			results = append(results, sdk.NewToolResultBlock(b.CallID, b.Text, b.Error))
		case domain.BlockMedia:
			block, err := media(b)
			if err != nil {
				return nil, err
			}
			others = append(others, block)
		}
	}
	return append(results, others...), nil
}

func media(b domain.Block) (sdk.ContentBlockParamUnion, error) {
	switch wire.MediaOf(b) {
	case wire.Image:
		return sdk.NewImageBlockBase64(b.MimeType, base64.StdEncoding.EncodeToString(b.Data)), nil
	case wire.PDF:
		document := sdk.NewDocumentBlock(sdk.Base64PDFSourceParam{Data: base64.StdEncoding.EncodeToString(b.Data)})
		if b.Name != "" {
			document.OfDocument.Title = sdk.String(b.Name)
		}
		return document, nil
	case wire.Text:
		return sdk.NewTextBlock(wire.AttachedText(b)), nil
	}
	return sdk.ContentBlockParamUnion{}, wire.UnsupportedMedia(b)
}

// markCached marks the ends of the last two user messages: the newer one is written to the
// cache for the next round, the older one is where this round finds the last one's entry.
func markCached(messages []sdk.MessageParam) {
	const marks = 2
	marked := 0
	for i := len(messages) - 1; i >= 0 && marked < marks; i-- {
		if messages[i].Role != sdk.MessageParamRoleUser {
			continue
		}
		blocks := messages[i].Content
		if control := blocks[len(blocks)-1].GetCacheControl(); control != nil {
			*control = sdk.NewCacheControlEphemeralParam()
			marked++
		}
	}
}

var modelVersion = regexp.MustCompile(`claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:$|[^\d])`)

// adapts reports whether the model decides by itself when to think, as those since 4.6 do.
// Older ones and those of other makers refuse to be asked so.
func adapts(model string) bool {
	m := modelVersion.FindStringSubmatch(model)
	if m == nil {
		return false
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return major > 4 || major == 4 && minor >= 6
}

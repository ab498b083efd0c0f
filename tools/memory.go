package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Memories keeps notes; library.Memories does.
type Memories interface {
	Create(ctx context.Context, m domain.Memory, by domain.Author) (domain.Memory, error)
}

// MemoryTools gives the tool that keeps notes.
func MemoryTools(memories Memories) []Tool { return []Tool{remember{memories}} }

type remember struct{ memories Memories }

func (remember) Spec() Spec {
	return projectSpec(Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "remember",
			Description: "Keep a short note for later turns of this project: a decision, a preference, how something here is done. Never a secret, and nothing that can be looked up in code.",
			InputSchema: schema(
				field{name: "title", kind: "string", about: "One line by which it is found again.", required: true},
				field{name: "content", kind: "string", about: "The note, understandable without this conversation; at most 4000 characters.", required: true}),
		},
		Phase: PhaseWrite, Activity: "Remembering {title}",
	})
}

func (t remember) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[struct {
		Title   string `json:"title" need:""`
		Content string `json:"content" need:""`
	}](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	if scope.ProjectID == "" {
		return domain.ToolResult{}, errNoProject
	}
	m, err := t.memories.Create(ctx, domain.Memory{ProjectID: scope.ProjectID, Title: withoutValues(ctx, in.Title), Content: withoutValues(ctx, in.Content)}, authorOf(scope))
	if err != nil {
		return domain.ToolResult{}, err
	}
	return domain.ToolResult{Text: fmt.Sprintf("Remembered as %s: %s", m.ID, m.Title), Preview: m.Title}, nil
}

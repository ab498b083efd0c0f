package tools

import (
	"context"
	"encoding/json"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// AskUserName is the tool that ends a turn with a question; the turn handles its calls itself.
const AskUserName = "ask_user"

// AskUser is the tool by which a model asks the person something.
type AskUser struct{}

// Spec describes ask_user.
func (AskUser) Spec() Spec {
	return Spec{
		ToolSpec: domain.ToolSpec{
			Name:        AskUserName,
			Description: "Ask the person a question when you can't go on without an answer. It ends your turn. Never ask in plain text instead.",
			InputSchema: schema(
				field{name: "question", kind: "string", about: "The question.", required: true},
				field{name: "choices", kind: "strings", about: "Up to six short answers to choose from; the person may also write freely."}),
		},
		Policy: domain.PolicyNever, Local: true, Timeout: time.Second, MaxResult: defaultResult, Phase: PhaseAsk, Activity: "Asking: {question}",
	}
}

const maxChoices = 6

// ParseQuestion reads the input of an ask_user call.
func ParseQuestion(input json.RawMessage) (domain.Question, error) {
	in, err := decode[struct {
		Question string   `json:"question" need:""`
		Choices  []string `json:"choices"`
	}](input)
	if err != nil {
		return domain.Question{}, err
	}
	q := domain.Question{Question: in.Question, Choices: []string{}}
	for _, c := range in.Choices {
		if c != "" && len(q.Choices) < maxChoices {
			q.Choices = append(q.Choices, c)
		}
	}
	return q, nil
}

// Run checks the question; its result stands in the history beside the person's answer.
func (AskUser) Run(_ context.Context, _ domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	q, err := ParseQuestion(input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	return domain.ToolResult{Text: "The question was put to the person; the answer is their next message.", Preview: q.Question}, nil
}

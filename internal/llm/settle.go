package llm

import "github.com/harvest-engine/harvest/internal/domain"

// lostResult stands for the result of a call that has none: the turn was ended in between.
const lostResult = "This call was not made: the turn ended before."

// settle gives a conversation in which the results of an answer's tool calls are one
// message right behind it, each call with its result and each result with its call: the
// services refuse anything else, and a turn may have ended between the two.
func settle(messages []domain.Message) []domain.Message {
	settled := make([]domain.Message, 0, len(messages))
	open := false // the last message of settled holds the results of the answer before it
	for i, m := range messages {
		if m.Role == domain.RoleAssistant {
			settled = append(settled, m)
			if results := resultsOf(m, messages[i+1:]); len(results) > 0 {
				settled = append(settled, domain.Message{Role: domain.RoleUser, Blocks: results})
				open = true
			}
			continue
		}
		rest := withoutResults(m.Blocks)
		switch {
		case len(rest) == 0:
		case open && len(rest) < len(m.Blocks):
			last := &settled[len(settled)-1]
			last.Blocks = append(last.Blocks, rest...)
		default:
			settled = append(settled, domain.Message{Role: m.Role, Blocks: rest})
			open = false
		}
	}
	return settled
}

// resultsOf gives a result for each call of answer: from the messages up to the next
// answer, or one that says it was lost.
func resultsOf(answer domain.Message, after []domain.Message) []domain.Block {
	var results []domain.Block
	for _, call := range (domain.ModelResponse{Message: answer}).ToolCalls() {
		results = append(results, resultOf(call, after))
	}
	return results
}

func resultOf(call domain.Block, after []domain.Message) domain.Block {
	for _, m := range after {
		if m.Role == domain.RoleAssistant {
			break
		}
		for _, b := range m.Blocks {
			if b.Type == domain.BlockToolResult && b.CallID == call.CallID {
				return b
			}
		}
	}
	return domain.Block{Type: domain.BlockToolResult, CallID: call.CallID, Tool: call.Tool, Text: lostResult, Error: true}
}

func withoutResults(blocks []domain.Block) []domain.Block {
	var rest []domain.Block
	for _, b := range blocks {
		if b.Type != domain.BlockToolResult {
			rest = append(rest, b)
		}
	}
	return rest
}

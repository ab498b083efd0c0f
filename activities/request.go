package activities

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/prompts"
	"github.com/harvest-engine/harvest/tools"
	"github.com/harvest-engine/harvest/workflows"
)

// notRun answers a call that a message asks for and that has no outcome: providers refuse a
// conversation in which one is missing.
const notRun = "This call was not run."

// request builds what a round of the model is asked.
func request(d domain.Dialogue, in workflows.GenerateInput, specs []tools.Spec, notes []domain.Memory) domain.ModelRequest {
	data := prompts.SystemData{Notes: notesOf(notes), Repositories: d.Scope.Repositories, Versions: d.Scope.Versions, Tools: !in.Conversational}
	req := domain.ModelRequest{Model: d.Provider.Model, Messages: dialogue(d), User: d.Turn.UserID, ProjectID: d.Scope.ProjectID}
	for _, spec := range offered(specs, in, d.Scope) {
		data.Cypher = data.Cypher || spec.Name == "run_cypher"
		data.Skills = data.Skills || spec.Name == tools.ListSkillsName
		req.Tools = append(req.Tools, spec.ToolSpec)
	}
	req.System = prompts.System(data)
	if in.Synthesis {
		req.Messages = appendMessage(req.Messages, domain.TextMessage(domain.RoleUser, prompts.Synthesis()))
	}
	return req
}

// offered gives the tools of a round: none for a synthesis, ask_user alone in a
// conversational turn, those of projects in a project's turns.
func offered(specs []tools.Spec, in workflows.GenerateInput, scope domain.Scope) []tools.Spec {
	if in.Synthesis {
		return nil
	}
	var list []tools.Spec
	for _, spec := range specs {
		if (!in.Conversational || spec.Name == tools.AskUserName) && (!spec.Project || scope.ProjectID != "") {
			list = append(list, spec)
		}
	}
	return list
}

// dialogue renders the conversation and the turn's rounds as messages of alternating roles.
func dialogue(d domain.Dialogue) []domain.Message {
	var messages []domain.Message
	if d.Summary != "" {
		messages = appendMessage(messages, domain.TextMessage(domain.RoleUser, "Summary of the conversation before this point:\n\n"+d.Summary))
	}
	for _, past := range d.History {
		messages = appendMessage(messages, readable(past.Message))
	}
	messages = appendMessage(messages, readable(d.Message))
	if d.Digest != "" {
		messages = appendMessage(messages, domain.TextMessage(domain.RoleUser, "Summary of what you have looked up for this so far:\n\n"+d.Digest))
	}
	for _, round := range d.Rounds {
		messages = appendMessage(messages, round.Message)
		if results := results(round); len(results.Blocks) > 0 {
			messages = appendMessage(messages, results)
		}
	}
	return messages
}

// appendMessage adds m, joined to the last message where their roles are one.
func appendMessage(messages []domain.Message, m domain.Message) []domain.Message {
	if n := len(messages); n > 0 && messages[n-1].Role == m.Role {
		last := messages[n-1]
		last.Blocks = append(append([]domain.Block(nil), last.Blocks...), m.Blocks...)
		messages[n-1] = last
		return messages
	}
	return append(messages, m)
}

// results gives the outcome of every call that the round's message asks for, in order.
func results(round domain.DialogueTurn) domain.Message {
	outcomes := map[string]domain.ToolCall{}
	for _, call := range round.Calls {
		outcomes[call.ID] = call
	}
	m := domain.Message{Role: domain.RoleUser}
	for _, b := range round.Message.Blocks {
		if b.Type != domain.BlockToolUse {
			continue
		}
		result := domain.Block{Type: domain.BlockToolResult, CallID: b.CallID, Tool: b.Tool, Text: notRun, Error: true}
		if call, ok := outcomes[b.CallID]; ok && call.Status != domain.CallPending && call.Status != domain.CallRunning {
			result.Text, result.Error, result.Reveals = call.Result.Text, call.Result.Error, call.Result.Reveals
		}
		m.Blocks = append(m.Blocks, result)
	}
	return m
}

// readable turns attachments that are text into text.
func readable(m domain.Message) domain.Message {
	blocks := make([]domain.Block, len(m.Blocks))
	for i, b := range m.Blocks {
		if b.Type == domain.BlockMedia && isText(b) {
			b = domain.Block{Type: domain.BlockText, Text: fmt.Sprintf("\n\nAttached file %s:\n\n%s", b.Name, domain.CleanText(string(b.Data)))}
		}
		blocks[i] = b
	}
	return domain.Message{Role: m.Role, Blocks: blocks}
}

func isText(b domain.Block) bool {
	switch kind, _, _ := strings.Cut(b.MimeType, ";"); kind {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml":
		return true
	case "", "application/octet-stream":
		return len(b.Data) < 1<<20 && utf8.Valid(b.Data)
	default:
		return strings.HasPrefix(kind, "text/")
	}
}

// transcript renders messages as plain text, for a summary.
func transcript(messages []domain.Message) string {
	var out strings.Builder
	for _, m := range messages {
		for _, b := range m.Blocks {
			switch b.Type {
			case domain.BlockText:
				fmt.Fprintf(&out, "%s: %s\n\n", m.Role, b.Text)
			case domain.BlockToolUse:
				fmt.Fprintf(&out, "%s called %s %s\n\n", m.Role, b.Tool, b.Input)
			case domain.BlockToolResult:
				fmt.Fprintf(&out, "%s gave: %s\n\n", b.Tool, b.Text)
			case domain.BlockMedia:
				fmt.Fprintf(&out, "%s attached %s\n\n", m.Role, b.Name)
				if b.Document != nil && b.Document.Text != "" {
					fmt.Fprintf(&out, "Its text:\n\n%s\n\n", b.Document.Text)
				}
			}
		}
	}
	return out.String()
}

// framed keeps a note from ending the frame that it stands in.
var framed = strings.NewReplacer("<note", "< note", "</note", "< /note")

// notesOf renders memories as notes for the system prompt.
func notesOf(memories []domain.Memory) []prompts.Note {
	notes := make([]prompts.Note, 0, len(memories))
	for _, m := range memories {
		notes = append(notes, prompts.Note{Title: strings.ReplaceAll(framed.Replace(m.Title), `"`, "'"), Content: framed.Replace(m.Content)})
	}
	return notes
}

package offline

import (
	"encoding/json"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// talk is a conversation as the plans see it.
type talk struct {
	question string            // the person's last message
	earlier  []string          // the person's messages before it, the newest last
	answered string            // the last answer before the question
	rounds   int               // rounds of tools since the question
	results  map[string]result // by callKey, of those rounds
}

// result is what a tool gave; failed says that it is an error message.
type result struct {
	text   string
	failed bool
}

// callKey names a call by its tool and its input in canonical form.
func callKey(tool string, input json.RawMessage) string {
	var value any
	if json.Unmarshal(input, &value) == nil {
		if canonical, err := json.Marshal(value); err == nil {
			input = canonical
		}
	}
	return tool + string(input)
}

// read takes a conversation apart.
func read(messages []domain.Message) talk {
	t := talk{results: map[string]result{}}
	last := -1
	for i, m := range messages {
		if m.Role != domain.RoleUser || isResults(m) {
			continue
		}
		if said := spoken(m); len(said) > 0 {
			last = i
			t.earlier = append(t.earlier, said...)
		}
	}
	if last < 0 {
		return t
	}
	t.question = t.earlier[len(t.earlier)-1]
	t.earlier = t.earlier[:len(t.earlier)-1]
	for _, m := range messages[:last] {
		if m.Role == domain.RoleAssistant && m.Text() != "" {
			t.answered = m.Text()
		}
	}
	keys := map[string]string{}
	for _, m := range messages[last+1:] {
		calls := false
		for _, b := range m.Blocks {
			switch b.Type {
			case domain.BlockToolUse:
				calls = true
				keys[b.CallID] = callKey(b.Tool, b.Input)
			case domain.BlockToolResult:
				t.results[keys[b.CallID]] = result{text: b.Text, failed: b.Error}
			}
		}
		if calls {
			t.rounds++
		}
	}
	return t
}

// spoken gives what a person wrote in a message. Messages of one role may have been joined,
// and summaries of what went before and the texts of attachments stand among them.
func spoken(m domain.Message) []string {
	var said []string
	for _, b := range m.Blocks {
		text := strings.TrimSpace(b.Text)
		if b.Type == domain.BlockText && text != "" && !strings.HasPrefix(text, "Summary of ") && !strings.HasPrefix(text, "Attached file ") {
			said = append(said, text)
		}
	}
	return said
}

func isResults(m domain.Message) bool {
	for _, b := range m.Blocks {
		if b.Type == domain.BlockToolResult {
			return true
		}
	}
	return false
}

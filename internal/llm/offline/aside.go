package offline

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// aside answers the calls around a turn, which offer no tools: which intent a message has,
// a summary of what was said, and small talk. ok is false for a call that needs a plan.
func aside(req domain.ModelRequest, t talk) (text string, ok bool) {
	for _, tool := range req.Tools {
		if tool.Name != "ask_user" {
			return "", false
		}
	}
	switch system := req.System; {
	case strings.Contains(system, "Classify the last message"):
		return string(intent(t.question)), true
	case strings.Contains(system, "Sum up the conversation"):
		return summary(req.Messages), true
	}
	if len(t.results) > 0 {
		return gathered(req.Messages), true
	}
	return notice + "\n\nI answer questions about code that has been read: where something is defined, who calls it, how one function reaches another, " +
		"what changed between versions, where something is configured, how something works. Ask one of these.", true
}

var (
	greeting = regexp.MustCompile(`(?i)^\W*(hi|hello|hey|thanks?( you)?|thank you( very much)?|good (morning|afternoon|evening|day)|ok(ay)?|great|bye|cheers|nice|perfect|got it)\b[\s\w,!.]{0,24}$`)
	order    = regexp.MustCompile(`(?i)^\W*(please\s+)?(run|deploy|restart|start|stop|destroy|apply|install|delete|remove|create|provision|reboot|execute)\b`)
)

// intent classifies a message by its form.
func intent(message string) domain.Intent {
	switch {
	case greeting.MatchString(message) && !strings.Contains(message, "?"):
		return domain.IntentConversational
	case order.MatchString(message) && strings.Contains(message, "?"):
		return domain.IntentHybrid
	case order.MatchString(message):
		return domain.IntentAction
	}
	return domain.IntentResearch
}

const (
	summaryQuestions = 20
	summarySources   = 40
)

var (
	askedLine   = regexp.MustCompile(`(?m)^user: (.+)$`)  // of a transcript
	summaryLine = regexp.MustCompile(`(?m)^- ([^\[].*)$`) // of an earlier summary
)

// summary keeps what was asked and what was cited in a transcript. It invents no prose.
func summary(messages []domain.Message) string {
	var all strings.Builder
	for _, m := range messages {
		all.WriteString(m.Text() + "\n")
	}
	text := all.String()
	var questions []string
	if before, _, ok := strings.Cut(text, "\nThe answers cited:"); ok {
		for _, m := range summaryLine.FindAllStringSubmatch(before, -1) {
			questions = append(questions, "- "+m[1])
		}
	}
	for _, m := range askedLine.FindAllStringSubmatch(text, -1) {
		questions = append(questions, "- "+cut(strings.TrimSpace(m[1]), 300))
	}
	questions = unique(questions)
	questions = questions[max(0, len(questions)-summaryQuestions):]
	var b strings.Builder
	fmt.Fprintf(&b, "The person asked:\n%s\n", strings.Join(questions, "\n"))
	fmt.Fprintf(&b, "\nThe answers cited:\n- %s\n", strings.Join(citations(text, summarySources), "\n- "))
	return b.String()
}

// gathered answers from the results at hand where no more look-ups are allowed.
func gathered(messages []domain.Message) string {
	var all strings.Builder
	for _, m := range messages {
		for _, b := range m.Blocks {
			if b.Type == domain.BlockToolResult && !b.Error {
				all.WriteString(b.Text + "\n")
			}
		}
	}
	sources := citations(all.String(), summarySources)
	if len(sources) == 0 {
		return notice + "\n\nNothing found."
	}
	return notice + "\n\nThe look-ups of this turn are used up. They found:\n\n- " + strings.Join(sources, "\n- ")
}

// citations gives the last limit citations of text, each once.
func citations(text string, limit int) []string {
	var out []string
	for _, c := range domain.ParseCitations(text) {
		out = append(out, place{c.Repo, c.Version, c.File, c.Line}.span(c.EndLine))
	}
	return out[max(0, len(out)-limit):]
}

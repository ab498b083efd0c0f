package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// kindOffline is the provider that no model stands behind.
const kindOffline = "offline"

// maxSources is how many verified sources are listed; what is not verified always is.
const maxSources = 12

// outcome is what terminal events carry.
type outcome struct {
	TurnID        string               `json:"turn_id"`
	Answer        string               `json:"answer"`
	Sources       []domain.Source      `json:"sources"`
	ToolCallsMade int64                `json:"tool_calls_made"`
	ProviderUsed  *domain.ProviderUsed `json:"provider_used"`
	Reason        domain.EndReason     `json:"reason"`
	Question      *domain.Question     `json:"question"`
	Usage         domain.Usage         `json:"usage"`
	Message       string               `json:"message"`
	Code          domain.Code          `json:"code"`
}

func (t *Turn) showEnd(kind domain.EventType, event Event) error {
	var end outcome
	if err := event.Decode(&end); err != nil {
		return err
	}
	t.screen.Status(nil)
	if kind == domain.EventDone || end.Answer != "" {
		t.showAnswer(end)
	}
	t.text.flush()
	t.showSources(end.Sources)
	t.showFooter(end)
	switch kind {
	case domain.EventError:
		return domain.Errorf(end.Code, "the turn failed: %s", end.Message)
	case domain.EventCanceled:
		return domain.Errorf(domain.CodeCanceled, "%s", end.Message)
	}
	return nil
}

// showAnswer shows the answer where it did not stream already, and what the person is asked.
func (t *Turn) showAnswer(end outcome) {
	answer := strings.TrimSpace(end.Answer)
	said := strings.TrimSpace(t.said.String())
	switch {
	case said != "" && strings.HasSuffix(answer, said): // it streamed
		answer = t.said.String()
	case end.Question != nil && answer != "" && answer == t.before: // it streamed before the question
		t.screen.Line("")
	default:
		t.endText()
		if t.steps {
			t.screen.Line("")
		}
		t.text.write(answer)
	}
	if q := end.Question; q != nil {
		t.showQuestion(*q, answer)
	}
	t.text.flush()
}

// showQuestion shows a question to the person, where the answer before it does not hold it,
// and its choices.
func (t *Turn) showQuestion(q domain.Question, answer string) {
	if !strings.Contains(answer, q.Question) {
		if answer != "" && answer != t.before {
			t.text.write("\n")
		}
		t.text.write(q.Question)
		answer = q.Question
	}
	if !strings.HasSuffix(answer, "\n") {
		t.text.write("\n")
	}
	for _, choice := range q.Choices {
		t.text.write("- " + choice + "\n")
	}
}

func (t *Turn) showSources(sources []domain.Source) {
	if len(sources) == 0 {
		return
	}
	t.screen.Line("\n%s", t.screen.Style(Bold, "Sources"))
	slices.SortStableFunc(sources, func(a, b domain.Source) int {
		return strings.Compare(a.Repo+"\x00"+a.Version, b.Repo+"\x00"+b.Version)
	})
	above, shown := "", 0
	for _, s := range sources {
		if s.Verified {
			if shown++; shown > maxSources {
				continue
			}
		}
		if origin := s.Repo + " " + s.Version; origin != above {
			above = origin
			t.screen.Line("  %s", t.screen.Style(Dim, origin+commitOf(s)))
		}
		sign := t.screen.Style(Green, t.screen.mark("✓", "+"))
		place := fmt.Sprintf("%s:%d", printable(s.File), s.Line)
		note := s.Symbol
		if !s.Verified {
			sign, note = t.screen.Style(Red, t.screen.mark("✗", "!")), "not there: this citation could not be verified"
		}
		if note != "" {
			note = "  " + t.screen.Style(Dim, printable(note))
		}
		t.screen.Line("  %s %s%s", sign, t.screen.Style(Cyan, place), note)
	}
	if rest := shown - maxSources; rest > 0 {
		t.screen.Line("  %s", t.screen.Style(Dim, "… and "+plural(int64(rest), "more source")+", all verified"))
	}
}

func commitOf(s domain.Source) string {
	text := ""
	if len(s.Commit) >= 10 {
		text = " @ " + s.Commit[:10]
	}
	if s.Stale {
		text += ", the branch has moved since"
	}
	return text
}

func (t *Turn) showFooter(end outcome) {
	facts := []string{plural(end.ToolCallsMade, "tool call"), seconds(time.Since(t.begun))}
	offline := end.ProviderUsed != nil && end.ProviderUsed.Kind == kindOffline
	if offline {
		facts = append(facts, "no model")
	}
	if end.ProviderUsed != nil && !offline {
		facts = append(facts, modelOf(*end.ProviderUsed))
	}
	if end.ProviderUsed != nil && t.wanted != "" && t.wanted != end.ProviderUsed.ProviderID {
		facts = append(facts, fmt.Sprintf("in place of %q", printable(t.wanted)))
	}
	if end.Usage.Cost > 0 {
		facts = append(facts, fmt.Sprintf("cost %.4f", end.Usage.Cost))
	}
	if note := reasonNote(end.Reason); note != "" {
		facts = append(facts, note)
	}
	if end.TurnID != "" {
		facts = append(facts, "turn "+end.TurnID)
	}
	t.screen.Line("")
	if offline && end.Answer != "" && !strings.Contains(end.Answer, "model wrote this") { // the answer may say so itself
		t.screen.Line("%s", t.screen.Style(Yellow, "No model wrote this: it was put together by searching and reading the code."))
	}
	t.screen.Line("%s", t.screen.Style(Dim, strings.Join(facts, " · ")))
}

func reasonNote(reason domain.EndReason) string {
	switch reason {
	case domain.EndBudgetExhausted:
		return "the budget is used up, so the answer is partial"
	case domain.EndMaxTokens:
		return "cut off at the model's longest answer"
	case domain.EndSynthesized:
		return "summed up after the last allowed round"
	}
	return ""
}

package terminal

import (
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// showAction shows that the turn waits for a decision, and how to take it; or who took it.
func (t *Turn) showAction(kind domain.EventType, event Event) error {
	var action struct {
		ID          string              `json:"id"`
		Name        string              `json:"name"` // of the tool; of a decision, the person's
		Description string              `json:"description"`
		ExpiresAt   time.Time           `json:"expires_at"`
		Status      domain.ActionStatus `json:"status"`
		Reason      string              `json:"reason"`
	}
	if err := event.Decode(&action); err != nil {
		return err
	}
	t.endText()
	t.steps = true
	if kind == domain.EventActionDecided {
		text := string(action.Status) + " by " + action.Name
		if action.Status == domain.ActionExpired {
			text = "nobody decided in time; it is not run"
		}
		if action.Reason != "" {
			text += ": " + action.Reason
		}
		t.note(Dim, "•", "-", printable(text))
		t.set(func() { t.doing = "going on" })
		return nil
	}
	t.screen.Line("%s %s", t.screen.Style(Yellow, t.screen.mark("■", "!")), t.screen.Style(Bold, "this waits for your approval"))
	for line := range strings.SplitSeq(action.Description, "\n") {
		t.screen.Line("    %s", printable(line))
	}
	t.screen.Line("  until %s; decide with", action.ExpiresAt.Local().Format(time.DateTime))
	t.screen.Line("    harvest actions approve %s", printable(action.ID))
	t.screen.Line("    harvest actions reject %s", printable(action.ID))
	t.set(func() { t.doing = "waiting for a decision" })
	return nil
}

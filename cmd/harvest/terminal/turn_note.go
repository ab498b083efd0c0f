package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

func (t *Turn) showNote(kind domain.EventType, event Event) error {
	switch kind {
	case domain.EventRetry:
		return t.showRetry(event)
	case domain.EventFailover:
		return t.showFailover(event)
	case domain.EventTrimmed:
		t.note(Dim, "…", "~", "the steps before this are no longer kept")
		return nil
	case domain.EventCompacted:
		t.note(Dim, "≡", "~", "the older part of the conversation was summed up")
		return nil
	}
	var note struct {
		Mode  string `json:"mode"`
		Label string `json:"label"`
		Note  string `json:"note"`
	}
	if err := event.Decode(&note); err != nil {
		return err
	}
	switch kind {
	case domain.EventIntent:
		t.set(func() { t.doing = "thinking about a " + note.Mode + " question" })
		return nil
	case domain.EventAttachmentNote:
		t.note(Yellow, "!", "!", domain.Visible(note.Note))
		return nil
	}
	t.showPhase(note.Label)
	return nil
}

// showPhase heads the steps of a phase; rounds that go on in the same one share a head.
func (t *Turn) showPhase(label string) {
	if t.phase == label && t.said.Len() == 0 {
		return
	}
	t.endText()
	t.screen.Line("%s %s", t.screen.Style(Cyan, t.screen.mark("◆", "*")), t.screen.Style(Bold, clip(label, t.screen.width()-4)))
	t.phase, t.steps = label, true
}

func (t *Turn) showRetry(event Event) error {
	var retry struct {
		Reason  domain.Code `json:"reason"`
		Message string      `json:"message"`
		WaitMS  int64       `json:"wait_ms"`
	}
	if err := event.Decode(&retry); err != nil {
		return err
	}
	text := "trying again"
	if retry.WaitMS > 0 {
		text += " in " + seconds(time.Duration(retry.WaitMS)*time.Millisecond)
	}
	why := retry.Message
	if why == "" {
		why = reasonOf(retry.Reason)
	}
	t.note(Yellow, "↻", "~", text+": "+why)
	return nil
}

func (t *Turn) showFailover(event Event) error {
	var over struct {
		From   domain.ProviderUsed `json:"from"`
		To     domain.ProviderUsed `json:"to"`
		Reason domain.Code         `json:"reason"`
	}
	if err := event.Decode(&over); err != nil {
		return err
	}
	t.note(Yellow, "↪", "~", fmt.Sprintf("going on with %s: %s %s", modelOf(over.To), over.From.ProviderID, reasonOf(over.Reason)))
	return nil
}

// reasonOf says in words why a model call did not succeed; of a reason that it does not know
// it gives the name.
func reasonOf(code domain.Code) string {
	switch code {
	case domain.CodeRateLimited:
		return "has reached its rate limit"
	case domain.CodeOverloaded:
		return "is overloaded"
	case domain.CodeTimeout:
		return "did not answer in time"
	case domain.CodeUnavailable:
		return "can't be reached"
	}
	return strings.ReplaceAll(string(code), "_", " ")
}

// modelOf names a model and its provider.
func modelOf(p domain.ProviderUsed) string {
	return strings.TrimSpace(p.Model + " (" + p.ProviderID + ")")
}

func (t *Turn) note(style Style, fancy, plain, text string) {
	t.endText()
	t.screen.Line("%s", t.screen.Style(style, t.screen.mark(fancy, plain)+" "+clip(text, t.screen.width()-4)))
	t.steps = true
}

package terminal

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Event is an event of a turn or a run as the API sends it.
type Event interface {
	Decode(out any) error
}

// Turn shows a turn's events as they come.
type Turn struct {
	screen  *Screen
	begun   time.Time
	text    *prose
	said    strings.Builder // since the last step: the answer, where nothing follows it
	before  string          // what was said before the last step
	wanted  string          // the provider that was asked for
	running []running
	doing   string // what the model does
	steps   bool   // a step was shown
	phase   string // the last one that was shown
}

type running struct{ id, description string }

// NewTurn begins to show a turn.
func NewTurn(screen *Screen) *Turn {
	t := &Turn{screen: screen, begun: time.Now(), text: newProse(screen, screen.mark("  ", "")), doing: "starting"}
	t.screen.Status(t.status)
	return t
}

// Wants names the provider that was asked for: it is told where another one answered.
func (t *Turn) Wants(provider string) { t.wanted = provider }

// Question shows what is asked.
func (t *Turn) Question(question string) {
	t.screen.Line("%s %s\n", t.screen.Style(Cyan, t.screen.mark("❯", ">")), t.screen.Style(Bold, printable(question)))
}

// status renders the moving line. The screen holds its lock meanwhile; so do all methods
// below that change what is read here, through Screen.Status.
func (t *Turn) status(width int) string {
	what := t.doing
	if len(t.running) > 0 {
		names := make([]string, len(t.running))
		for i, r := range t.running {
			names[i] = r.description
		}
		what = strings.Join(names, " · ")
	}
	clock := seconds(time.Since(t.begun).Truncate(100 * time.Millisecond))
	return clip(what, width-len(clock)-2) + "  " + t.screen.Style(Dim, clock)
}

// set changes what the moving line tells.
func (t *Turn) set(change func()) {
	t.screen.mu.Lock()
	change()
	t.screen.mu.Unlock()
	t.screen.Status(t.status)
}

// Show renders one event. After the terminal one the turn is over: nil for an answer, else
// an error with the turn's reason.
func (t *Turn) Show(kind domain.EventType, event Event) error {
	switch kind {
	case domain.EventTextDelta:
		return t.showText(event)
	case domain.EventThinkingDelta:
		t.set(func() { t.doing = "thinking" })
	case domain.EventIntent, domain.EventPhase, domain.EventRetry, domain.EventFailover, domain.EventCompacted, domain.EventTrimmed, domain.EventAttachmentNote:
		return t.showNote(kind, event)
	case domain.EventToolCall:
		return t.showCall(event)
	case domain.EventToolResult:
		return t.showResult(event)
	case domain.EventConfirmAction, domain.EventActionDecided:
		return t.showAction(kind, event)
	case domain.EventDone, domain.EventError, domain.EventCanceled:
		return t.showEnd(kind, event)
	}
	return nil
}

func (t *Turn) showText(event Event) error {
	var piece struct {
		Text string `json:"text"`
	}
	if err := event.Decode(&piece); err != nil {
		return err
	}
	if t.said.Len() == 0 && t.steps {
		t.screen.Line("")
	}
	t.said.WriteString(piece.Text)
	t.text.write(piece.Text)
	t.set(func() { t.doing = "writing" })
	return nil
}

// endText closes text that is followed by a step.
func (t *Turn) endText() {
	if t.said.Len() > 0 {
		t.before = strings.TrimSpace(t.said.String())
		t.text.flush()
		t.text = newProse(t.screen, t.text.indent)
		t.said.Reset()
		t.screen.Line("")
	}
}

func (t *Turn) showCall(event Event) error {
	var call struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description"`
		place
	}
	if err := event.Decode(&call); err != nil {
		return err
	}
	t.endText()
	description := call.named(firstOf(call.Description, call.Name))
	t.set(func() { t.running = append(t.running, running{call.ID, description}) })
	return nil
}

// place is the machine that a call is about.
type place struct {
	Hostname string          `json:"hostname"` // "" for none
	Input    json.RawMessage `json:"input"`    // whatever a model has written
}

// named gives what a call does with the name of its machine in the place of its id, which says
// nothing to people.
func (p place) named(description string) string {
	var in struct {
		AgentID string `json:"agent_id"`
	}
	if json.Unmarshal(p.Input, &in) != nil || p.Hostname == "" || in.AgentID == "" {
		return description
	}
	return strings.Replace(description, in.AgentID, p.Hostname, 1)
}

func (t *Turn) showResult(event Event) error {
	var result struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Preview string `json:"preview"`
		Error   bool   `json:"error"`
	}
	if err := event.Decode(&result); err != nil {
		return err
	}
	description := result.Name
	at := slices.IndexFunc(t.running, func(r running) bool { return r.id == result.ID })
	if at >= 0 {
		description = t.running[at].description
		t.set(func() { t.running, t.doing = slices.Delete(t.running, at, at+1), "reading what was found" })
	}
	t.endText()
	sign := t.screen.Style(Green, t.screen.mark("✓", "+"))
	if result.Error {
		sign = t.screen.Style(Red, t.screen.mark("✗", "!"))
	}
	width := t.screen.width() - 6
	description = clip(description, width)
	preview := clip(result.Preview, width-len([]rune(description))-2)
	if len([]rune(preview)) < 8 && preview != result.Preview {
		preview = ""
	}
	t.screen.Line("  %s %s  %s", sign, description, t.screen.Style(Dim, preview))
	t.steps = true
	return nil
}

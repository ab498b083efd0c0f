package terminal

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// How much is shown, in characters, of what a script said on the way, of which the end tells all,
// and of what holds the making up, which says what to do.
const (
	noteLength = 300
	waitLength = 1500
)

// Container shows how far the making of a container is.
type Container struct {
	screen *Screen
	name   string
	begun  time.Time
	phase  string    // that is under way; "" before the first
	since  time.Time // it is
	doing  string    // what goes on in it; "" for nothing that is known
	done   map[string]bool
	tenths map[string]int // that a plain screen has told, by what they are tenths of
}

// NewContainer begins to show it.
func NewContainer(screen *Screen, name string) *Container {
	c := &Container{screen: screen, name: name, begun: time.Now(), since: time.Now(), done: map[string]bool{}, tenths: map[string]int{}}
	screen.Status(c.status)
	return c
}

var containerPhases = map[string]string{
	"ensure_network": "preparing the network of the project", "install_token": "making a token for it", "create_container": "creating the container",
	"start_container": "starting it", "wait_running": "waiting until it runs", "install_agent": "installing the agent",
}

func containerPhase(phase string) string {
	if text := containerPhases[phase]; text != "" {
		return text
	}
	return printable(strings.ReplaceAll(phase, "_", " "))
}

func (c *Container) status(width int) string {
	text := "beginning"
	if c.phase != "" {
		text = containerPhase(c.phase)
	}
	if c.doing != "" {
		text += ": " + c.doing
	}
	clock := seconds(time.Since(c.begun).Truncate(100 * time.Millisecond))
	return clip(text, width-len(clock)-2) + "  " + c.screen.Style(Dim, clock)
}

// Show shows an event. After the last the container is there, or else the error says why not.
func (c *Container) Show(kind domain.EventType, event Event) error {
	var e struct {
		Phase    string `json:"phase"`
		Instance string `json:"instance"`
		Message  string `json:"message"`
		Attempt  int    `json:"attempt"`
		Attempts int    `json:"attempts"`
		Waiting  bool   `json:"waiting"`
	}
	if err := event.Decode(&e); err != nil {
		return err
	}
	switch kind {
	case domain.EventPhaseStart:
		c.begin(e.Phase)
	case domain.EventPhaseNote:
		c.note(e.Phase, clip(e.Message, waitLength), e.Waiting)
	case domain.EventInstallRetry:
		c.screen.Line("%s %s", c.screen.Style(Yellow, c.screen.mark("↻", "~")), fmt.Sprintf("trying again to install the agent, %d of %d: %s", e.Attempt, e.Attempts, firstOf(clip(e.Message, noteLength), "the container is not ready yet")))
	case domain.EventDone:
		c.begin("")
		c.screen.Status(nil)
		as := ""
		if e.Instance != "" && e.Instance != c.name {
			as = " as " + printable(e.Instance)
		}
		c.screen.Line("%s is made%s; it is in harvest agents list once its agent has connected, within seconds", c.screen.Style(Bold, printable(c.name)), as)
	case domain.EventCanceled:
		c.screen.Status(nil)
		return domain.Errorf(domain.CodeCanceled, "%s was not made: it was stopped, and all that was made of it is removed", printable(c.name))
	case domain.EventError:
		c.screen.Status(nil)
		where := ""
		if e.Phase != "" {
			where = " while " + containerPhase(e.Phase)
		}
		return domain.Errorf(domain.CodeUpstream, "%s was not made: it failed%s: %s", printable(c.name), where, printable(e.Message))
	}
	return nil
}

// begin ends the phase that is under way, and begins another. What is told again after a broken
// connection is not shown again.
func (c *Container) begin(phase string) {
	if c.done[phase] || phase != "" && phase == c.phase {
		return
	}
	if c.phase != "" {
		c.done[c.phase] = true
		c.screen.Line("%s %s  %s", c.screen.Style(Green, c.screen.mark("✓", "+")), containerPhase(c.phase), c.screen.Style(Dim, seconds(time.Since(c.since))))
	}
	c.screen.mu.Lock()
	c.phase, c.since, c.doing = phase, time.Now(), ""
	c.screen.mu.Unlock()
}

// note shows what goes on in a phase: on a line of its own what holds it up, and that what was
// made is removed, which nobody else would tell before that is done.
func (c *Container) note(phase, message string, waiting bool) {
	switch {
	case waiting:
		c.screen.Line("%s %s", c.screen.Style(Yellow, c.screen.mark("…", "~")), message+"; it is tried again")
	case phase == string(domain.PhaseRemoving):
		c.screen.Line("%s %s", c.screen.Style(Yellow, c.screen.mark("…", "~")), message)
	case c.screen.fancy:
		c.screen.mu.Lock()
		c.doing = message
		c.screen.mu.Unlock()
	default:
		c.far(message)
	}
}

var percentage = regexp.MustCompile(`\b(\d{1,3})%`)

// far tells a plain screen how far something is, with each further tenth of it.
func (c *Container) far(message string) {
	at := percentage.FindStringSubmatchIndex(message)
	if at == nil {
		return
	}
	of := message[:at[0]]
	percent, _ := strconv.Atoi(message[at[2]:at[3]]) // three digits at most
	if told, begun := c.tenths[of]; !begun || percent/10 > told {
		c.tenths[of] = percent / 10
		c.screen.Line("  %s", message)
	}
}

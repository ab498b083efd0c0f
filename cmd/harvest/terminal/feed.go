package terminal

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// titleWidth is the room for a conversation's title before what happens in it.
const titleWidth = 28

// Feed shows all that happens in a project as it comes, a line for each thing: several
// conversations may go on at once, so a text is shown line by line under its conversation.
type Feed struct {
	screen *Screen
	titles map[string]string           // of conversations
	texts  map[string]*strings.Builder // what was said in a conversation and is no whole line yet
	here   string                      // who is there
}

// NewFeed begins to show a feed, whose conversations have titles by their ids.
func NewFeed(screen *Screen, titles map[string]string) *Feed {
	return &Feed{screen: screen, titles: titles, texts: map[string]*strings.Builder{}}
}

// happening is what the events of a feed tell, as far as it is shown.
type happening struct {
	ID           string              `json:"id"`
	ConvID       string              `json:"conv_id"`
	Username     string              `json:"username"`
	Query        string              `json:"query"`
	Text         string              `json:"text"`
	Label        string              `json:"label"`
	Name         string              `json:"name"`
	Description  string              `json:"description"`
	Preview      string              `json:"preview"`
	Question     json.RawMessage     `json:"question"` // a text, or of an ended turn more
	Title        string              `json:"title"`
	Message      string              `json:"message"`
	Note         string              `json:"note"`
	Status       domain.ActionStatus `json:"status"`
	Choices      []string            `json:"choices"`
	Requester    string              `json:"requester_name"` // of an action or a command of a person's own
	Command      string              `json:"command"`
	ExitCode     *int                `json:"exit_code"`
	Error        json.RawMessage     `json:"error"` // a text, or of a tool_result whether it is one
	Users        []struct{ Name string }
	Conversation struct{ ID, Title string }
	place
}

// Show shows one event.
func (f *Feed) Show(kind domain.EventType, event Event) error {
	var h happening
	if err := event.Decode(&h); err != nil {
		return err
	}
	if kind == domain.EventTextDelta {
		f.say(h)
		return nil
	}
	if kind != domain.EventThinkingDelta {
		f.flush(h.ConvID)
	}
	if f.showPeople(kind, h) || f.showConversation(kind, h) {
		return nil
	}
	f.showTurn(kind, h)
	return nil
}

// showPeople shows who comes and goes.
func (f *Feed) showPeople(kind domain.EventType, h happening) bool {
	switch kind {
	case domain.EventPresence:
		names := make([]string, len(h.Users))
		for i, u := range h.Users {
			names[i] = u.Name
		}
		if here := strings.Join(names, ", "); here != f.here { // it is told again at each connection
			f.here = here
			f.line("", Dim, "here: "+here)
		}
	case domain.EventUserJoin:
		f.line("", Dim, h.Name+" has come")
	case domain.EventUserLeave:
		f.line("", Dim, h.Name+" has gone")
	default:
		return false
	}
	return true
}

// showConversation shows what becomes of conversations.
func (f *Feed) showConversation(kind domain.EventType, h happening) bool {
	switch kind {
	case domain.EventConversationCreated:
		if f.titles[h.ConvID] = h.Conversation.Title; h.Conversation.Title != "" { // one without is named after its question
			f.line(h.ConvID, Dim, "a new conversation")
		}
	case domain.EventTitleUpdated:
		if f.titles[h.ConvID] != h.Title {
			f.line(h.ConvID, Dim, "is called now: "+h.Title)
		}
		f.titles[h.ConvID] = h.Title
	case domain.EventConversationDeleted:
		f.line(h.ConvID, Dim, "the conversation was removed")
		delete(f.titles, h.ConvID)
	case domain.EventSuggestions:
		for _, choice := range h.Choices {
			f.line(h.ConvID, Dim, "ask next: "+choice)
		}
	default:
		return false
	}
	return true
}

// showTurn shows the steps of a turn.
func (f *Feed) showTurn(kind domain.EventType, h happening) {
	switch kind {
	case domain.EventUserMessage:
		if f.titles[h.ConvID] == "" {
			f.titles[h.ConvID] = domain.TitleOf(h.Query)
		}
		f.line(h.ConvID, Bold, h.Username+" asks: "+h.Query)
	case domain.EventToolCall:
		f.line(h.ConvID, Cyan, h.named(firstOf(h.Description, h.Name)))
	case domain.EventToolResult:
		if h.Preview != "" {
			f.line(h.ConvID, Dim, h.Preview)
		}
	case domain.EventQuestion:
		var question string
		if json.Unmarshal(h.Question, &question) == nil {
			f.line(h.ConvID, Yellow, "asks back: "+question)
		}
		for _, choice := range h.Choices {
			f.line(h.ConvID, Dim, "- "+choice)
		}
	case domain.EventConfirmAction:
		f.line(h.ConvID, Yellow, h.waiting()+" waits for approval: harvest actions show "+h.ID)
	case domain.EventActionDecided:
		what := ""
		if h.ConvID == "" { // nothing else tells which
			what = h.ID + ": "
		}
		if h.Status == domain.ActionExpired {
			f.line(h.ConvID, Dim, what+"nobody decided in time; it is not run")
			return
		}
		f.line(h.ConvID, Dim, what+string(h.Status)+" by "+h.Name)
	case domain.EventCommandOrdered:
		f.line("", Cyan, h.Requester+" runs on "+h.Hostname+": "+h.Command)
	case domain.EventCommandEnded:
		f.line("", Dim, h.ending())
	case domain.EventRetry:
		f.line(h.ConvID, Yellow, "tries again: "+firstOf(h.Message, "it was interrupted"))
	case domain.EventAttachmentNote:
		f.line(h.ConvID, Yellow, h.Note)
	case domain.EventDone:
		f.line(h.ConvID, Green, "done")
	case domain.EventError:
		f.line(h.ConvID, Red, "failed: "+h.Message)
	case domain.EventCanceled:
		f.line(h.ConvID, Yellow, "stopped")
	}
}

// waiting names what waits for an approval: what a turn asks, or a person for themselves.
func (h happening) waiting() string {
	if h.Requester == "" {
		return h.Name
	}
	what := h.Name
	if h.Hostname != "" {
		what += " on " + h.Hostname
	}
	return what + ", asked by " + h.Requester
}

// ending says how a command of a person's own ended, and where its output is.
func (h happening) ending() string {
	how, why := "ended", ""
	_ = json.Unmarshal(h.Error, &why) // of other events it is no text
	switch domain.CommandStatus(h.Status) {
	case domain.CommandDone:
		if h.ExitCode != nil {
			how += " with exit code " + strconv.Itoa(*h.ExitCode)
		}
	case domain.CommandTimedOut:
		how = "was ended at its time limit"
	case domain.CommandCanceled:
		how = "was canceled"
	case domain.CommandExpired:
		how = "never ran: the machine stayed away"
	case domain.CommandFailed:
		how = strings.TrimSuffix("never ran: "+why, ": ")
	case domain.CommandUnknown:
		how = "has ended, or not: that can't be known"
	}
	return "the command of " + h.Requester + " on " + h.Hostname + " " + how + " (harvest agents logs " + h.ID + ")"
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// say shows the whole lines of what a model says, and keeps the rest.
func (f *Feed) say(h happening) {
	text := f.texts[h.ConvID]
	if text == nil {
		text = &strings.Builder{}
		f.texts[h.ConvID] = text
	}
	text.WriteString(h.Text)
	lines := strings.Split(text.String(), "\n")
	for _, line := range lines[:len(lines)-1] {
		f.line(h.ConvID, "", line)
	}
	text.Reset()
	text.WriteString(lines[len(lines)-1])
}

// flush shows a text that ends without a line's end.
func (f *Feed) flush(conversation string) {
	if text := f.texts[conversation]; text != nil {
		if text.Len() > 0 {
			f.line(conversation, "", text.String())
		}
		delete(f.texts, conversation)
	}
}

// line writes what happens, with the time and the conversation; a text of several lines is
// written in as many.
func (f *Feed) line(conversation string, style Style, text string) {
	title := ""
	if conversation != "" {
		title = clip(firstOf(f.titles[conversation], conversation), titleWidth)
	}
	at := f.screen.Style(Dim, time.Now().Format(time.TimeOnly))
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line = printable(line); strings.TrimSpace(line) == "" {
			continue
		}
		if title == "" {
			f.screen.Line("%s  %s", at, f.screen.Style(style, line))
			continue
		}
		f.screen.Line("%s  %s  %s", at, f.screen.Style(Cyan, title), f.screen.Style(style, line))
	}
}

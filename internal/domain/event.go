package domain

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// EventType names an event; it is the "type" of its JSON form.
type EventType string

// The types of events. The union of the contract's tables and our additions.
const (
	EventUserMessage    EventType = "user_message"    // {query, username, attachments, turn_id, conv_id}
	EventIntent         EventType = "intent"          // {mode}
	EventPhase          EventType = "phase"           // {label}
	EventThinkingDelta  EventType = "thinking_delta"  // {text}; a block
	EventTextDelta      EventType = "text_delta"      // {text}; a block
	EventToolCall       EventType = "tool_call"       // {id, name, input, description, hostname, input_bytes}: hostname of a machine that it is about; the last where the input is cut
	EventToolResult     EventType = "tool_result"     // {id, name, preview, error, truncated}
	EventQuestion       EventType = "question"        // {question, choices}
	EventConfirmAction  EventType = "confirm_action"  // {id, call_id, name, input, description, nonce, hash, expires_at, hostname}; of a person's own also requester and requester_name
	EventActionDecided  EventType = "action_decided"  // {id, call_id, status, decided_by, name, reason}; expired too
	EventTitleUpdated   EventType = "title_updated"   // {title, conv_id}
	EventAttachmentNote EventType = "attachment_note" // {name, problem, note}: models don't get the text of an attachment
	EventRetry          EventType = "retry"           // {reason, message, wait_ms, discard}: drop the text since the last finished round
	EventFailover       EventType = "failover"        // {from, to, reason}
	EventCompacted      EventType = "compacted"       // {messages, characters, summary_characters}
	EventTrimmed        EventType = "trimmed"         // {message, events}: so many events before the next are no longer kept; never stored
	EventDone           EventType = "done"            // terminal: see Turn.EndEvent
	EventError          EventType = "error"           // terminal: as done, with {message, code}
	EventCanceled       EventType = "canceled"        // terminal: as done, with {message}; of an ingestion as ingest_done

	// Events of a project's feed beside those of its turns. The first three are never stored.
	EventPresence            EventType = "presence"             // {users}
	EventUserJoin            EventType = "user_join"            // {user_id, name, conv_id}
	EventUserLeave           EventType = "user_leave"           // {user_id, name}
	EventLock                EventType = "lock"                 // {by, user_id, conv_id, turn_id}: a turn has begun, or goes on after its actions were decided
	EventUnlock              EventType = "unlock"               // {conv_id, turn_id, turn_seq}: it has ended, with that event of its own; without turn_seq it waits for decisions
	EventConversationCreated EventType = "conversation_created" // {conversation, conv_id}
	EventConversationUpdated EventType = "conversation_updated" // {conv_id, updated_at}
	EventConversationDeleted EventType = "conversation_deleted" // {conv_id}
	EventSuggestions         EventType = "suggestions"          // {conv_id, turn_id, choices}
	EventCommandOrdered      EventType = "command_ordered"      // {id, agent_id, hostname, command, description, requester, requester_name}: a person's own, which no approval is asked for
	EventCommandEnded        EventType = "command_ended"        // {id, agent_id, hostname, requester, requester_name, status, exit_code, error}: of a person's own

	EventCommandStarted EventType = "command_started" // {hostname, command}
	EventCommandOutput  EventType = "command_output"  // {stream, offset, text}; data, in base64, in the place of text that is not UTF-8
	EventCommandSkipped EventType = "command_skipped" // {stdout_bytes, stderr_bytes}: so much was written; what is beyond the head is not shown as it comes
	EventCommandDone    EventType = "command_done"    // terminal {status, exit_code, error, stdout_bytes, stderr_bytes}

	EventPhaseStart   EventType = "phase_start"   // {phase} of a provision, which ends with done, error or canceled: {provision_id, instance, message, phase, code}
	EventInstallRetry EventType = "install_retry" // {attempt, attempts, message}: the installation failed by that, and is tried again after a pause
	EventPhaseNote    EventType = "phase_note"    // {phase, message, waiting}: what goes on in it, or by what it is held up; of the clean-up too, whose phase is "removing"

	EventIngestProgress EventType = "ingest_progress" // IngestProgress
	EventIngestDone     EventType = "ingest_done"     // terminal {ingest_id, repository, kind, versions}
	EventIngestFailed   EventType = "ingest_failed"   // terminal: as ingest_done, with {message, code, failed}
)

// Terminal reports whether nothing follows an event of this type in its turn or run.
func (t EventType) Terminal() bool {
	switch t {
	case EventDone, EventError, EventCanceled, EventIngestDone, EventIngestFailed, EventCommandDone:
		return true
	}
	return false
}

// Block reports whether events of this type are text blocks: stored once, read in pieces.
func (t EventType) Block() bool { return t == EventThinkingDelta || t == EventTextDelta }

// Event is one entry of a turn's or run's log, as a reader sees it.
type Event struct {
	Subject string          // the turn's or run's id
	Cursor  Cursor          // where the reader stands once it has this event
	Type    EventType       // named in the JSON form as "type"
	Attempt int             // the attempt of the call that wrote it; 0 outside calls
	Payload json.RawMessage // a JSON object without "type"; of a block event {"text": a piece}
	At      time.Time
}

// JSON renders the event as clients read it: its payload's fields beside "type".
func (e Event) JSON() []byte {
	head := `{"type":` + strconv.Quote(string(e.Type))
	body := strings.TrimSpace(string(e.Payload))
	if len(body) <= 2 { // "" or "{}"
		return []byte(head + "}")
	}
	return []byte(head + "," + body[1:])
}

// Cursor is a place in a subject's event log: everything up to Seq has been read, except
// that with Offset > 0 of the block event Seq only the first Offset bytes of text.
// Its text form is "seq" or "seq.offset"; it is the id of an SSE event.
type Cursor struct {
	Seq    int64
	Offset int64
}

// String gives the text form.
func (c Cursor) String() string {
	if c.Offset == 0 {
		return strconv.FormatInt(c.Seq, 10)
	}
	return fmt.Sprintf("%d.%d", c.Seq, c.Offset)
}

// maxCursor is far beyond any log, and leaves room to count on.
const maxCursor = 1 << 53

// ParseCursor reads the text form; "" is the beginning.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	seqText, offText, dotted := strings.Cut(s, ".")
	if !dotted {
		offText = "0"
	}
	seq, err := strconv.ParseUint(seqText, 10, 64)
	off, offErr := strconv.ParseUint(offText, 10, 64)
	if err != nil || offErr != nil || seq > maxCursor || off > maxCursor {
		return Cursor{}, Invalid("after", "%q is not an event id; give the id of an event you received", s)
	}
	return Cursor{Seq: int64(seq), Offset: int64(off)}, nil
}

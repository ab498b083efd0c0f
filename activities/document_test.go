package activities_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/llm/scripted"
)

// shelfReader reads documents as its table says, and counts.
type shelfReader struct {
	texts map[string]domain.DocumentText
	reads atomic.Int32
}

func (r *shelfReader) Read(_ context.Context, data []byte) (domain.DocumentText, error) {
	r.reads.Add(1)
	text, known := r.texts[string(data)]
	if !known {
		return text, errors.New("no process could be started")
	}
	return text, nil
}

func attached(name, data string) domain.Attachment {
	return domain.Attachment{Name: name, MimeType: domain.PDFType, Data: []byte(data)}
}

func TestDocumentsAreReadOnceBeforeTheModelIsAsked(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(calling("", "peek"), scripted.Round{Text: cited}, scripted.Round{Text: cited}))
	reader := &shelfReader{texts: map[string]domain.DocumentText{
		"%PDF-1": {Pages: 1, Text: "[page 1]\nforty-two crowns"}, "%PDF-2": {Problem: domain.DocumentEncrypted},
	}}
	r.documents = reader
	req := query("What does it cost?")
	req.ConversationID = "costs"
	req.Attachments = []domain.Attachment{attached("bill.pdf", "%PDF-1"), attached("report.pdf", "%PDF-2")}
	_, events := r.ask(req)
	const refused = "no text could be read from report.pdf: it is encrypted"
	if note := first(t, events, domain.EventAttachmentNote); field(t, note, "note") != refused {
		t.Errorf("people read %s", note.Payload)
	}
	if want := "user_message intent title_updated attachment_note phase tool_call tool_result text_delta done"; types(events) != want {
		t.Errorf("events = %s, want %s", types(events), want)
	}
	again := query("And in euros?")
	again.ConversationID = "costs"
	r.ask(again)
	given := 0
	for _, req := range r.seen.all() {
		text := req.Messages[0].Text()
		if strings.Contains(text, "Attached file bill.pdf, 1 pages, as text:\n\n[page 1]\nforty-two crowns") && strings.Contains(text, refused) {
			given++
		}
	}
	if given < 3 || reader.reads.Load() != 2 {
		t.Errorf("given in %d rounds after %d readings; want 3 or more, and 2", given, reader.reads.Load())
	}
	c, err := r.store.Conversation(t.Context(), "costs")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := r.store.Entries(t.Context(), c, "")
	if err != nil || len(entries) != 4 {
		t.Fatalf("%d messages, %v", len(entries), err)
	}
	if files := entries[0].Attachments; files[0].Note != "" || files[1].Note != refused {
		t.Errorf("the conversation shows %q and %q", files[0].Note, files[1].Note)
	}
}

func TestAReaderThatIsAwayLeavesTheQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t, rounds(scripted.Round{Text: cited}))
	r.documents = &shelfReader{}
	req := query("What does it cost?")
	req.Attachments = []domain.Attachment{attached("bill.pdf", "%PDF-3")}
	turn, events := r.ask(req)
	if turn.Answer != cited {
		t.Errorf("turn = %+v", turn)
	}
	if note := first(t, events, domain.EventAttachmentNote); field(t, note, "problem") != string(domain.DocumentUnread) {
		t.Errorf("people read %s", note.Payload)
	}
}

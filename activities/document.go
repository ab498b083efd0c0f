package activities

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	// documentsLimit bounds how long the documents of a dialogue hold its model call up.
	documentsLimit = 2 * time.Minute
	// firstCall is the id of a turn's first round.
	firstCall = "m0"
)

// Documents reads the text of documents that people attached.
type Documents interface {
	// Read gives a document's text, or what kept it from being read. The error is a fault of
	// ours, or of ctx.
	Read(ctx context.Context, data []byte) (domain.DocumentText, error)
}

// readDocuments reads the documents of a dialogue that nobody has read before: that is kept,
// so that it is done once. It gives what to tell people of those that came with the turn.
func (a *Model) readDocuments(ctx context.Context, d *domain.Dialogue) ([]domain.NewEvent, error) {
	limited, cancel := context.WithTimeout(ctx, documentsLimit)
	defer cancel()
	for _, past := range d.History {
		if err := a.readBlocks(ctx, limited, d.Turn, past.Blocks); err != nil {
			return nil, err
		}
	}
	if err := a.readBlocks(ctx, limited, d.Turn, d.Message.Blocks); err != nil {
		return nil, err
	}
	var notes []domain.NewEvent
	for _, b := range d.Message.Blocks {
		if b.Document != nil && b.Document.Problem != "" {
			notes = append(notes, domain.NewPayload(domain.EventAttachmentNote, map[string]string{
				"name": b.Name, "problem": string(b.Document.Problem), "note": b.Document.Problem.Note(b.Name),
			}))
		}
	}
	return notes, nil
}

func (a *Model) readBlocks(ctx, limited context.Context, turn domain.Turn, blocks []domain.Block) error {
	for i := range blocks {
		b := &blocks[i]
		if b.Type != domain.BlockMedia || b.MimeType != domain.PDFType || b.Document != nil {
			continue
		}
		text, known := a.readDocument(limited, b.Data)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.Document = &text
		if !known {
			continue
		}
		if err := a.Store.KeepDocument(ctx, turn, b.Data, text); err != nil {
			return err
		}
	}
	return nil
}

// readDocument reads one document; known tells that another reading would find the same.
func (a *Model) readDocument(limited context.Context, data []byte) (text domain.DocumentText, known bool) {
	if a.Documents == nil {
		return domain.DocumentText{Problem: domain.DocumentUnread}, false
	}
	text, err := a.Documents.Read(limited, data)
	switch {
	case limited.Err() != nil:
		return domain.DocumentText{Problem: domain.DocumentSlow}, false
	case err != nil: // the question can be answered without it
		zerolog.Ctx(limited).Error().Err(err).Str("event", "document_not_read").Send()
		return domain.DocumentText{Problem: domain.DocumentUnread}, false
	}
	return text, true
}

// tellNotes tells people what models don't get, before the first call is made.
func (a *Model) tellNotes(ctx context.Context, claim domain.CallClaim, notes []domain.NewEvent) (domain.CallClaim, error) {
	if len(notes) == 0 || claim.CallID != firstCall || claim.Attempt > 1 {
		return claim, nil
	}
	last, err := a.Store.WriteModelCall(ctx, domain.CallWrite{Claim: claim, Events: notes})
	if err != nil {
		return claim, again(err)
	}
	claim.LastSeq = last
	return claim, nil
}

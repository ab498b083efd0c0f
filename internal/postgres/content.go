package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// storedBlock is a content block as messages keep it: media stand by reference.
type storedBlock struct {
	domain.Block
	Ref *Ref `json:"ref,omitempty"`
}

// userContent is the content of a person's message. Attachments are queued as values; refs
// names them.
func (s *Store) userContent(steps *pgx.Batch, req domain.TurnRequest) (content []byte, refs []Ref, err error) {
	blocks := []storedBlock{{Block: domain.Block{Type: domain.BlockText, Text: req.Query}}}
	for _, a := range req.Attachments {
		ref, err := s.queuePut(steps, feedOf(req.ProjectID, req.UserID), a.Data)
		if err != nil {
			return nil, nil, err
		}
		refs = append(refs, ref)
		blocks = append(blocks, storedBlock{Block: domain.Block{Type: domain.BlockMedia, Name: clean(a.Name), MimeType: clean(a.MimeType)}, Ref: &ref})
	}
	if content, err = json.Marshal(blocks); err != nil {
		return nil, nil, fmt.Errorf("store a message: %w", err)
	}
	return content, refs, nil
}

// blocks reads content and fetches its media from the owner's values.
func (s *Store) blocks(ctx context.Context, owner string, content []byte) ([]domain.Block, error) {
	var kept []storedBlock
	if err := json.Unmarshal(content, &kept); err != nil {
		return nil, fmt.Errorf("read a message: %w", err)
	}
	blocks := make([]domain.Block, len(kept))
	for i, b := range kept {
		blocks[i] = b.Block
		if b.Ref == nil {
			continue
		}
		data, err := s.value(ctx, owner, *b.Ref)
		if err != nil {
			return nil, fmt.Errorf("read attachment %q: %w", b.Name, err)
		}
		blocks[i].Data = data
		if b.MimeType == domain.PDFType {
			if blocks[i].Document, err = s.document(ctx, owner, b.Ref.SHA256); err != nil {
				return nil, fmt.Errorf("read attachment %q: %w", b.Name, err)
			}
		}
	}
	return blocks, nil
}

// cleanMessage makes a model's message storable.
func cleanMessage(m domain.Message) domain.Message {
	blocks := make([]domain.Block, len(m.Blocks))
	for i, b := range m.Blocks {
		b.Text = clean(b.Text)
		blocks[i] = b
	}
	m.Blocks = blocks
	return m
}

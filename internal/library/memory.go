package library

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/harvest-engine/harvest/internal/domain"
)

// MemoryStore keeps memories.
type MemoryStore interface {
	Memories(ctx context.Context, projectID string) ([]domain.Memory, error)
	Memory(ctx context.Context, projectID, id string) (domain.Memory, error)
	CreateMemory(ctx context.Context, m domain.Memory, by domain.Author) (domain.Memory, error)
	UpdateMemory(ctx context.Context, projectID, id string, change domain.MemoryChange) error
	DeleteMemory(ctx context.Context, projectID, id string) error
	Recall(ctx context.Context, projectID, question string, limit int) ([]domain.Memory, error)
}

// Memories are the notes of projects. Every method gives not_found for one of another project.
type Memories struct{ store MemoryStore }

// NewMemories builds the memories on a store.
func NewMemories(store MemoryStore) *Memories { return &Memories{store} }

const (
	maxRecalled = 5        // notes that a turn is offered
	maxQuestion = 16 << 10 // bytes of a question that notes are found by
)

// List gives a project's memories, the one changed last first, without contents.
func (s *Memories) List(ctx context.Context, projectID string) ([]domain.Memory, error) {
	return s.store.Memories(ctx, projectID)
}

// Get gives a memory with its content.
func (s *Memories) Get(ctx context.Context, projectID, id string) (domain.Memory, error) {
	return s.store.Memory(ctx, projectID, id)
}

// Create keeps a memory. A tool call that is repeated keeps it once; and what a turn remembers
// that is noted already, in other letters or spaces at most, gives the note that is there.
func (s *Memories) Create(ctx context.Context, m domain.Memory, by domain.Author) (domain.Memory, error) {
	if err := fitMemory(&m.Title, &m.Content); err != nil {
		return domain.Memory{}, err
	}
	return s.store.CreateMemory(ctx, m, by)
}

// Update changes title or content; a conflict where it does not build on the newest version.
func (s *Memories) Update(ctx context.Context, projectID, id string, change domain.MemoryChange) error {
	if err := fitMemory(change.Title, change.Content); err != nil {
		return err
	}
	return s.store.UpdateMemory(ctx, projectID, id, change)
}

// fitMemory checks and trims the parts that are given.
func fitMemory(title, content *string) error {
	if title != nil {
		*title = strings.TrimSpace(*title)
		if *title == "" || utf8.RuneCountInString(*title) > domain.MaxMemoryTitle || strings.ContainsAny(*title, "\n\r\x00") || !utf8.ValidString(*title) {
			return domain.Invalid("title", "must be one line of 1 to %d characters", domain.MaxMemoryTitle)
		}
	}
	if content != nil {
		*content = strings.TrimSpace(*content)
		if *content == "" || utf8.RuneCountInString(*content) > domain.MaxMemoryContent || strings.ContainsRune(*content, 0) || !utf8.ValidString(*content) {
			return domain.Invalid("content", "must be a text of 1 to %d characters", domain.MaxMemoryContent)
		}
	}
	return nil
}

// Delete removes a memory.
func (s *Memories) Delete(ctx context.Context, projectID, id string) error {
	return s.store.DeleteMemory(ctx, projectID, id)
}

// Recall gives the few memories of a project that fit a question, the best first; none without
// a project.
func (s *Memories) Recall(ctx context.Context, projectID, question string) ([]domain.Memory, error) {
	if projectID == "" || strings.TrimSpace(question) == "" {
		return nil, nil
	}
	if len(question) > maxQuestion {
		question = strings.ToValidUTF8(question[:maxQuestion], "")
	}
	return s.store.Recall(ctx, projectID, question, maxRecalled)
}

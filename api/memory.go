package api

import (
	"context"
	"net/http"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// memories answers GET /projects/:pid/memories.
func (s *Server) memories(ctx context.Context, r request[none]) ([]domain.Memory, error) {
	return listing(s.Memories.List(ctx, r.project.ID))
}

// memory answers GET /projects/:pid/memories/:mid.
func (s *Server) memory(ctx context.Context, r request[none]) (domain.Memory, error) {
	m, err := s.Memories.Get(ctx, r.project.ID, r.path["mid"])
	tag(r.reply, m.Version)
	return m, err
}

// memoryBody is the body of a new memory.
type memoryBody struct {
	Title   string `json:"title"`
	Content string `json:"content"`
}

// madeMemory is the answer to a new memory.
type madeMemory struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
}

// createMemory answers POST /projects/:pid/memories.
func (s *Server) createMemory(ctx context.Context, r request[memoryBody]) (madeMemory, error) {
	if err := s.scrubNames(ctx, r.project.ID, &r.body.Title, &r.body.Content); err != nil {
		return madeMemory{}, err
	}
	m := domain.Memory{ProjectID: r.project.ID, Title: r.body.Title, Content: r.body.Content}
	made, err := s.Memories.Create(ctx, m, domain.Author{UserID: r.caller.UserID})
	return madeMemory{made.ID, made.Title, made.CreatedAt}, err
}

// memoryChange is the body of a changed memory.
type memoryChange struct {
	Title   *string `json:"title"`
	Content *string `json:"content"`
	Version int     `json:"version"` // that the change builds on; 0 for whichever is the newest
}

func (b *memoryChange) validate() error {
	if b.Title == nil && b.Content == nil {
		return domain.Invalid("", "give a title or a content")
	}
	return nil
}

// updateMemory answers PUT /projects/:pid/memories/:mid.
func (s *Server) updateMemory(ctx context.Context, r request[memoryChange]) (done, error) {
	if err := s.scrubNames(ctx, r.project.ID, r.body.Title, r.body.Content); err != nil {
		return done{}, err
	}
	version, err := builtOn(r.header, r.body.Version)
	if err != nil {
		return done{}, err
	}
	change := domain.MemoryChange{Title: r.body.Title, Content: r.body.Content, Version: version}
	return done{true}, s.Memories.Update(ctx, r.project.ID, r.path["mid"], change)
}

// deleteMemory answers DELETE /projects/:pid/memories/:mid.
func (s *Server) deleteMemory(ctx context.Context, r request[none]) (raw, error) {
	return raw{status: http.StatusNoContent}, s.Memories.Delete(ctx, r.project.ID, r.path["mid"])
}

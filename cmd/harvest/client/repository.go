package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Source is the body of an order to read a repository.
type Source struct {
	Name     string   `json:"name,omitempty"`
	URL      string   `json:"url,omitempty"`
	Refs     []string `json:"refs,omitempty"`
	AllTags  bool     `json:"all_tags,omitempty"`
	Worktree bool     `json:"worktree,omitempty"`
	Watch    string   `json:"watch,omitempty"` // "5m"
}

// Repository is a repository that was read.
type Repository struct {
	Name     string                 `json:"name"`
	URL      string                 `json:"url"`
	Versions []domain.VersionDetail `json:"version_details"`
}

// Repositories lists what was read.
func (c *Client) Repositories(ctx context.Context) ([]Repository, error) {
	var list []Repository
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/repositories"}, &list)
	return list, err
}

// AddRepository saves a repository and starts to read it.
func (c *Client) AddRepository(ctx context.Context, s Source) (domain.Ingest, error) {
	var run domain.Ingest
	err := c.fetch(ctx, call{method: http.MethodPost, path: "/repositories", body: s}, &run)
	return run, err
}

// Ingest reads a run.
func (c *Client) Ingest(ctx context.Context, id string) (domain.Ingest, error) {
	var run domain.Ingest
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/ingests/" + segment(id)}, &run)
	return run, err
}

// FollowIngest gives a run's events, ending after the terminal one.
func (c *Client) FollowIngest(ctx context.Context, id string) iter.Seq2[Event, error] {
	return c.follow(ctx, "/ingests/"+segment(id)+"/events", nil)
}

func segment(name string) string { return url.PathEscape(name) }

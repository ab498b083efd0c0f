package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Source is the body of an order to read a repository.
type Source struct {
	Name     string   `json:"name,omitempty"`
	URL      string   `json:"url,omitempty"`
	Refs     []string `json:"refs,omitempty"`
	AllTags  bool     `json:"all_tags,omitempty"`
	Worktree bool     `json:"worktree,omitempty"`
	Watch    string   `json:"watch,omitempty"`   // "5m", or "off"
	Token    string   `json:"token,omitempty"`   // for https
	SSHKey   string   `json:"ssh_key,omitempty"` // the text of a private key, for ssh
}

// Repository is a repository that was read.
type Repository struct {
	Name     string                 `json:"name"`
	URL      string                 `json:"url"`
	Tags     []string               `json:"versions"`
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

// DeleteRepository removes a repository, with all that was read of it.
func (c *Client) DeleteRepository(ctx context.Context, name string) error {
	return c.change(ctx, http.MethodDelete, "/repositories/"+segment(name), nil)
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

// Picture is a version's graph, as far as the server shows it.
type Picture struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is a symbol of a picture.
type Node struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	File string `json:"file"`
}

// Edge leads from one node to another.
type Edge struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	Relation string `json:"relation"`
}

// Graph gives the picture of a version.
func (c *Client) Graph(ctx context.Context, repository, version string) (Picture, error) {
	var p Picture
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/graph/" + segment(repository) + "/" + segment(version)}, &p)
	return p, err
}

// MostCalled names the symbol that most others call, leaving tests out; "" where nothing is
// called.
func (p Picture) MostCalled() string {
	calls := map[string]int{}
	for _, e := range p.Edges {
		if e.Relation == "calls" && e.Source != e.Target {
			calls[e.Target]++
		}
	}
	most, name := 0, ""
	for _, n := range p.Nodes {
		if calls[n.ID] > most && len(n.Name) > 3 && !strings.Contains(strings.ToLower(n.File), "test") {
			most, name = calls[n.ID], n.Name
		}
	}
	return name
}

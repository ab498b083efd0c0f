package client

import (
	"context"
	"io"
	"net/http"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Projects lists the projects that the caller may see.
func (c *Client) Projects(ctx context.Context) ([]domain.Project, error) {
	var list []domain.Project
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/projects"}, &list)
	return list, err
}

// CreateProject makes a project of a group.
func (c *Client) CreateProject(ctx context.Context, name, description, groupID string) (domain.Project, error) {
	var p domain.Project
	body := map[string]string{"name": name, "description": description, "group_id": groupID}
	err := c.fetch(ctx, call{method: http.MethodPost, path: "/projects", body: body}, &p)
	return p, err
}

// MoveProject gives a project to another group.
func (c *Client) MoveProject(ctx context.Context, id, groupID string) error {
	return c.change(ctx, http.MethodPut, "/projects/"+segment(id)+"/group", map[string]any{"group_id": groupID})
}

// RemovedProject is how much went with a project.
type RemovedProject struct {
	Conversations int `json:"conversations"`
	Messages      int `json:"messages"`
	Turns         int `json:"turns"`
	CanceledTurns int `json:"canceled_turns"`
}

// DeleteProject stops what runs in a project, and removes it with all that it owns.
func (c *Client) DeleteProject(ctx context.Context, id string) (RemovedProject, error) {
	var answer struct {
		Removed RemovedProject `json:"removed"`
	}
	err := c.fetch(ctx, call{method: http.MethodDelete, path: "/projects/" + segment(id)}, &answer)
	return answer.Removed, err
}

// MyGroups lists the groups of the caller, whose projects it may make.
func (c *Client) MyGroups(ctx context.Context) ([]domain.Group, error) {
	var list []domain.Group
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/groups"}, &list)
	return list, err
}

// conversations is where the conversations of a project stand, "" for the caller's own.
func conversations(projectID string) string {
	if projectID == "" {
		return "/conversations"
	}
	return "/projects/" + segment(projectID) + "/conversations"
}

// Conversations lists those of a project, or without one the caller's own.
func (c *Client) Conversations(ctx context.Context, projectID string) ([]domain.Conversation, error) {
	var list []domain.Conversation
	err := c.fetch(ctx, call{method: http.MethodGet, path: conversations(projectID)}, &list)
	return list, err
}

// CreateConversation makes an empty one.
func (c *Client) CreateConversation(ctx context.Context, projectID, title string) (domain.Conversation, error) {
	var made domain.Conversation
	err := c.fetch(ctx, call{method: http.MethodPost, path: conversations(projectID), body: map[string]string{"title": title}}, &made)
	return made, err
}

// ExportConversation writes a conversation as "markdown" or "json" to out.
func (c *Client) ExportConversation(ctx context.Context, projectID, id, format string, out io.Writer) error {
	response, err := c.again(ctx, call{method: http.MethodGet, path: conversations(projectID) + "/" + segment(id) + "/export?format=" + format})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(out, response.Body)
	return err
}

package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"

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
	Agents        int `json:"agents"`
	Commands      int `json:"commands"`
}

// DeleteProject stops what runs in a project, and removes it with all that it owns.
func (c *Client) DeleteProject(ctx context.Context, id string) (RemovedProject, error) {
	var answer struct {
		Removed RemovedProject `json:"removed"`
	}
	err := c.fetch(ctx, call{method: http.MethodDelete, path: "/projects/" + segment(id)}, &answer)
	return answer.Removed, err
}

// MyGroup is a group as its people see it.
type MyGroup struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// MyGroups lists the groups of the caller, whose projects it may make; of admins all.
func (c *Client) MyGroups(ctx context.Context) ([]MyGroup, error) {
	var list []MyGroup
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

// Conversation gives a conversation with its messages, as the API gives it.
func (c *Client) Conversation(ctx context.Context, projectID, id string) (json.RawMessage, error) {
	var whole json.RawMessage
	err := c.fetch(ctx, call{method: http.MethodGet, path: conversations(projectID) + "/" + segment(id)}, &whole)
	return whole, err
}

// Search is what was found in conversations, the best first.
type Search struct {
	Results []domain.Found `json:"results"`
}

// SearchConversations looks for words in the titles and messages of a project's conversations,
// or without one the caller's own.
func (c *Client) SearchConversations(ctx context.Context, projectID, words string, limit int) (Search, error) {
	var found Search
	query := url.Values{"q": {words}, "limit": {strconv.Itoa(limit)}}
	err := c.fetch(ctx, call{method: http.MethodGet, path: conversations(projectID) + "/search?" + query.Encode()}, &found)
	return found, err
}

// Usage sums up what a project's turns took, from one day (2026-11-30, UTC) to another, both
// included; "" leaves the server's choice.
func (c *Client) Usage(ctx context.Context, projectID, from, to string) (domain.ProjectUsage, error) {
	var sums domain.ProjectUsage
	query := url.Values{}
	for name, day := range map[string]string{"from": from, "to": to} {
		if day != "" {
			query.Set(name, day)
		}
	}
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/projects/" + segment(projectID) + "/usage?" + query.Encode()}, &sums)
	return sums, err
}

// Settings is what a project has settled about what asks for approval.
type Settings struct {
	Approvers       domain.Approvers `json:"approvers"`
	ConfirmExpiry   int              `json:"confirm_expiry_seconds"`
	AskingTools     []string         `json:"asking_tools"`     // ask always
	CommandPolicy   string           `json:"command_policy"`   // which commands of models ask: always, changes or allow_list
	AllowedCommands []string         `json:"allowed_commands"` // of allow_list: run at once
}

// Settings reads those of a project.
func (c *Client) Settings(ctx context.Context, projectID string) (Settings, error) {
	var s Settings
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/projects/" + segment(projectID) + "/settings"}, &s)
	return s, err
}

// ChangeSettings replaces those of a project; for admins.
func (c *Client) ChangeSettings(ctx context.Context, projectID string, s Settings) error {
	return c.change(ctx, http.MethodPut, "/projects/"+segment(projectID)+"/settings", s)
}

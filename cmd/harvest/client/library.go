package client

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Item is where something of the library stands in the API: a skill, an artifact or a memory.
type Item struct{ read, write string }

// SkillItem is a skill of a project, or without one a skill of all.
func SkillItem(projectID, id string) Item {
	if projectID == "" {
		return Item{"/skills/" + segment(id), "/admin/skills/" + segment(id)}
	}
	path := "/projects/" + segment(projectID) + "/skills/" + segment(id)
	return Item{path, path}
}

// ArtifactItem is an artifact.
func ArtifactItem(id string) Item {
	return Item{"/artifacts/" + segment(id), "/artifacts/" + segment(id)}
}

// MemoryItem is a memory of a project.
func MemoryItem(projectID, id string) Item {
	path := "/projects/" + segment(projectID) + "/memories/" + segment(id)
	return Item{path, path}
}

// Skills lists the skills of a project, with all those too that everybody has; without a
// project those alone.
func (c *Client) Skills(ctx context.Context, projectID string, all bool) ([]domain.Skill, error) {
	path := "/skills"
	if projectID != "" {
		path = "/projects/" + segment(projectID) + "/skills"
	}
	if all {
		path += "?scope=all"
	}
	var list []domain.Skill
	err := c.fetch(ctx, call{method: http.MethodGet, path: path}, &list)
	return list, err
}

// Artifacts lists the artifacts of a project, without contents.
func (c *Client) Artifacts(ctx context.Context, projectID string) ([]domain.Artifact, error) {
	var list []domain.Artifact
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/projects/" + segment(projectID) + "/artifacts"}, &list)
	return list, err
}

// Memories lists the memories of a project, without contents.
func (c *Client) Memories(ctx context.Context, projectID string) ([]domain.Memory, error) {
	var list []domain.Memory
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/projects/" + segment(projectID) + "/memories"}, &list)
	return list, err
}

// Made is what was added to a library.
type Made struct {
	ID string `json:"id"`
}

// AddSkill makes a skill of a project, or without one of all (for admins). Name and
// description may be left out where the content's front matter says them.
func (c *Client) AddSkill(ctx context.Context, projectID, name, description, content string) (Made, error) {
	path := "/admin/skills"
	if projectID != "" {
		path = "/projects/" + segment(projectID) + "/skills"
	}
	return c.add(ctx, path, map[string]string{"name": name, "description": description, "content": content})
}

// AddArtifact makes an artifact.
func (c *Client) AddArtifact(ctx context.Context, projectID, title string, kind domain.ArtifactKind, content string) (Made, error) {
	return c.add(ctx, "/projects/"+segment(projectID)+"/artifacts", map[string]string{"title": title, "kind": string(kind), "content": content})
}

// AddMemory makes a memory.
func (c *Client) AddMemory(ctx context.Context, projectID, title, content string) (Made, error) {
	return c.add(ctx, "/projects/"+segment(projectID)+"/memories", map[string]string{"title": title, "content": content})
}

// add is made once: what was added though its answer was lost is in the list.
func (c *Client) add(ctx context.Context, path string, body map[string]string) (made Made, err error) {
	err = c.once(ctx, call{method: http.MethodPost, path: path, body: body}, &made)
	return made, err
}

// Item reads something of the library, with its content, into out.
func (c *Client) Item(ctx context.Context, item Item, out any) error {
	return c.fetch(ctx, call{method: http.MethodGet, path: item.read}, out)
}

// ChangeItem changes what body gives.
func (c *Client) ChangeItem(ctx context.Context, item Item, body map[string]any) error {
	return c.change(ctx, http.MethodPut, item.write, body)
}

// RemoveItem removes it with all its versions.
func (c *Client) RemoveItem(ctx context.Context, item Item) error {
	return c.change(ctx, http.MethodDelete, item.write, nil)
}

// Revisions lists the versions of a skill or an artifact, without contents.
func (c *Client) Revisions(ctx context.Context, item Item) ([]domain.Revision, error) {
	var list []domain.Revision
	err := c.fetch(ctx, call{method: http.MethodGet, path: item.read + "/versions"}, &list)
	return list, err
}

// Revision reads a version.
func (c *Client) Revision(ctx context.Context, item Item, version int) (domain.Revision, error) {
	var r domain.Revision
	err := c.fetch(ctx, call{method: http.MethodGet, path: item.read + "/versions/" + strconv.Itoa(version)}, &r)
	return r, err
}

// Differences compares two versions.
func (c *Client) Differences(ctx context.Context, item Item, from, to int) (domain.Difference, error) {
	var d domain.Difference
	query := url.Values{"from": {strconv.Itoa(from)}, "to": {strconv.Itoa(to)}}
	err := c.fetch(ctx, call{method: http.MethodGet, path: item.read + "/diff?" + query.Encode()}, &d)
	return d, err
}

// RestoreItem makes a new version that repeats an earlier one.
func (c *Client) RestoreItem(ctx context.Context, item Item, version int) error {
	return c.change(ctx, http.MethodPost, item.write+"/versions/"+strconv.Itoa(version)+"/restore", nil)
}

// DownloadArtifact opens a version of an artifact as a file, 0 for the newest, and gives the
// name that the server gives the file. While a PDF is being rendered it is asked for again.
func (c *Client) DownloadArtifact(ctx context.Context, id string, version int) (name string, body io.ReadCloser, err error) {
	path := ArtifactItem(id).read + "/download"
	if version > 0 {
		path += "?version=" + strconv.Itoa(version)
	}
	response, err := c.again(ctx, call{method: http.MethodGet, path: path})
	if err != nil {
		return "", nil, err
	}
	_, fields, _ := mime.ParseMediaType(response.Header.Get("Content-Disposition")) // without a name it has none
	return fields["filename"], response.Body, nil
}

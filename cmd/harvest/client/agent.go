package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Agent is a machine of a project, by the daemon that runs on it.
type Agent struct {
	domain.AgentInfo
	// ProjectID and ProjectName say whose it is; Agents fills them in, of a single project.
	ProjectID   string `json:"project_id"`
	ProjectName string `json:"project_name"`
}

// agentPath is where a machine stands, and what is under it.
func agentPath(a Agent, under ...string) string {
	path := agentsPath(a.ProjectID) + "/" + segment(a.ID)
	for _, part := range under {
		path += "/" + segment(part)
	}
	return path
}

func agentsPath(projectID string) string { return "/projects/" + segment(projectID) + "/agents" }

// Agents lists the machines of a project, in the order in which they joined.
func (c *Client) Agents(ctx context.Context, project domain.Project) ([]Agent, error) {
	list := []Agent{}
	err := c.fetch(ctx, call{method: http.MethodGet, path: agentsPath(project.ID)}, &list)
	for i := range list {
		list[i].ProjectID, list[i].ProjectName = project.ID, project.Name
	}
	return list, err
}

// AllAgents lists the machines of all projects that the caller may see.
func (c *Client) AllAgents(ctx context.Context) ([]Agent, error) {
	list := []Agent{}
	err := c.fetch(ctx, call{method: http.MethodGet, path: "/agents"}, &list)
	return list, err
}

// DeleteAgent removes a machine, and its container where it has one.
func (c *Client) DeleteAgent(ctx context.Context, a Agent) error {
	return c.change(ctx, http.MethodDelete, agentPath(a), nil)
}

// ChangeContainer has the container of a machine "start", "stop" or "restart".
func (c *Client) ChangeContainer(ctx context.Context, a Agent, verb string) error {
	return c.change(ctx, http.MethodPost, agentPath(a, verb), nil)
}

// InstallCommand makes a token by which machines join a project, and gives the command that
// carries it. With rotate all earlier tokens end. The call is made once: each makes a token. 0
// leaves the server's choice.
func (c *Client) InstallCommand(ctx context.Context, projectID string, rotate bool, life time.Duration, uses int) (domain.InstallCommand, error) {
	var made domain.InstallCommand
	numbers := map[string]int{}
	for name, n := range map[string]int{"expires_in_secs": int(life.Seconds()), "uses": uses} {
		if n > 0 {
			numbers[name] = n
		}
	}
	if rotate {
		err := c.once(ctx, call{method: http.MethodPost, path: agentsPath(projectID) + "/rotate-install-token", body: numbers}, &made)
		return made, err
	}
	query := url.Values{}
	for name, n := range numbers {
		query.Set(name, strconv.Itoa(n))
	}
	err := c.once(ctx, call{method: http.MethodGet, path: agentsPath(projectID) + "/install-command?" + query.Encode()}, &made)
	return made, err
}

// Flavors lists the sizes of containers, the smallest first. A server that makes none says so.
func (c *Client) Flavors(ctx context.Context, projectID string) ([]domain.Flavor, error) {
	var list []domain.Flavor
	err := c.once(ctx, call{method: http.MethodGet, path: agentsPath(projectID) + "/flavors"}, &list)
	return list, err
}

// Container is the body of an order for a machine in a container.
type Container struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Flavor      string `json:"flavor"`
}

// CreateContainer orders a machine in a container, and gives where its making is followed. key is
// the idempotency key. A server that makes no containers is not asked again.
func (c *Client) CreateContainer(ctx context.Context, projectID string, order Container, key string) (at string, err error) {
	response, err := c.do(ctx, call{
		method: http.MethodPost, path: agentsPath(projectID) + "/lxd", body: order,
		header: map[string]string{"Idempotency-Key": key, "Accept": "text/event-stream"},
	})
	if err != nil {
		return "", err
	}
	return response.Header.Get("Location"), response.Body.Close()
}

// FollowContainer gives the events of a container's making, up to done, error or canceled.
func (c *Client) FollowContainer(ctx context.Context, at string) iter.Seq2[Event, error] {
	return c.follow(ctx, at+"/events", nil)
}

// CancelContainer asks for the end of a container's making, and the removal of what was made.
func (c *Client) CancelContainer(ctx context.Context, at string) error {
	return c.change(ctx, http.MethodPost, at+"/cancel", nil)
}

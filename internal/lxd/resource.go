package lxd

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/harvest-engine/harvest/internal/domain"
)

var whole = url.Values{"recursion": {"1"}}

// get reads one thing.
func get[T any](ctx context.Context, c *Client, doing string, query url.Values, path ...string) (out T, err error) {
	_, err = c.do(ctx, call{doing: doing, method: http.MethodGet, path: path, query: query, out: &out})
	return out, err
}

// GetServer implements InstanceServer.
func (c *Client) GetServer(ctx context.Context) (Server, error) {
	return get[Server](ctx, c, "say who it is", nil)
}

// CreateCertificate implements InstanceServer.
func (c *Client) CreateCertificate(ctx context.Context, name, token string) error {
	_, err := c.do(ctx, call{
		doing: "take Harvest's certificate", method: http.MethodPost, path: []string{"certificates"},
		body: map[string]string{"type": "client", "name": name, "password": token},
	})
	return err
}

// GetProject implements InstanceServer.
func (c *Client) GetProject(ctx context.Context, name string) (Project, error) {
	return get[Project](ctx, c, "find its project "+name, nil, "projects", name)
}

// CreateProject implements InstanceServer.
func (c *Client) CreateProject(ctx context.Context, p Project) error {
	_, err := c.do(ctx, call{doing: "make its project " + p.Name, method: http.MethodPost, path: []string{"projects"}, body: p})
	return err
}

// GetProfile implements InstanceServer.
func (c *Client) GetProfile(ctx context.Context, name string) (Profile, error) {
	return get[Profile](ctx, c, "find its profile "+name, nil, "profiles", name)
}

// GetImageAlias implements InstanceServer.
func (c *Client) GetImageAlias(ctx context.Context, name string) (ImageAlias, error) {
	return get[ImageAlias](ctx, c, "find its image "+name, nil, "images", "aliases", name)
}

// GetClusterMembers implements InstanceServer.
func (c *Client) GetClusterMembers(ctx context.Context) ([]ClusterMember, error) {
	return get[[]ClusterMember](ctx, c, "list the members of its cluster", whole, "cluster", "members")
}

// UseTarget implements InstanceServer.
func (c *Client) UseTarget(member string) InstanceServer {
	there := *c
	there.target = member
	return &there
}

// GetNetworks implements InstanceServer.
func (c *Client) GetNetworks(ctx context.Context) ([]Network, error) {
	return get[[]Network](ctx, c, "list its networks", whole, "networks")
}

// GetNetwork implements InstanceServer.
func (c *Client) GetNetwork(ctx context.Context, name string) (Network, error) {
	return get[Network](ctx, c, "find its network "+name, nil, "networks", name)
}

// CreateNetwork implements InstanceServer.
func (c *Client) CreateNetwork(ctx context.Context, n Network) error {
	_, err := c.do(ctx, call{doing: "make the network " + n.Name, method: http.MethodPost, path: []string{"networks"}, body: n})
	return err
}

// DeleteNetwork implements InstanceServer.
func (c *Client) DeleteNetwork(ctx context.Context, name string) error {
	_, err := c.do(ctx, call{doing: "remove the network " + name, method: http.MethodDelete, path: []string{"networks", name}})
	return err
}

// GetInstances implements InstanceServer.
func (c *Client) GetInstances(ctx context.Context) ([]Instance, error) {
	return get[[]Instance](ctx, c, "list its instances", whole, "instances")
}

// GetInstance implements InstanceServer.
func (c *Client) GetInstance(ctx context.Context, name string) (Instance, error) {
	return get[Instance](ctx, c, "find the container "+name, nil, "instances", name)
}

// GetInstanceState implements InstanceServer.
func (c *Client) GetInstanceState(ctx context.Context, name string) (InstanceState, error) {
	return get[InstanceState](ctx, c, "look at the container "+name, nil, "instances", name, "state")
}

// CreateInstance implements InstanceServer.
func (c *Client) CreateInstance(ctx context.Context, n NewInstance) (Operation, error) {
	doing := "create the container " + n.Name
	if n.Source.Server != "" { // LXD's own words name neither
		doing += " of the image " + n.Source.Alias + " of " + n.Source.Server
	}
	return started(c.begin(ctx, call{doing: doing, method: http.MethodPost, path: []string{"instances"}, body: n}))
}

// UpdateInstanceState implements InstanceServer.
func (c *Client) UpdateInstanceState(ctx context.Context, name string, change StateChange) (Operation, error) {
	return started(c.begin(ctx, call{doing: change.Action + " the container " + name, method: http.MethodPut, path: []string{"instances", name, "state"}, body: change}))
}

// DeleteInstance implements InstanceServer.
func (c *Client) DeleteInstance(ctx context.Context, name string) (Operation, error) {
	return started(c.begin(ctx, call{doing: "delete the container " + name, method: http.MethodDelete, path: []string{"instances", name}}))
}

// started gives what a call began as an Operation.
func started(o *operation, _ OperationInfo, err error) (Operation, error) {
	if err != nil {
		return nil, err
	}
	return o, nil
}

// failedExec tells that a script ended with another code than 0.
func failedExec(what string, code int, said string) error {
	text := what + " ended with exit code " + strconv.Itoa(code)
	if said != "" {
		text += ": " + said
	}
	return domain.Errorf(domain.CodeUpstream, "%s", text)
}

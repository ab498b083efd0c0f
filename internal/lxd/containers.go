package lxd

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The keys by which what Harvest makes is known on a server.
const (
	keyInstallation = "user.harvest.installation"
	keyProject      = "user.harvest.project"
	keyProvision    = "user.harvest.provision"
)

// Image says what containers are made of.
type Image struct {
	Alias   string
	Server  string            // of simplestreams; "": a local image
	Profile string            // of LXD, that gives storage
	Network map[string]string // options of the networks that are made; see DefaultNetwork
}

// DefaultNetwork are the options of a project's network where the configuration has none: a
// bridge with addresses that LXD chooses, behind address translation.
func DefaultNetwork() map[string]string {
	return map[string]string{"ipv4.address": "auto", "ipv4.nat": "true", "ipv6.address": "none"}
}

// Containers does on the configured server what agents in containers need. What it makes
// bears the id of this installation, and it touches nothing else. All of it may be repeated.
type Containers struct {
	door     *Door
	image    Image
	patience time.Duration // for a container that runs to get an address
}

// NewContainers works on the server behind a door.
func NewContainers(door *Door, image Image) *Containers {
	if len(image.Network) == 0 {
		image.Network = DefaultNetwork()
	}
	return &Containers{door, image, addressPatience}
}

// Ready gives what keeps containers from being made; nil for nothing.
func (c *Containers) Ready() error {
	_, err := c.door.Server()
	return err
}

// Reach does the same after a look at once, for which it waits some seconds, where the server was
// away.
func (c *Containers) Reach(ctx context.Context) error { return c.door.Reach(ctx) }

// Join joins the server by a fresh trust token; see Door.Join.
func (c *Containers) Join(ctx context.Context, token string) error { return c.door.Join(ctx, token) }

// Create makes a container. One of that name that an earlier attempt began is removed first, as it
// may be half of one; superseded where it runs: a later attempt has gone on with it. It tells how
// far the image has come.
func (c *Containers) Create(ctx context.Context, order domain.ContainerOrder, tell func(how string)) error {
	server, err := c.door.Server()
	if err != nil {
		return err
	}
	if err := c.checkParts(ctx, server); err != nil {
		return err
	}
	if err := c.removeUnused(ctx, server, order.Name); err != nil {
		return err
	}
	op, err := server.CreateInstance(ctx, c.newInstance(order))
	if err != nil {
		return err
	}
	op.AddHandler(func(info OperationInfo) {
		if how := info.Metadata.Download; how != "" && !info.over() {
			tell("fetching the image: " + how)
		}
	})
	_, err = op.Wait(ctx)
	return err
}

// checkParts looks for what a container is made of, where LXD's own words would be hard to
// understand.
func (c *Containers) checkParts(ctx context.Context, server InstanceServer) error {
	profile, err := server.GetProfile(ctx, c.image.Profile)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return domain.Wrap(domain.CodeUpstream, err, "LXD has no profile %q; make it, or name another one as [lxd] profile", c.image.Profile)
	}
	if err != nil {
		return err
	}
	root := slices.ContainsFunc(slices.Collect(maps.Values(profile.Devices)), func(d map[string]string) bool {
		return d["type"] == "disk" && d["path"] == "/"
	})
	if !root {
		return domain.Errorf(domain.CodeUpstream, "the LXD profile %q has no root disk: add one with \"lxc profile device add %s root disk path=/ pool=POOL\", or name another one as [lxd] profile", c.image.Profile, c.image.Profile)
	}
	if c.image.Server != "" {
		return nil
	}
	_, err = server.GetImageAlias(ctx, c.image.Alias)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return domain.Wrap(domain.CodeUpstream, err, "LXD has no local image with the alias %q; import one, or give [lxd] image_server", c.image.Alias)
	}
	return err
}

func (c *Containers) newInstance(order domain.ContainerOrder) NewInstance {
	n := NewInstance{
		Name: order.Name, Type: "container", Description: "An agent of Harvest", Profiles: []string{c.image.Profile},
		Config: map[string]string{
			keyInstallation: c.door.Installation(), keyProject: order.ProjectID, keyProvision: order.Provision,
			"limits.cpu": strconv.Itoa(order.Flavor.CPU), "limits.memory": strconv.Itoa(order.Flavor.MemoryMiB) + "MiB",
		},
		Devices: map[string]map[string]string{
			"eth0": {"type": "nic", "name": "eth0", "network": NetworkName(order.ProjectID)},
		},
		Source: Source{Type: "image", Alias: c.image.Alias},
	}
	if c.image.Server != "" {
		n.Source.Server, n.Source.Protocol, n.Source.Mode = c.image.Server, "simplestreams", "pull"
	}
	return n
}

// find gives a container of ours; not_found where there is none, and upstream where one of
// that name is somebody else's.
func (c *Containers) find(ctx context.Context, server InstanceServer, name string) (Instance, error) {
	found, err := server.GetInstance(ctx, name)
	if err == nil && found.Config[keyInstallation] != c.door.Installation() {
		return found, domain.Errorf(domain.CodeUpstream, "LXD has a container %s that this Harvest did not make; it is left alone", name)
	}
	return found, err
}

// List gives the containers that this installation made.
func (c *Containers) List(ctx context.Context) ([]domain.Container, error) {
	server, err := c.door.Server()
	if err != nil {
		return nil, err
	}
	all, err := server.GetInstances(ctx)
	if err != nil {
		return nil, err
	}
	var ours []domain.Container
	for _, i := range all {
		if i.Config[keyInstallation] == c.door.Installation() {
			ours = append(ours, domain.Container{Name: i.Name, ProjectID: i.Config[keyProject], Provision: i.Config[keyProvision], CreatedAt: i.CreatedAt})
		}
	}
	return ours, nil
}

package lxd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	networkPrefix  = "hv"
	networkHash    = 12 // characters; with the prefix fewer than the 15 that a kernel allows
	networkCreated = "Created"

	networkDescription = "Agents of a project of Harvest"
)

// NetworkName names the network of a project.
func NetworkName(projectID string) string {
	sum := sha256.Sum256([]byte(projectID))
	return networkPrefix + hex.EncodeToString(sum[:])[:networkHash]
}

// EnsureNetwork makes the network of a project where it is missing.
func (c *Containers) EnsureNetwork(ctx context.Context, projectID string) error {
	server, err := c.door.Server()
	if err != nil {
		return err
	}
	name := NetworkName(projectID)
	found, err := server.GetNetwork(ctx, name)
	if domain.CodeOf(err) == domain.CodeNotFound || err == nil && found.unfinished() {
		made := c.makeNetwork(ctx, server, found, projectID)
		if made == nil {
			return nil
		}
		if found, err = server.GetNetwork(ctx, name); err != nil || found.unfinished() { // else another one was faster
			return made
		}
	}
	if err != nil {
		return err
	}
	return c.owns(found, projectID)
}

// unfinished reports whether the network was begun on a cluster, and never made.
func (n Network) unfinished() bool { return n.Status != "" && n.Status != networkCreated }

// owns refuses a network that is not the one that this installation made for the project.
func (c *Containers) owns(n Network, projectID string) error {
	if n.Config[keyProject] == projectID && n.Config[keyInstallation] == c.door.Installation() {
		return nil
	}
	return domain.Errorf(domain.CodeUpstream, "LXD has a network %s that this Harvest did not make; rename or remove it", n.Name)
}

// makeNetwork makes the network of a project, or goes on with one that was begun.
func (c *Containers) makeNetwork(ctx context.Context, server InstanceServer, begun Network, projectID string) error {
	n := Network{Name: NetworkName(projectID), Type: "bridge", Description: networkDescription}
	members, err := clusterMembers(ctx, server)
	if err != nil {
		return err
	}
	if len(begun.Config) > 0 { // a cluster that could not make it has kept its options, and takes none again
		if err := c.owns(begun, projectID); err != nil {
			return err
		}
		return server.CreateNetwork(ctx, n)
	}
	if err := announce(ctx, server, members, n); err != nil {
		return err
	}
	all, err := server.GetNetworks(ctx)
	if err != nil {
		return err
	}
	n.Config = maps.Clone(c.image.Network)
	if wanted, ok := n.Config[keyIPv4]; ok {
		n.Config[keyIPv4] = freeAddress(wanted, all)
	}
	n.Config[keyInstallation], n.Config[keyProject] = c.door.Installation(), projectID
	return server.CreateNetwork(ctx, n)
}

// clusterMembers gives the members of the cluster, if the server is one: all of them, or an error
// that says which is away. A cluster makes no network without it.
func clusterMembers(ctx context.Context, server InstanceServer) ([]ClusterMember, error) {
	who, err := server.GetServer(ctx)
	if err != nil || !who.Environment.Clustered {
		return nil, err
	}
	members, err := server.GetClusterMembers(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Status == MemberOffline {
			return nil, domain.Errorf(domain.CodeUnavailable,
				"the member %s of the LXD cluster is offline, and a cluster makes networks only with all of its members; start it, or remove it from the cluster", m.Name)
		}
	}
	return members, nil
}

// announce tells each member of a cluster of a network to come, without which a cluster makes none.
func announce(ctx context.Context, server InstanceServer, members []ClusterMember, n Network) error {
	for _, m := range members {
		err := server.UseTarget(m.Name).CreateNetwork(ctx, n)
		if err != nil && !strings.Contains(err.Error(), "already defined on") { // by an attempt before
			return err
		}
	}
	return nil
}

// Networks gives the networks that this installation made.
func (c *Containers) Networks(ctx context.Context) ([]domain.ContainerNetwork, error) {
	server, err := c.door.Server()
	if err != nil {
		return nil, err
	}
	all, err := server.GetNetworks(ctx)
	if err != nil {
		return nil, err
	}
	var ours []domain.ContainerNetwork
	for _, n := range all {
		if n.Config[keyInstallation] == c.door.Installation() {
			ours = append(ours, domain.ContainerNetwork{Name: n.Name, ProjectID: n.Config[keyProject], InUse: len(n.UsedBy) > 0})
		}
	}
	return ours, nil
}

// RemoveNetwork removes a network that this installation made; LXD refuses while it is used.
func (c *Containers) RemoveNetwork(ctx context.Context, name string) error {
	server, err := c.door.Server()
	if err != nil {
		return err
	}
	found, err := server.GetNetwork(ctx, name)
	if err == nil && found.Config[keyInstallation] != c.door.Installation() {
		return domain.Errorf(domain.CodeUpstream, "LXD has a network %s that this Harvest did not make; it is left alone", name)
	}
	if err == nil {
		err = server.DeleteNetwork(ctx, name)
	}
	if domain.CodeOf(err) == domain.CodeNotFound || statusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}

package main

import (
	"context"

	"github.com/harvest-engine/harvest/activities"
	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/engine"
	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/tools"
)

// openDoor makes the way to the LXD server of the configuration, if it has one.
func (a *assembly) openDoor() {
	if a.cfg.LXD == nil {
		return
	}
	a.containers = a.newContainers(a.store)
}

// newContainers makes the way to the LXD server of the configuration, which has one.
func (a *assembly) newContainers(store lxd.Store) *lxd.Containers {
	c := a.cfg.LXD
	a.lxd = lxd.NewDoor(lxd.Config{
		Endpoint: c.Endpoint, TrustToken: c.TrustToken.Reveal(), ClientCert: c.ClientCert, ClientKey: c.ClientKey.Reveal(),
		CACert: c.CACert, Insecure: c.Insecure, Project: c.Project, Store: store, Log: a.log,
	})
	return lxd.NewContainers(a.lxd, lxd.Image{Alias: c.ImageAlias, Server: c.ImageServer, Profile: c.Profile, Network: c.Network})
}

// engineContainers is the engine's part of the LXD server; nil for none.
func (a *assembly) engineContainers() engine.Containers {
	if a.containers == nil {
		return nil
	}
	return a.containers
}

// installs gives what keeps machines from being installed from here.
func (a *assembly) installs() func() error {
	if a.cfg.Agents == nil {
		return agenthub.Installs("", "")
	}
	return agenthub.Installs(a.cfg.Agents.PublicURL, a.cfg.Agents.BinaryPath)
}

// provisioning are the activities that make agents in containers.
func (a *assembly) provisioning() *activities.Provision {
	p := &activities.Provision{Store: a.store, Secrets: a.secrets, Installer: installer{a.newHub("")}}
	if a.containers != nil {
		p.Containers = a.containers
	}
	return p
}

// installer gives the very script that machines are installed by.
type installer struct{ hub *agenthub.Hub }

// InstallScript implements activities.Installer.
func (i installer) InstallScript(_ context.Context, projectID string) (script, tokenVariable string, err error) {
	text, err := i.hub.Script(projectID)
	return string(text), agenthub.TokenVariable, err
}

// machineKit is what the tools about machines work with. The engine is not there yet when they
// are made.
type machineKit struct{ a *assembly }

func (k machineKit) Agent(ctx context.Context, projectID, id string) (domain.Agent, error) {
	return k.a.store.Agent(ctx, projectID, id)
}

func (k machineKit) StartProvision(ctx context.Context, order domain.ProvisionOrder) (domain.Provision, error) {
	return k.a.engine.StartProvision(ctx, order)
}

func (k machineKit) AwaitProvision(ctx context.Context, projectID, id string) (domain.Provision, error) {
	return k.a.engine.AwaitProvision(ctx, projectID, id)
}

func (k machineKit) RemoveAgent(ctx context.Context, projectID, agentID string) error {
	return k.a.engine.RemoveAgent(ctx, projectID, agentID)
}

// lxdCheck tells whether the LXD server can be used. The server is ready without.
func (a *assembly) lxdCheck() api.Check {
	return api.Check{Name: "lxd", Beside: true, Test: a.lxd.Check}
}

// containerTools are the tools by which models make and remove machines.
func (a *assembly) containerTools() []tools.Tool {
	return tools.ContainerTools(machineKit{a})
}

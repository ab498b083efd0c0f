package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/lxd"
	"github.com/harvest-engine/harvest/internal/postgres"
)

// examineMachines looks at what agents are installed by, and at the server of their containers.
// Harvest works without both.
func examineMachines(ctx context.Context, cfg *config.Config) []finding {
	if cfg.Agents == nil && cfg.LXD == nil {
		return nil
	}
	a := &assembly{cfg: cfg, log: zerolog.Nop()}
	f := finding{name: "agents"}
	if err := a.installs()(); err != nil {
		f.detail, f.remedy = "no machine can be installed", domain.PublicMessage(err)
	} else {
		f.detail = "machines find this server at " + cfg.Agents.PublicURL
	}
	found := []finding{f}
	if cfg.LXD != nil {
		found = append(found, examineLXD(ctx, a))
	}
	return found
}

// onlooker is a store in which an identity that is missing is not made.
type onlooker struct{ *postgres.Store }

var errNoIdentity = errors.New("there is no identity yet")

// LXDIdentity implements lxd.Store.
func (o onlooker) LXDIdentity(ctx context.Context, passing func() (domain.LXDIdentity, error)) (domain.LXDIdentity, error) {
	found, err := o.Store.LXDIdentity(ctx, func() (domain.LXDIdentity, error) { return domain.LXDIdentity{}, errNoIdentity })
	if errors.Is(err, errNoIdentity) {
		return passing() // it is shown to the server, and forgotten
	}
	return found, err
}

func examineLXD(ctx context.Context, a *assembly) finding {
	f := finding{name: "lxd", detail: a.cfg.LXD.Endpoint}
	on := knownServers(a.cfg)
	if on.dsn == "" || !haveKeys(a.cfg) {
		f.remedy = "it is looked at once Harvest has started: the identity for it is kept in the database, sealed"
		return f
	}
	pool, err := postgres.Open(ctx, on.dsn)
	if err != nil {
		f.remedy = "it is looked at once the database answers; see the line on postgres"
		return f
	}
	defer pool.Close()
	keys, err := keyring(a.cfg)
	if err != nil {
		f.remedy = "see the line on encryption: the identity for LXD is sealed with these keys"
		return f
	}
	seal, err := newSealer(keys)
	if err != nil {
		f.remedy = err.Error()
		return f
	}
	version, err := a.newContainers(onlooker{postgres.NewStore(pool, postgres.WithSealer(seal))}).Examine(ctx)
	if version != "" {
		f.detail = fmt.Sprintf("LXD %s at %s", version, a.cfg.LXD.Endpoint)
	}
	if domain.CodeOf(err) == domain.CodeInternal {
		f.remedy = "it is looked at once Harvest has started on this database: " + err.Error()
		return f
	}
	if err != nil {
		f.remedy = lxd.Told(err)
		return f
	}
	f.detail += fmt.Sprintf(", containers of the image %s in its project %s", a.cfg.LXD.ImageAlias, a.cfg.LXD.Project)
	return f
}

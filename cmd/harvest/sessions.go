package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/harvest-engine/harvest/internal/agenthub"
	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/peers"
	"github.com/harvest-engine/harvest/internal/postgres"
)

// listenToPeers takes the address at which the other processes reach this one. A Harvest that
// is one process has it on loopback, unless the configuration says where.
func (a *assembly) listenToPeers() (*peers.Listener, error) {
	address := a.cfg.Server.PeerAddress
	if address == "" && a.combined {
		address = peers.Loopback
	}
	at := a.pool.Config().ConnConfig
	return peers.Listen(address, net.JoinHostPort(at.Host, fmt.Sprint(at.Port)))
}

// newSessions builds what carries consoles and tunnels to the agents that a hub has, or that
// of another process.
func (a *assembly) newSessions(processID string, hub *agenthub.Hub) *peers.Sessions {
	limits := peers.Limits{ConsoleIdle: config.DefaultConsoleIdle, ConsoleMax: config.DefaultConsoleMax}
	if agents := a.cfg.Agents; agents != nil {
		limits.ConsoleIdle, limits.ConsoleMax = agents.ConsoleIdle, agents.ConsoleMax
	}
	return peers.New(peers.Config{ProcessID: processID, Store: a.store, Local: hub, Log: a.log, Limits: limits})
}

// publicURL is where people reach the server, as far as the configuration says.
func (a *assembly) publicURL() string {
	if a.cfg.Agents == nil {
		return ""
	}
	return a.cfg.Agents.PublicURL
}

// forwardHost is the name under which port forwards have host names of their own.
func (a *assembly) forwardHost() string {
	if a.cfg.Agents == nil {
		return ""
	}
	return a.cfg.Agents.ForwardHost
}

// sweepSessions notes the end of consoles whose process died with them, until ctx ends.
func (a *assembly) sweepSessions(ctx context.Context) {
	tick := time.NewTicker(postgres.ProcessLife)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		lost, err := a.store.DropLostSessions(ctx)
		if err != nil && ctx.Err() == nil {
			a.log.Warn().Err(err).Msg("sessions_unswept") // the next tick tries again
		}
		for _, session := range lost {
			if session.Kind == domain.ConsoleSession {
				a.noteLost(ctx, session)
			}
		}
	}
}

func (a *assembly) noteLost(ctx context.Context, s domain.AgentSession) {
	err := a.store.Audit(ctx, domain.AuditEntry{
		UserID: s.UserID, UserName: s.UserName, Method: http.MethodGet, Route: "/projects/:pid/agents/:aid/console",
		Path:      "/projects/" + url.PathEscape(s.ProjectID) + "/agents/" + url.PathEscape(s.AgentID) + "/console",
		ProjectID: s.ProjectID, Outcome: domain.OutcomeFailed, Status: http.StatusSwitchingProtocols, Address: s.Address,
		Detail: "the console that was opened at " + s.CreatedAt.Format(time.RFC3339) + " ended with the process that had it",
	})
	if err != nil {
		a.log.Error().Err(err).Str("user", s.UserID).Msg("audit_entry_lost")
	}
}

package api

import (
	"net/http"

	"github.com/harvest-engine/harvest/internal/domain"
)

// sessionRoutes are those of consoles, tunnels and what is forwarded to machines. Under /agents
// gin wants one name for the first wildcard: there :agent_id stands for a project in install.sh.
func (s *Server) sessionRoutes() []route {
	get, post, put, remove := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	const agent, forwarded = "/projects/:pid/agents/:aid", "/agents/:agent_id/:route_name"
	return []route{
		{get, agent + "/console", member.by(domain.ScopeWrite), noBody, s.console},
		{get, "/agent/console/:sid", machine, noBody, s.claimSession(domain.ConsoleSession)},
		{get, "/agent/tunnel/:sid", machine, noBody, s.claimSession(domain.TunnelSession)},

		{get, agent + "/port-forwards", member, noBody, endpoint(s, http.StatusOK, s.portForwards)},
		{post, agent + "/port-forwards", member.audited().acts("create_port_forward"), defaultBody, endpoint(s, http.StatusOK, s.createPortForward)},
		{put, agent + "/port-forwards/:fid", member.audited().acts("update_port_forward"), defaultBody, endpoint(s, http.StatusOK, s.updatePortForward)},
		{remove, agent + "/port-forwards/:fid", member.acts("delete_port_forward"), noBody, endpoint(s, http.StatusOK, s.deletePortForward)},

		{everyMethod, forwarded, visitor, anyBody, s.forwarded},
		{everyMethod, forwarded + "/*path", visitor, anyBody, s.forwarded},
	}
}

package api

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/domain"
)

// agentRoutes are those of machines: what agents call, what a machine is installed from, and
// what people do with machines. Under /agents/ the name of a project or an agent is :agent_id:
// gin takes one name in one place. "install.sh" is no name of a route to a port, therefore.
func (s *Server) agentRoutes() []route {
	get, post, remove := http.MethodGet, http.MethodPost, http.MethodDelete
	const under = "/projects/:pid/agents"
	return []route{
		{get, "/agent/events", joining, noBody, s.agentEvents},
		{post, "/agent/ping", machine, noBody, endpoint(s, http.StatusOK, s.agentPing)},
		{post, "/agent/leave", machine, noBody, endpoint(s, http.StatusOK, s.agentLeave)},
		{post, "/agent/started", machine, defaultBody, endpoint(s, http.StatusOK, s.agentStarted)},
		{post, "/agent/output", machine, outputLimit, endpoint(s, http.StatusOK, s.agentOutput)},
		{post, "/agent/results", machine, resultLimit, s.fewLarge(endpoint(s, http.StatusOK, s.agentResult))},

		{get, "/agents", person, noBody, endpoint(s, http.StatusOK, s.agentsSeen)},
		{get, "/agents/:agent_id/install.sh", public, noBody, endpoint(s, http.StatusOK, s.installScript)},
		{get, "/agents/binary/harvest-agent", public, noBody, s.agentBinary},

		{get, under, member, noBody, endpoint(s, http.StatusOK, s.agents)},
		{get, under + "/install-command", member.by(domain.ScopeWrite).audited(), noBody, endpoint(s, http.StatusOK, s.installCommand)},
		{post, under + "/rotate-install-token", member.audited(), defaultBody, endpoint(s, http.StatusOK, s.rotateInstallToken)},
		{get, under + "/:aid", member, noBody, endpoint(s, http.StatusOK, s.agent)},
		{remove, under + "/:aid", member.acts(toolDeleteAgent), noBody, endpoint(s, http.StatusOK, s.deleteAgent)},
	}
}

// agents answers GET /projects/:pid/agents.
func (s *Server) agents(ctx context.Context, r request[none]) ([]domain.AgentInfo, error) {
	list, err := s.Agents.Agents(ctx, r.project.ID)
	if err != nil {
		return nil, err
	}
	infos := make([]domain.AgentInfo, 0, len(list))
	for _, a := range list {
		infos = append(infos, a.Info())
	}
	return infos, nil
}

// agentsSeen answers GET /agents: those of all projects that the caller may see.
func (s *Server) agentsSeen(ctx context.Context, r request[none]) ([]domain.AgentPlace, error) {
	filter := domain.AgentFilter{Hostname: r.query.Get("hostname"), Provider: r.query.Get("provider")}
	if r.query.Get("online") != "" {
		online, err := flag(r.query, "online")
		if err != nil {
			return nil, err
		}
		filter.Online = &online
	}
	if err := filter.Check(); err != nil {
		return nil, err
	}
	list, err := s.Agents.AgentsSeen(ctx, r.caller.Actor, filter)
	places := make([]domain.AgentPlace, 0, len(list))
	for _, a := range list {
		places = append(places, a.Place())
	}
	return places, err
}

// agent answers GET /projects/:pid/agents/:aid.
func (s *Server) agent(ctx context.Context, r request[none]) (domain.AgentInfo, error) {
	a, err := s.Agents.Agent(ctx, r.project.ID, r.path["aid"])
	return a.Info(), err
}

// deleteAgent answers DELETE /projects/:pid/agents/:aid. Once begun it goes on without the caller.
func (s *Server) deleteAgent(ctx context.Context, r request[none]) (done, error) {
	a, err := s.Agents.Agent(ctx, r.project.ID, r.path["aid"])
	if err != nil {
		return done{}, err
	}
	acted(ctx, map[string]any{"agent_id": a.ID}, map[string]any{"agent_id": a.ID, "hostname": a.Hostname})
	err = s.Machines.RemoveAgent(context.WithoutCancel(ctx), r.project.ID, r.path["aid"])
	if err == nil {
		s.AgentHub.Forget(r.path["aid"])
	}
	return done{err == nil}, err
}

// installAsk says how long a token is good for, and for how many machines.
type installAsk struct {
	ExpiresInSecs *int `json:"expires_in_secs"`
	Uses          *int `json:"uses"`
}

func (installAsk) mayBeEmpty() {}

// installed is the answer to who wants to install the agent.
type installed struct {
	OK bool `json:"ok"`
	domain.InstallCommand
}

// installCommand answers GET /projects/:pid/agents/install-command.
func (s *Server) installCommand(ctx context.Context, r request[none]) (installed, error) {
	var ask installAsk
	for name, field := range map[string]**int{"expires_in_secs": &ask.ExpiresInSecs, "uses": &ask.Uses} {
		if !r.query.Has(name) {
			continue
		}
		n, err := strconv.Atoi(r.query.Get(name))
		if err != nil {
			return installed{}, domain.Invalid(name, "must be a whole number, 1 or more")
		}
		*field = &n
	}
	return s.install(ctx, r.reply, domain.InstallOrder{ProjectID: r.project.ID, CreatedBy: r.caller.UserID}, ask)
}

// rotateInstallToken answers POST /projects/:pid/agents/rotate-install-token.
func (s *Server) rotateInstallToken(ctx context.Context, r request[installAsk]) (installed, error) {
	return s.install(ctx, r.reply, domain.InstallOrder{ProjectID: r.project.ID, CreatedBy: r.caller.UserID, Rotate: true}, r.body)
}

func (s *Server) install(ctx context.Context, reply http.Header, order domain.InstallOrder, ask installAsk) (installed, error) {
	reply.Set("Cache-Control", "no-store")
	if n := ask.ExpiresInSecs; n != nil {
		if *n < 1 || *n > int(domain.MaxInstallLife/time.Second) {
			return installed{}, domain.Invalid("expires_in_secs", "must be 1 to %d", int(domain.MaxInstallLife/time.Second))
		}
		order.Life = time.Duration(*n) * time.Second
	}
	if n := ask.Uses; n != nil {
		if *n < 1 || *n > domain.MaxInstallUses { // none is never meant to be any number
			return installed{}, domain.Invalid("uses", "must be 1 to %d; leave it out for any number of machines", domain.MaxInstallUses)
		}
		order.Uses = *n
	}
	command, err := s.AgentHub.Install(ctx, order)
	return installed{err == nil, command}, err
}

// installScript answers GET /agents/:agent_id/install.sh, where the id is a project's.
func (s *Server) installScript(ctx context.Context, r request[none]) (raw, error) {
	project, err := s.Projects.Project(ctx, r.path["agent_id"])
	if err != nil {
		return raw{}, err
	}
	script, err := s.AgentHub.Script(project.ID)
	r.reply.Set("Cache-Control", "no-store")
	if err == nil {
		r.reply.Set("Content-Type", "text/x-shellscript; charset=utf-8")
	}
	return raw{json: script}, err
}

// agentBinary answers GET /agents/binary/harvest-agent.
func (s *Server) agentBinary(c *gin.Context) {
	binary, err := s.AgentHub.Binary(c.Query("arch"))
	if err != nil {
		s.fail(c, err)
		return
	}
	file, err := os.Open(binary.Path)
	if err != nil {
		s.fail(c, domain.Wrap(domain.CodeNotFound, err, "harvest-agent is not there any more; try again"))
		return
	}
	defer file.Close()
	header := c.Writer.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", `attachment; filename="harvest-agent"`)
	header.Set("ETag", `"`+binary.SHA256+`"`)
	header.Set("X-Checksum-Sha256", binary.SHA256)
	header.Set("Cache-Control", "no-cache") // asked again each time, by the ETag
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(downloadLimit))
	http.ServeContent(c.Writer, c.Request, "", binary.Modified, file)
}

// downloadLimit is for a machine far away to take some megabytes.
const downloadLimit = 10 * time.Minute

package api

import (
	"context"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// AgentHub has the agents that are connected to this process; agenthub.Hub does.
type AgentHub interface {
	// Identify gives the agent of a permanent token, or unauthorized.
	Identify(ctx context.Context, token string) (domain.Agent, error)
	// Stream serves the event stream of an agent until ctx or the connection ends. open is
	// called once the agent is admitted, and gives what writes a message; one without a type is
	// a sign of life. Errors, all before open is called: unauthorized, invalid, unavailable.
	Stream(ctx context.Context, token string, hello domain.AgentHello, open func() (send func(agentwire.Message) error, err error)) error
	// Ping notes that an agent lives.
	Ping(ctx context.Context, agent domain.Agent) error
	// Started notes that a command of the agent runs; not_found where it is not its own, as do
	// those below.
	Started(ctx context.Context, agent domain.Agent, id string) error
	// Output appends what a command has written to its log, and says how much that has. line is
	// a line of a plain agent; nil for none.
	Output(ctx context.Context, agent domain.Agent, out agentwire.Output, line []byte) (agentwire.OutputTaken, error)
	// Result ends a command; once it returns the agent may forget it. What a plain agent posts
	// whole stands in heads and tails.
	Result(ctx context.Context, agent domain.Agent, r agentwire.Result) error
	// Forget ends the connection of an agent that was removed.
	Forget(agentID string)

	// Install makes an install token, and the command that installs the agent with it:
	// not_configured, invalid.
	Install(ctx context.Context, order domain.InstallOrder) (domain.InstallCommand, error)
	// Script renders the script that installs the agent of a project, or gives not_found.
	Script(projectID string) ([]byte, error)
	// Binary gives the agent's program for an architecture, "" for the usual one, or not_found.
	Binary(arch string) (domain.AgentBinary, error)
}

// Agents keeps the machines of projects.
type Agents interface {
	// Agents lists a project's, in the order in which they joined.
	Agents(ctx context.Context, projectID string) ([]domain.Agent, error)
	// AgentsSeen lists those of all projects that a person may see, by project.
	AgentsSeen(ctx context.Context, who domain.Actor, f domain.AgentFilter) ([]domain.PlacedAgent, error)
	// Agent gives one of a project, or not_found.
	Agent(ctx context.Context, projectID, id string) (domain.Agent, error)
}

var errNoAgent = domain.Errorf(domain.CodeUnauthorized, "this is for agents: give the token of an agent as a bearer token")

const agentKey = "agent"

// agentOf gives who sends a request, where the route's policy is machine.
func agentOf(c *gin.Context) domain.Agent {
	agent, _ := c.Value(agentKey).(domain.Agent)
	return agent
}

// authorizeAgent lets agents pass, by their token alone. A stream is judged as it is opened.
func (s *Server) authorizeAgent(policy access) gin.HandlerFunc {
	return func(c *gin.Context) {
		agent, err := domain.Agent{}, error(errNoAgent)
		token, given := bearerToken(c.Request)
		switch {
		case given && policy.who == joiners && (strings.HasPrefix(token, domain.InstallTokenPrefix) || strings.HasPrefix(token, domain.AgentTokenPrefix)):
			err = nil
		case given && strings.HasPrefix(token, domain.AgentTokenPrefix):
			agent, err = s.AgentHub.Identify(c.Request.Context(), token)
		}
		if err != nil {
			s.fail(c, err)
			s.noteDenied(c, caller{})
			return
		}
		c.Set(agentKey, agent)
		c.Next()
		if c.GetBool(hiddenKey) { // it asked for a command of another agent
			s.noteDenied(c, caller{})
		}
		s.noteRefused(c, caller{})
	}
}

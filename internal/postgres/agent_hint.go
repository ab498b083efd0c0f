package postgres

import (
	"strings"
	"sync"
)

// agentChannel carries the ids of agents for which there may be something to do: a command that
// waits, one that is to be canceled, or a newer connection. A hint is "<agent> <process>".
const agentChannel = "harvest_agents"

// agentHints tells this process's hub of agents.
type agentHints struct {
	mu       sync.RWMutex
	handlers []func(agentID string)
}

// OnAgent has handle called with the id of each agent for which there may be something to do,
// whichever process found that out. It must return at once. A hint can be lost: whoever serves
// agents looks for himself now and then, and at each connect.
func (s *Store) OnAgent(handle func(agentID string)) {
	s.agents.mu.Lock()
	defer s.agents.mu.Unlock()
	s.agents.handlers = append(s.agents.handlers, handle)
}

func (h *agentHints) call(agentID string) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, handle := range h.handlers {
		handle(agentID)
	}
}

// tellAgent hints at an agent, here at once and then to the other processes.
func (s *Store) tellAgent(agentID string) {
	s.agents.call(agentID)
	s.notify.hint(agentID)
}

// heardAgent takes a hint of another process; this one's own were given already.
func (s *Store) heardAgent(body string) {
	agentID, from, _ := strings.Cut(body, " ")
	if from != s.notify.self {
		s.agents.call(agentID)
	}
}

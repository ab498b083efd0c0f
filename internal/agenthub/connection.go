package agenthub

import (
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
	"github.com/harvest-engine/harvest/internal/domain"
)

// maxQueue bounds the messages that wait for an agent that does not read.
const maxQueue = 64

// ending says why a connection is ended from here.
type ending string

const (
	endReplaced ending = "this agent has connected again; the older connection ends"
	endLost     ending = "this agent has connected elsewhere, or was removed; this connection ends"
	endQuiet    ending = "nothing was heard of this agent for too long; connect again"
	endStuck    ending = "a command could not be prepared; connect again"
)

// connection is an open event stream. One goroutine writes it: that of its request.
type connection struct {
	domain.AgentConnection
	agent domain.Agent
	wake  chan struct{}

	mu    sync.Mutex
	queue []agentwire.Message
	due   bool // there may be commands to deliver
	over  ending
	heard time.Time
}

func newConnection(agent domain.Agent, hello domain.AgentHello, processID string) *connection {
	return &connection{
		AgentConnection: domain.AgentConnection{ID: domain.NewID(), AgentID: agent.ID, ProcessID: processID, AgentHello: hello},
		agent:           agent, wake: make(chan struct{}, 1), heard: time.Now(),
	}
}

// add queues a message; false where too many wait.
func (c *connection) add(m agentwire.Message) bool {
	c.mu.Lock()
	room := len(c.queue) < maxQueue && c.over == ""
	if room {
		c.queue = append(c.queue, m)
	}
	c.mu.Unlock()
	c.rouse()
	return room
}

// lookAgain has the connection look for commands.
func (c *connection) lookAgain() {
	c.mu.Lock()
	c.due = true
	c.mu.Unlock()
	c.rouse()
}

// end ends the connection, for the first reason that is given.
func (c *connection) end(why ending) {
	c.mu.Lock()
	if c.over == "" {
		c.over = why
	}
	c.mu.Unlock()
	c.rouse()
}

func (c *connection) rouse() {
	select {
	case c.wake <- struct{}{}:
	default: // it is awake
	}
}

// take gives what there is to do.
func (c *connection) take() (queue []agentwire.Message, due bool, over ending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	queue, due, over = c.queue, c.due, c.over
	c.queue, c.due = nil, false
	return queue, due, over
}

// hear notes that something came from the agent.
func (c *connection) hear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = time.Now()
}

// quiet is how long nothing came from the agent to this process.
func (c *connection) quiet() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.heard)
}

// can reports whether the agent announced a capability as it connected.
func (c *connection) can(capability agentwire.Capability) bool {
	return domain.Agent{Capabilities: c.Capabilities}.Can(string(capability))
}

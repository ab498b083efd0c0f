// Package agenthub keeps the agents that are connected to this process: an event stream each,
// by which commands are delivered, and what agents post of them. The commands' rows are the
// truth; a stream may break at any time and come back to another process.
package agenthub

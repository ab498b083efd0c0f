// Package peers lets the processes of one Harvest reach each other, and carries consoles and
// tunnels across them. A person's request, the event stream of an agent and the agent's answer
// may each be at another process: the first is the home of a session, the second is told by a
// call to send the agent a message, and the third relays what the agent sends to the home, by
// WebSocket over TLS. Bytes never go by the database.
package peers

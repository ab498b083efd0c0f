package domain

import "time"

// Process is a running Harvest, as the others on the same database see it.
type Process struct {
	ID        string // see NewID
	Kind      string // up, serve or worker
	Host      string
	PID       int
	ActiveKey string            // the id of the key that it encrypts with
	Keys      map[string]string // all keys that it has: id to fingerprint
	StartedAt time.Time         // by the database's clock, as SeenAt; zero before it is registered
	SeenAt    time.Time
	Peer      Peer // of a process that has an API
}

// Peer is where the other processes reach one, and how they know it and are known by it.
type Peer struct {
	Address     string // host:port; "": nowhere
	Token       string // of who calls
	Fingerprint string // SHA-256 of its certificate, in hex
}

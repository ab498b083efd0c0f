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
}

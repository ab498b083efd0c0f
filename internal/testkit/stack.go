package testkit

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/embedded"
)

// Servers are what an end-to-end test runs on.
type Servers struct {
	DSN               string // of a fresh, migrated database, the test's own
	TemporalAddress   string // host:port; shared by the tests of the binary
	TemporalUI        string // the address of the web UI, with its path
	TemporalNamespace string // has Harvest's search attributes
}

// temporal is the binary's Temporal server.
var temporal = sync.OnceValues(func() (embedded.ScratchTemporal, error) {
	s, err := server()
	if err != nil {
		return embedded.ScratchTemporal{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Minute) // a first build takes long
	defer cancel()
	return s.StartTemporal(ctx, embedded.DefaultCacheDir(), printProgress)
})

// Stack gives real servers: a database of the test's own and the binary's Temporal. Tests
// tell their workflows apart by task queues and ids of their own.
func Stack(t testing.TB) Servers {
	t.Helper()
	dsn := DSN(t)
	server, err := temporal()
	if err != nil {
		t.Fatalf("Temporal for tests: %v", err)
	}
	return Servers{DSN: dsn, TemporalAddress: server.Address, TemporalUI: server.UIAddress, TemporalNamespace: server.Namespace}
}

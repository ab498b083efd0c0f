package crashtest_test

import (
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Postgres and Temporal are killed while turns run; they come back, and every turn ends as
// if nothing had been.
func TestServersDieUnderLoad(t *testing.T) {
	t.Parallel()
	servers := newServers(t)
	s := openSite(t, nodeOrder{DSN: servers.DSN, Temporal: servers.Temporal, Namespace: "default"})
	s.worker()
	for _, victims := range [][]string{{"postgres"}, {"temporal"}, {"postgres", "temporal"}} {
		var watches []*watch
		for range 6 {
			watches = append(watches, s.watch(s.start().ID))
		}
		watches[0].until(domain.EventTextDelta, 10)
		for _, name := range victims {
			servers.kill(name)
		}
		for _, w := range watches {
			s.undisturbed(s.end(w))
		}
	}
}

// Everything dies at once: API, worker, the servers and who supervises them. What starts
// again goes on with every turn.
func TestEverythingDies(t *testing.T) {
	t.Parallel()
	servers := newServers(t)
	s := openSite(t, nodeOrder{DSN: servers.DSN, Temporal: servers.Temporal, Namespace: "default"})
	address := freeAddress(t)
	up := s.api(address, true)
	var watches []*watch
	for range 4 {
		watches = append(watches, s.watch(s.start().ID))
	}
	s.runs(watches[0].id, 1)
	watches[1].until(domain.EventTextDelta, 1)

	up.kill()
	servers.killAll()
	servers.start()
	s.api(address, true)
	since := time.Now()
	for _, w := range watches {
		s.goesOn(w, since)
	}
	for _, w := range watches {
		s.undisturbed(s.end(w))
	}
}

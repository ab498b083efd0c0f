package machinetest_test

import (
	"sync"
	"testing"
	"time"
)

// Five hundred commands on fifty agents all end once and right, though the API and a part of the
// agents are killed in the midst of them.
func TestManyCommandsOnManyAgents(t *testing.T) {
	t.Parallel()
	const agents, each = 50, 10
	s := newStack(t)
	var machines []*machine
	for range agents {
		m := s.installed(s.api.address)
		m.launch()
		machines = append(machines, m)
	}
	var jobs []*job
	for _, m := range machines {
		m.comes()
		for range each {
			j := m.newWord()
			j.line = "sleep 1; " + j.line
			jobs = append(jobs, j)
		}
	}
	var ordering sync.WaitGroup
	for part := range 8 {
		ordering.Go(func() {
			for i := part; i < len(jobs); i += 8 {
				if err := jobs[i].ask(); err != nil {
					t.Errorf("order a command: %v", err)
				}
			}
		})
	}
	<-time.After(2 * time.Second)
	s.api.kill()
	for _, m := range machines[:agents/5] {
		m.kill()
	}
	s.api.start()
	for _, m := range machines[:agents/5] {
		m.start()
	}
	ordering.Wait()
	var ids []string
	for _, j := range jobs {
		j.told()
		ids = append(ids, j.id)
	}
	nothingLeft(t, ids...)
}

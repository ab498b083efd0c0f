package machinetest_test

import (
	"testing"
	"time"
)

// gap is a network that is cut for a while, amid commands.
type gap struct {
	w      *wire
	mended <-chan time.Time
	stays  *job
	jobs   []*job
}

// cutOff cuts the network of a new machine: what runs there goes on, a part of it ends, and more
// is ordered.
func (s *stack) cutOff(t *testing.T, length time.Duration) gap {
	t.Helper()
	w := newWire(t, s.api.address)
	m := s.of(t).machine(w.address)
	talks, ends, stays := m.newTalk().order().speaks(), m.newJob().order().speaks(), m.newJob().order().begins()
	w.cut()
	mended := time.After(length)
	m.goes(30 * time.Second)
	ends.release()
	return gap{w, mended, stays, []*job{talks, ends, stays, m.newWord().order()}}
}

// over mends the network in its time, and checks that nothing is lost.
func (g gap) over() {
	<-g.mended
	g.w.mend()
	g.stays.release()
	for _, j := range g.jobs {
		j.ended()
	}
}

// A network that is cut loses nothing, for however long: what ends meanwhile is told, and what
// is ordered meanwhile is run, once it is mended.
func TestNetworkIsCut(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, length := range []time.Duration{time.Second, 30 * time.Second} {
		t.Run(length.String(), func(t *testing.T) {
			t.Parallel()
			s.cutOff(t, length).over()
		})
	}
}

func TestNetworkIsCutForMinutes(t *testing.T) {
	g := newStack(t).cutOff(t, 5*time.Minute)
	t.Parallel() // the others run while this one waits, and so begin behind it
	g.over()
}

// A network that swallows what is sent, and tells nobody, is found dead from either end, and
// loses nothing either. What was sent into it is delivered again.
func TestNetworkSwallows(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for name, noticed := range map[string]bool{"for a moment": false, "until it is noticed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWire(t, s.api.address)
			m := s.of(t).machine(w.address)
			talks, ends, stays := m.newTalk().order().speaks(), m.newJob().order().speaks(), m.newJob().order().begins()
			w.silence()
			ends.release()
			lost := m.newWord().order()
			if noticed {
				m.goes(60 * time.Second)
			} else {
				<-time.After(8 * time.Second)
			}
			queued := m.newWord().order()
			w.mend()
			stays.release()
			for _, j := range []*job{talks, ends, stays, lost, queued} {
				j.ended()
			}
		})
	}
}

// Where the API that has an agent's stream is gone, the agent goes to another one, and takes up
// there what it left: any of them delivers, and any takes results.
func TestAgentGoesToAnotherAPI(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	other := s.serve()
	w := newWire(t, s.api.address)
	m := s.machine(w.address)
	talks, ends, stays := m.newTalk().order().speaks(), m.newJob().order().speaks(), m.newJob().order().begins()
	s.api.kill()
	w.lead(other.address)
	ends.release()
	queued := m.newWord().order()
	stays.release()
	for _, j := range []*job{talks, ends, stays, queued} {
		j.ended()
	}
}

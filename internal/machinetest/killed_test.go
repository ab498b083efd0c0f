package machinetest_test

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// stack is a site with an API and a worker that run apart.
type stack struct {
	*site
	api      *api
	worker   *process
	temporal *wire // between the API and Temporal
}

func newStack(t *testing.T) *stack {
	t.Helper()
	return newStackOf(t, `{"rounds": [{"text": "I say nothing."}]}`)
}

// newStackOf is newStack with a model that says what a script has.
func newStackOf(t *testing.T, script string) *stack {
	t.Helper()
	s := &stack{site: newSite(t, script)}
	s.temporal = newWire(t, s.on.TemporalAddress)
	s.api = s.serveBy(s.temporal.address)
	s.worker = s.work()
	return s
}

// scene is a command that has come to a stage, with what happens while those are away who are
// killed then, and once they are back.
type scene struct {
	*job
	name            string
	meanwhile, back func()
}

// stages bring a command to each stage from its order to its end, on a machine whose posts go
// by the desk. The last one lets nothing else end.
func (s *stack) stages() []func(m *machine, d *desk) scene {
	kept := func(name string, committed bool) func(*machine, *desk) scene {
		return func(m *machine, d *desk) scene {
			h := d.hold(committed)
			j := m.newWord().order()
			<-h.held
			return scene{job: j, name: name, back: func() { h.letGo(d) }}
		}
	}
	return []func(*machine, *desk) scene{
		func(m *machine, _ *desk) scene {
			m.kill()
			m.goes(patience)
			return scene{job: m.newWord().order(), name: "queued, its agent away", back: m.start}
		},
		func(m *machine, _ *desk) scene {
			j := m.newJob().order().begins()
			return scene{job: j, name: "just running", back: j.release}
		},
		func(m *machine, _ *desk) scene {
			return scene{job: m.newTalk().order().speaks(), name: "amid its output"}
		},
		func(m *machine, _ *desk) scene {
			j := m.newJob().order().speaks()
			return scene{job: j, name: "waiting with a part of its output", back: j.release}
		},
		func(m *machine, _ *desk) scene {
			j := m.newJob().order().speaks()
			return scene{job: j, name: "running, and over meanwhile", meanwhile: j.release}
		},
		kept("over, its result on the way", false),
		kept("over, its result committed and not acknowledged", true),
		func(m *machine, _ *desk) scene {
			j := m.newJob().order().speaks()
			s.temporal.silence()
			j.release()
			j.over()
			return scene{job: j, name: "over, its workflow not told", meanwhile: s.temporal.mend}
		},
	}
}

// Whoever is killed, and however far a command is by then, it is run once and its end is known.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, victims := range []string{"agents", "API", "worker", "agents and API and worker"} {
		t.Run(victims, func(t *testing.T) {
			t.Parallel()
			s := newStack(t)
			var scenes []scene
			var doomed []*process
			for _, reach := range s.stages() {
				d := newDesk(t, s.api.address)
				m := s.machine(d.address)
				scenes = append(scenes, reach(m, d))
				if strings.Contains(victims, "agents") {
					doomed = append(doomed, m.process)
				}
			}
			if strings.Contains(victims, "API") {
				doomed = append(doomed, s.api.process)
			}
			if strings.Contains(victims, "worker") {
				doomed = append(doomed, s.worker)
			}
			for _, p := range doomed {
				p.kill()
			}
			for _, c := range scenes {
				if c.meanwhile != nil {
					c.meanwhile()
				}
			}
			for _, p := range doomed {
				p.start()
			}
			for _, c := range scenes {
				if c.back != nil {
					c.back()
				}
			}
			for _, c := range scenes {
				if c.ended(); t.Failed() {
					t.Fatalf("that was the command that was %s", c.name)
				}
			}
		})
	}
}

// An agent that is killed at any moment around a delivery runs the command once, or never and
// says so.
func TestAgentIsKilledAroundADelivery(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	m := s.machine(s.api.address)
	for range 12 {
		j := m.newWord().order()
		<-time.After(rand.N(60 * time.Millisecond))
		m.kill()
		m.start()
		c := j.over()
		if c.Status == domain.CommandFailed && j.runs() == 0 {
			j.settled(c)
			continue
		}
		j.ended()
	}
}

// Of a command whose shim is killed nobody can know how it ended: it is unknown, and nothing of
// it is left behind, whether its agent is there or killed with it. What hides by another
// environment is found by the one of both that lives.
func TestShimIsKilled(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for name, kill := range map[string]func(m *machine, shim int){
		"alone": func(_ *machine, shim int) { _ = syscall.Kill(shim, syscall.SIGKILL) },
		"behind its agent": func(m *machine, shim int) {
			m.kill()
			_ = syscall.Kill(shim, syscall.SIGKILL)
			m.start()
		},
		"before its agent": func(m *machine, shim int) {
			_ = syscall.Kill(shim, syscall.SIGKILL)
			m.kill()
			m.start()
		},
	} {
		for stage, reach := range map[string]func(*machine) *job{
			"just running": func(m *machine) *job {
				if name == "alone" {
					return m.newJob().order().begins()
				}
				return m.newLeaver("-u NONE").order().begins()
			},
			"amid its output": func(m *machine) *job { return m.newTalk().order().speaks() },
		} {
			t.Run(name+", "+stage, func(t *testing.T) {
				m := s.of(t).machine(s.api.address)
				j := reach(m)
				kill(m, shimOf(t, j.id))
				c := j.over()
				if c.Status != domain.CommandUnknown || c.ExitCode != nil || c.Error == "" || j.runs() != 1 {
					t.Errorf("the command, which was run %d times, is %s: %q", j.runs(), c.Status, c.Error)
				}
				if n := len(c.Stdout.Head); n > len(j.stdout) || string(c.Stdout.Head) != string(j.stdout[:n]) {
					t.Errorf("%d bytes of output are kept, or others", n)
				}
				j.settled(c)
			})
		}
	}
}

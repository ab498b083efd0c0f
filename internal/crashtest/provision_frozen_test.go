package crashtest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/lxd/lxdtest"
)

// A worker that stands still for so long that another one takes over changes nothing any more
// once it goes on, at whichever step it stood.
func TestFrozenWorkerAmidProvision(t *testing.T) {
	t.Parallel()
	for _, step := range []lxdtest.Step{lxdtest.Network, lxdtest.Create, lxdtest.Start, lxdtest.Exec} {
		t.Run(string(step), func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			y.lxd.Set(step, lxdtest.Fault{Blocks: true})
			frozen := y.worker()
			p := y.provision()
			y.lxd.Await(t, step, 1)
			frozen.freeze()
			y.lxd.Clear(step)
			y.worker()
			y.made(p.ID)
			told := y.events(p.ID)
			frozen.thaw()
			frozen.stop() // it ends what it was doing
			if diff := cmp.Diff(told, y.events(p.ID)); diff != "" {
				t.Errorf("told since it goes on (-before +after):\n%s", diff)
			}
			y.made(p.ID)
		})
	}
}

// A worker that stands still as it cleans up does not end twice what another has ended.
func TestFrozenWorkerAmidCleanup(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.lxd.Set(lxdtest.Start, lxdtest.Fault{Fails: true, Text: "no such cgroup"})
	y.lxd.Set(lxdtest.Delete, lxdtest.Fault{Blocks: true})
	frozen := y.worker()
	p := y.provision()
	y.lxd.Await(t, lxdtest.Delete, 1)
	frozen.freeze()
	y.lxd.Clear(lxdtest.Delete)
	y.worker()
	if p, _ := y.over(p.ID); p.Status != domain.ProvisionFailed {
		t.Errorf("it is %s", p.Status)
	}
	told := y.events(p.ID)
	frozen.thaw()
	frozen.stop()
	if diff := cmp.Diff(told, y.events(p.ID)); diff != "" {
		t.Errorf("told since it goes on (-before +after):\n%s", diff)
	}
	y.clean()
}

// events gives the types of what was told of a provision.
func (y *yard) events(id string) []domain.EventType {
	y.t.Helper()
	var types []domain.EventType
	for _, e := range y.stored(id) {
		types = append(types, e.Type)
	}
	return types
}

package machinetest_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
)

// mischief repeats posts, in any order, and says of some that they have failed which have not,
// or have not come yet.
type mischief struct {
	mu   sync.Mutex
	seen []post
}

func (m *mischief) handle(p post) reply {
	m.mu.Lock()
	defer m.mu.Unlock() // one at a time: then the order is the one of this function
	m.seen = append(m.seen, p)
	failed := reply{status: http.StatusBadGateway}
	fate := rand.IntN(4)
	if fate == 0 { // it comes later, behind others
		return failed
	}
	answer := p.forward()
	for range rand.IntN(3) {
		m.seen[rand.IntN(len(m.seen))].forward()
	}
	if fate == 1 { // it has come, and nobody knows
		return failed
	}
	return answer
}

// again sends all posts once more, in any order.
func (m *mischief) again() (refused []reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	posts := slices.Clone(m.seen)
	rand.Shuffle(len(posts), func(i, j int) { posts[i], posts[j] = posts[j], posts[i] })
	for _, p := range posts {
		if answer := p.forward(); answer.status != http.StatusOK {
			refused = append(refused, answer)
		}
	}
	return refused
}

// Posts that are repeated, overtake each other or are answered by somebody else change nothing.
func TestPostsComeAgainAndInAnyOrder(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	d := newDesk(t, s.api.address)
	m := s.machine(d.address)
	var trouble mischief
	d.treat(trouble.handle)
	var jobs []*job
	for range 3 {
		jobs = append(jobs, m.newTalk().order(), m.newWord().order())
		j := m.newJob().order().begins()
		j.release()
		jobs = append(jobs, j)
	}
	for _, j := range jobs {
		j.ended()
	}
	d.treat(post.forward)
	if refused := trouble.again(); len(refused) > 0 {
		t.Errorf("%d posts are refused that were taken before, such as %d %s", len(refused), refused[0].status, refused[0].body)
	}
	for _, j := range jobs {
		j.ended()
	}
}

// A server that fails for a while gets all once it is well again.
func TestServerFailsForAWhile(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	for _, status := range []int{http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusNotFound, http.StatusForbidden} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, s.api.address)
			m := s.of(t).machine(d.address)
			const failures = 7 // of results, before the server is well
			well := make(chan struct{})
			var mu sync.Mutex
			var results int
			d.treat(func(p post) reply {
				mu.Lock()
				defer mu.Unlock()
				if p.path == resultPath {
					results++
				}
				if results < failures {
					return reply{status: status, body: []byte("<html>it is broken</html>")}
				}
				if results == failures && p.path == resultPath {
					close(well)
					results++
				}
				return p.forward()
			})
			first := m.newJob().order().begins()
			first.release()
			second := m.newTalk().order()
			<-well
			first.ended()
			second.ended()
		})
	}
}

// Package queue keeps jobs until somebody takes them.
package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Ordered is what jobs are sorted by.
type Ordered interface {
	~int | ~int64 | ~float64
}

// Job is one thing to do.
type Job[K Ordered] struct {
	Key  K
	Work func(context.Context) error
	done []func(error)
}

// OnDone adds what is called at the end.
func (j *Job[K]) OnDone(f func(error)) *Job[K] {
	j.done = append(j.done, f)
	return j
}

func (j *Job[K]) finish(err error) {
	for _, f := range j.done {
		f(err) //~ f -
	}
}

func (j Job[K]) String() string { return fmt.Sprint(j.Key) } //~ Sprint -

type locked struct {
	mu sync.Mutex
}

func (l *locked) with(f func()) {
	l.mu.Lock()         //~ Lock -
	defer l.mu.Unlock() //~ Unlock -
	f()                 //~ f -
}

type stats struct {
	locked
	taken int
}

func (s *stats) count() { s.taken++ }

// Queue is jobs in order.
type Queue[K Ordered] struct {
	stats
	jobs  []*Job[K]
	less  func(a, b K) int
	clock func() time.Time
	idle  func()
	names map[string]func(*Job[K]) bool
}

// Option changes a queue that is made.
type Option[K Ordered] func(*Queue[K])

// Descending takes the largest first.
func Descending[K Ordered]() Option[K] {
	return func(q *Queue[K]) { q.less = reverse[K] }
}

// New makes a queue.
func New[K Ordered](options ...Option[K]) *Queue[K] {
	q := &Queue[K]{less: ascending[K], clock: time.Now, idle: rest}
	q.names = map[string]func(*Job[K]) bool{"small": small[K], "late": q.late}
	for _, option := range options {
		option(q) //~ option -
	}
	return q
}

func ascending[K Ordered](a, b K) int { return cmp.Compare(a, b) } //~ Compare -

func reverse[K Ordered](a, b K) int { return ascending(b, a) } //~ ascending queue.go:ascending

func small[K Ordered](j *Job[K]) bool { return j.Key < 10 }

func rest() {}

func (q *Queue[K]) late(*Job[K]) bool {
	return q.clock().After(deadline) //~ clock -; After -
}

var deadline = time.Unix(1<<33, 0) //~ Unix -

// Push adds a job.
func (q *Queue[K]) Push(key K, work func(context.Context) error) *Job[K] {
	j := &Job[K]{Key: key, Work: work}
	q.with(func() { //~ with queue.go:locked.with
		q.jobs = append(q.jobs, j)
		q.sort() //~ sort queue.go:Queue.sort
	})
	return j
}

func (q *Queue[K]) sort() {
	slices.SortFunc(q.jobs, func(a, b *Job[K]) int { return q.less(a.Key, b.Key) }) //~ SortFunc -; less queue.go:ascending, queue.go:reverse
}

// ErrEmpty says that there is no job.
var ErrEmpty = errors.New("empty") //~ New -

// Run runs the first job.
func (q *Queue[K]) Run(ctx context.Context) error {
	var j *Job[K]
	q.with(func() { //~ with queue.go:locked.with
		if len(q.jobs) > 0 {
			j, q.jobs = q.jobs[0], q.jobs[1:]
			q.count() //~ count queue.go:stats.count
		}
	})
	if j == nil {
		q.idle() //~ idle queue.go:rest
		return ErrEmpty
	}
	err := j.Work(ctx) //~ Work -
	j.finish(err)      //~ finish queue.go:Job.finish
	return err
}

// Is tells whether a job is of a kind.
func (q *Queue[K]) Is(kind string, j *Job[K]) bool {
	test, ok := q.names[kind]
	return ok && test(j) && q.names["small"](j) //~ test queue.go:small, queue.go:Queue.late; names queue.go:small, queue.go:Queue.late
}

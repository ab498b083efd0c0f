package journal

import (
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/harvest-engine/harvest/internal/agentwire"
)

// The pace of the writer. An output that comes in many small pieces is written a few times a
// second, and one of gigabytes as often, since only its tail changes by then.
const (
	flushAfter = 10 * time.Millisecond
	flushPause = 40 * time.Millisecond
	flushSoon  = 256 << 10 // pending bytes of heads that are not left to wait
)

// Output takes what a command writes, counts it, and keeps beginning and end. It never
// blocks on anything but the disk, and goes on where that is full.
type Output struct {
	record *Record

	mu    sync.Mutex
	state State
	head  headWriter
	tails [2]tailWriter
	wrote [2]int64
	err   error // of the last flush

	dirty chan struct{}
	done  chan struct{}
	ended chan struct{}
}

// NewOutput starts to keep the output of the record's command. State is what the record says
// by now.
func NewOutput(record *Record, state State) *Output {
	o := &Output{
		record: record, state: state,
		head:  headWriter{disk: record.disk, path: record.path, open: -1},
		dirty: make(chan struct{}, 1), done: make(chan struct{}), ended: make(chan struct{}),
	}
	for stream := range o.tails {
		o.tails[stream].disk = record.disk
		o.tails[stream].path = record.path + endTail[stream]
	}
	go o.flushing()
	return o
}

// Add takes bytes of a stream: 0 for stdout, 1 for stderr.
func (o *Output) Add(stream int, data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := o.head.add(stream, data)
	o.tails[stream].add(data[n:])
	o.wrote[stream] += int64(len(data))
	if len(o.head.pending) > flushSoon && o.err == nil {
		o.flush()
	}
	select {
	case o.dirty <- struct{}{}:
	default:
	}
}

// Close brings all to the files and gives the number of bytes of each stream. The error says
// that something could not be kept, and why.
func (o *Output) Close() ([2]int64, error) {
	close(o.done)
	<-o.ended
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flush()
	return o.wrote, o.err
}

// Sync brings the files to the disk, once the output is closed, and notes in the record that they
// are there.
func (o *Output) Sync() error {
	var errs []error
	if o.head.file != nil {
		errs = append(errs, o.record.disk.Sync(o.head.file))
	}
	for stream := range o.tails {
		if o.tails[stream].file != nil {
			errs = append(errs, o.record.disk.Sync(o.tails[stream].file))
		}
	}
	if len(errs) > 0 { // files were made
		errs = append(errs, o.record.disk.SyncFolder(filepath.Dir(o.record.path)))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	o.state.Synced = true
	return o.record.SetState(o.state)
}

func (o *Output) flushing() {
	defer close(o.ended)
	for {
		select {
		case <-o.done:
			return
		case <-o.dirty:
		}
		if !o.wait(flushAfter) {
			return
		}
		o.mu.Lock()
		o.flush()
		o.mu.Unlock()
		if !o.wait(flushPause) {
			return
		}
	}
}

func (o *Output) wait(d time.Duration) bool {
	select {
	case <-o.done:
		return false
	case <-time.After(d):
		return true
	}
}

// flush brings the files up to date. Before the rings are overwritten the state says how far,
// and once they are, that they were.
func (o *Output) flush() {
	if o.state.Touched == o.wrote && o.state.Written == o.wrote && o.err == nil {
		return
	}
	if o.tails[0].total+o.tails[1].total > 0 {
		o.state.Touched = o.wrote
		_ = o.record.SetState(o.state)
	}
	o.err = errors.Join(o.head.flush(), o.tails[0].flush(), o.tails[1].flush())
	o.state.Touched = o.wrote
	for stream := range o.wrote {
		o.state.Written[stream] = o.kept(stream)
	}
	_ = o.record.SetState(o.state)
}

// kept is up to where the files hold a stream.
func (o *Output) kept(stream int) int64 {
	if o.head.flushed[stream] < agentwire.HeadBytes {
		return o.head.flushed[stream]
	}
	return agentwire.HeadBytes + o.tails[stream].flushed
}

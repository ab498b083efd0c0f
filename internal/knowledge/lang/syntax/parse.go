package syntax

/*
#include "bridge.h"
*/
import "C"

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/harvest-engine/harvest/internal/domain"
)

// MaxBytes is the size above which texts are refused.
const MaxBytes = 8 << 20

// Limits of one parse. Ordinary sources take at most 25 checks a KB and 1 µs a byte. Steps
// alone don't bound hostile texts, in which one step may go through the whole stack; so the
// thread's CPU time is bounded too, which a busy machine does not stretch.
const (
	baseChecks   = 2_000 // checks, of 100 parser steps each, that any text may take
	checksPerKB  = 100   // and those that it may take by its size
	baseTime     = 2 * time.Second
	timePerByte  = 8 * time.Microsecond
	shrinkNodes  = 1 << 20 // buffers above this many nodes are not kept
	stopCanceled = 1
)

var buffers = sync.Pool{New: func() any { return new([]Node) }}

// Parse reads src. The tree must be released with Close, and src must not change before.
//
// Errors: too_large beyond MaxBytes, unprocessable for a text that takes too much work,
// canceled when ctx ends. Text that does not fit the grammar is not an error: the tree
// counts it.
func (l *Language) Parse(ctx context.Context, src []byte) (*Tree, error) {
	tree, count, err := l.parse(ctx, src)
	if err != nil {
		return nil, err
	}
	defer C.hv_tree_delete(tree)
	buffer := buffers.Get().(*[]Node)
	if cap(*buffer) < int(count) {
		*buffer = make([]Node, count+count/4)
	}
	nodes := (*buffer)[:count]
	n := C.hv_flatten(tree, (*C.hv_node)(unsafe.Pointer(unsafe.SliceData(nodes))), count)
	return newTree(l, src, nodes[:n], buffer), nil
}

// Bare parses src and throws the tree away: the reference that benchmarks compare with.
func (l *Language) Bare(ctx context.Context, src []byte) error {
	tree, _, err := l.parse(ctx, src)
	if err == nil {
		C.hv_tree_delete(tree)
	}
	return err
}

func (l *Language) parse(ctx context.Context, src []byte) (*C.TSTree, C.uint32_t, error) {
	if len(src) > MaxBytes {
		return nil, 0, domain.Errorf(domain.CodeTooLarge, "a source file of %d bytes is larger than the limit of %d", len(src), MaxBytes)
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, domain.Wrap(domain.CodeCanceled, err, "parsing was canceled")
	}
	parser := l.take()
	if parser == nil {
		return nil, 0, domain.Errorf(domain.CodeInternal, "the grammar does not fit the parsing library")
	}
	defer l.put(parser)

	budget := &C.hv_budget{
		checks: C.uint64_t(baseChecks + len(src)*checksPerKB/1024),
		time:   C.uint64_t(baseTime + time.Duration(len(src))*timePerByte),
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { atomic.StoreInt32((*int32)(&budget.canceled), 1) })
		defer stop()
	}
	text := (*C.char)(unsafe.Pointer(unsafe.SliceData(src)))
	var count C.uint32_t
	tree := C.hv_parse(parser, text, C.uint32_t(len(src)), budget, &count)
	if tree == nil {
		return nil, 0, stopError(ctx, int(budget.stopped))
	}
	return tree, count, nil
}

func stopError(ctx context.Context, why int) error {
	if why == stopCanceled {
		return domain.Wrap(domain.CodeCanceled, ctx.Err(), "parsing was canceled")
	}
	return domain.Errorf(domain.CodeUnprocessable, "parsing takes more work than a text of this size may")
}

package graph

import (
	"context"
	"slices"

	"github.com/harvest-engine/harvest/internal/domain"
)

const (
	defaultPathDepth = 12
	maxPathDepth     = 30
	// pathCap bounds the symbols that a search for a path goes through.
	pathCap = 200_000
)

// Call is a step of a path search: from a symbol that is known to one next to it.
type Call struct{ Known, Next int64 }

// CallSteps gives the neighbours of symbols, named by whatever numbers a backend has for them.
type CallSteps interface {
	// Follow gives the callees of keys, or their callers if backward.
	Follow(ctx context.Context, keys []int64, backward bool) ([]Call, error)
}

// ShortestPath gives the keys of a shortest chain of calls from one of from to one of to, of at
// most depth calls (0: a default of 12, at most 30); none is no error. Of several shortest
// chains it is always the same one. The search goes from both ends at once, each time from the
// one that has fewer symbols before it.
func ShortestPath(ctx context.Context, steps CallSteps, from, to []int64, depth int) ([]int64, error) {
	if depth <= 0 {
		depth = defaultPathDepth
	}
	forward, backward := newHalf(from, false), newHalf(to, true)
	for _, key := range from {
		if _, both := backward.via[key]; both {
			return []int64{key}, nil
		}
	}
	for range min(depth, maxPathDepth) {
		near, far := forward, backward
		if len(backward.front) < len(forward.front) {
			near, far = backward, forward
		}
		if len(near.front) == 0 {
			return nil, nil
		}
		calls, err := steps.Follow(ctx, near.front, near.backward)
		if err != nil {
			return nil, err
		}
		if meeting := near.advance(calls, far); len(meeting) > 0 {
			return join(forward, backward, slices.Min(meeting)), nil
		}
		if len(forward.via)+len(backward.via) > pathCap {
			return nil, domain.Errorf(domain.CodeTooLarge, "no chain of calls among the %d symbols nearest to both ends", pathCap)
		}
	}
	return nil, nil
}

// half is the search from one end: how each symbol was reached, and the outermost ones.
type half struct {
	backward bool
	via      map[int64]int64 // symbol → the one nearer to this end; an end itself → itself
	front    []int64
}

func newHalf(ends []int64, backward bool) *half {
	h := &half{backward: backward, via: make(map[int64]int64, 64), front: ends}
	for _, key := range ends {
		h.via[key] = key
	}
	return h
}

// advance moves the front by calls; it gives the symbols that far has reached too.
func (h *half) advance(calls []Call, far *half) []int64 {
	reached := map[int64]int64{}
	for _, c := range calls {
		if _, seen := h.via[c.Next]; seen {
			continue
		}
		if via, again := reached[c.Next]; !again || c.Known < via {
			reached[c.Next] = c.Known
		}
	}
	h.front = make([]int64, 0, len(reached))
	var meeting []int64
	for key, via := range reached {
		h.via[key] = via
		h.front = append(h.front, key)
		if _, met := far.via[key]; met {
			meeting = append(meeting, key)
		}
	}
	return meeting
}

// join follows both halves from where they met to their ends.
func join(forward, backward *half, at int64) []int64 {
	chain := []int64{at}
	for key := at; forward.via[key] != key; {
		key = forward.via[key]
		chain = append(chain, key)
	}
	slices.Reverse(chain)
	for key := at; backward.via[key] != key; {
		key = backward.via[key]
		chain = append(chain, key)
	}
	return chain
}

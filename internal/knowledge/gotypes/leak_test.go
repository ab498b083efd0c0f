package gotypes_test

import (
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/knowledge/gotypes"
)

// What a cache keeps of a package must not hold its types: they lead to the inside of every
// function. The test is not parallel, for it looks at the heap.
func TestACacheHoldsNoTypes(t *testing.T) {
	large := maps.Clone(library)
	var b strings.Builder
	b.WriteString(library["c/c.go"])
	for i := range 5000 {
		fmt.Fprintf(&b, "func inside%d() { x, y := %d, 1; { z := x; _, _ = y, z } }\n", i, i)
	}
	large["c/c.go"] = b.String()
	cache := gotypes.NewCache(1 << 20)
	before := heap()
	newReading(large, cache, "").answers(t, "")
	if grown := heap() - before; grown > 2<<20 {
		t.Errorf("%d KB are held", grown>>10)
	}
	if again := newReading(large, cache, ""); len(again.answers(t, "a")) != 1 || again.read["c/c.go"] {
		t.Errorf("nothing was kept: %v was read again", again.read)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first leaves to finalizers
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

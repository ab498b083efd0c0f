package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// heapGrowth is how far the heap may grow between collections, in percent of what lives:
	// less than Go's own 100, since the process shares a small machine with its servers.
	heapGrowth = 50

	tidyEvery  = 5 * time.Second
	quietBytes = 2 << 20 // allocated between two looks by a process that has nothing to do
	tidyGain   = 8 << 20 // growth that is worth giving back
)

// tidy gives memory back whenever the process has come to rest after work: the heap that a
// reading needed, and the pages of the program that only its start needed. Go does the first
// by itself, but over many minutes, and nobody else on the machine can use it meanwhile.
type tidy struct {
	allocated uint64 // bytes, since the start, at the last look
	resident  int64  // bytes, after memory was last given back
}

// tidyMemory tidies until ctx ends.
func tidyMemory(ctx context.Context) {
	debug.SetGCPercent(heapGrowth)
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	var t tidy
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			t.look(allocatedBytes(), residentBytes, giveBack)
		}
	}
}

// look gives memory back where the process is at rest and has grown since.
func (t *tidy) look(allocated uint64, resident func() int64, giveBack func()) {
	quiet := t.allocated > 0 && allocated-t.allocated < quietBytes
	t.allocated = allocated
	if !quiet || resident() < t.resident+tidyGain {
		return
	}
	giveBack()
	t.resident = resident()
}

func giveBack() {
	debug.FreeOSMemory()
	dropProgramPages()
}

func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

//go:build !linux

package main

import "runtime/metrics"

// residentBytes is the memory that the Go runtime holds.
func residentBytes() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64() - sample[1].Value.Uint64())
}

// dropProgramPages does nothing here: the system drops the program's pages as it needs.
func dropProgramPages() {}

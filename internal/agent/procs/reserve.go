package procs

import (
	"runtime"
	"sync"
)

// Reserve makes threads, which this process keeps from then on. Where a command forks without
// end the system has none left to give, and a Go program that needs one then dies: whoever is to
// end such a command has made what it needs before.
func Reserve(threads int) {
	var ready sync.WaitGroup
	release := make(chan struct{})
	for range threads {
		ready.Add(1)
		go func() {
			runtime.LockOSThread() // so that each needs a thread of its own
			defer runtime.UnlockOSThread()
			ready.Done()
			<-release
		}()
	}
	ready.Wait()
	close(release)
}

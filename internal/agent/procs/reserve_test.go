package procs_test

import (
	"os"
	"testing"

	"github.com/harvest-engine/harvest/internal/agent/procs"
)

func TestReserveKeepsThreads(t *testing.T) {
	t.Parallel()
	const most = 300 // far more than a test needs of itself
	procs.Reserve(most)
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil || len(threads) < most {
		t.Errorf("there are %d threads, %v", len(threads), err)
	}
}

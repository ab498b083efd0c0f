package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A harvest that starts or stops is not told to be started once more.
func TestAHarvestOnItsWayIsTold(t *testing.T) {
	t.Parallel()
	for holder, says := range map[int]string{
		os.Getppid():  "still starting, or stopping", // lives
		os.Getpid():   "start it with: harvest up",   // ourselves
		1<<30 + 12345: "start it with: harvest up",   // no process has such an id
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "lock"), fmt.Appendln(nil, holder), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readInstance(dir); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("held by %d: %v, want %q", holder, err, says)
		}
	}
}

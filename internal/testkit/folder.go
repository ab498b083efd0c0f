package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// DataDir makes a data folder for a stack. Unlike a test's TempDir every user may pass
// through it: as root, PostgreSQL runs as another user, and would get a folder elsewhere
// that outlives the test.
func DataDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

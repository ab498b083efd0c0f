package embedded_test

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/embedded"
)

func TestFullDisksAreTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	below := filepath.Join(dir, "not", "made", "yet")
	free, ok := embedded.FreeSpace(below)
	if !ok || free <= 0 {
		t.Fatalf("%d bytes are free, known: %v", free, ok)
	}
	if err := embedded.CheckRoom(dir); err != nil {
		t.Errorf("with room: %v", err)
	}
	full := embedded.CheckRoomOf(below, math.MaxInt64)
	if domain.CodeOf(full) != domain.CodeUnavailable || !strings.Contains(domain.PublicMessage(full), below) {
		t.Errorf("without room: %v", full)
	}

	if free, ok := embedded.FreeSpace("/proc/none"); ok && free == 0 {
		t.Error("a file system that holds no data is called full")
	}
	cause := errors.New("PostgreSQL ended")
	if got := embedded.OrBelow(0, cause, dir); got != cause {
		t.Errorf("an error with room: %v", got)
	}
	got := embedded.OrBelow(math.MaxInt64, cause, dir)
	if !errors.Is(got, cause) || !strings.HasPrefix(got.Error(), "the disk of "+dir) {
		t.Errorf("an error without room: %v", got)
	}
	if again := embedded.OrBelow(math.MaxInt64, got, dir); again != got {
		t.Errorf("told twice: %v", again)
	}
	taken := domain.Errorf(domain.CodeConflict, "the port is taken")
	if got := embedded.OrBelow(math.MaxInt64, taken, dir); got != error(taken) {
		t.Errorf("an error that has another reason: %v", got)
	}
	if embedded.OrBelow(math.MaxInt64, nil, dir) != nil {
		t.Error("no error became one")
	}
}

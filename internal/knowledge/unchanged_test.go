package knowledge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/knowledgetest"
)

func TestAnUnchangedFolderIsKnown(t *testing.T) {
	t.Parallel()
	c := checkout{t, t.TempDir()}
	c.write(map[string]string{
		"a.go": "package a\n", "data.bin": "\x00", "large.txt": strings.Repeat("x", 2<<20), "huge.go": "package a\n//" + strings.Repeat("x", 2<<20),
	})
	memory := knowledgetest.NewMemory()
	reader := newReader(t, memory, knowledgeOptions{})
	repo, ref := domain.Repository{Name: "r", URL: c.dir}, domain.VersionRef{Tag: domain.WorktreeVersion}
	unchanged := func(when string, want bool) {
		t.Helper()
		got, err := reader.Unchanged(t.Context(), repo, ref)
		if err != nil || got != want {
			t.Errorf("%s: unchanged is %v (%v), want %v", when, got, err, want)
		}
	}
	ingest := func() {
		t.Helper()
		if _, err := reader.Ingest(t.Context(), repo, ref, nil); err != nil {
			t.Fatal(err)
		}
	}
	unchanged("before it was read", false)
	ingest()
	unchanged("as it was read", true)
	for when, change := range map[string]map[string]string{
		"with a changed file": {"a.go": "package b\n"}, "with a new file": {"new.go": "package b\n"},
		"with another binary file": {"data.bin": "\x00\x00"}, "with another large file": {"large.txt": strings.Repeat("x", 2<<20+1)},
	} {
		c.write(change)
		unchanged(when, false)
		ingest()
		unchanged("read again "+when, true)
	}
	if err := os.Remove(filepath.Join(c.dir, "a.go")); err != nil {
		t.Fatal(err)
	}
	unchanged("without a file", false)
	ref.Commit = "0123456789012345678901234567890123456789"
	unchanged("of a commit", false)
	if got, err := newReader(t, memory, knowledgeOptions{namesOnly: true}).Unchanged(t.Context(), repo, domain.VersionRef{Tag: domain.WorktreeVersion}); got || err != nil {
		t.Errorf("by other rules: %v, %v", got, err)
	}
}

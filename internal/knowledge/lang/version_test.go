package lang_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/knowledge/lang"
)

// Blobs that were read once are not read again while Version stays: a change of what the
// extractors give must change it. The file keeps the hash of the goldens of each version.
func TestVersionFollowsTheGoldens(t *testing.T) {
	t.Parallel()
	if *update {
		t.Log("run again without -update")
		return
	}
	h := sha256.New()
	for _, name := range sampleNames(t) {
		golden, err := os.ReadFile(name[:strings.LastIndex(name, ".")] + ".golden")
		if err != nil {
			t.Fatal(err)
		}
		h.Write(golden)
	}
	line := lang.Version + " " + hex.EncodeToString(h.Sum(nil)[:16])
	kept, err := os.ReadFile("testdata/versions")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(kept), line+"\n") {
		t.Errorf("the goldens changed: raise lang.Version and add its line to testdata/versions:\n%s", line)
	}
}

func TestFilesWithoutAGrammarHaveALanguageOnly(t *testing.T) {
	t.Parallel()
	facts, err := lang.Extract(t.Context(), "docs/guide.md", []byte("# Guide\n"))
	if err != nil || facts.Language != "markdown" || len(facts.Symbols) != 0 {
		t.Errorf("got %+v, %v", facts, err)
	}
}

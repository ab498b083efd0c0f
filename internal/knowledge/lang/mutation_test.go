package lang_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/knowledge/lang"
)

var mutations = flag.Int("mutations", 20, "broken variants of each sample that TestBrokenSources reads")

// TestBrokenSources reads samples with pieces removed, doubled, moved and scrambled: what an
// editor saves in the middle of work. It reaches deeper into the grammars than bytes that a
// fuzzer makes up.
func TestBrokenSources(t *testing.T) {
	t.Parallel()
	for seed, name := range sampleNames(t) {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(uint64(seed), 1))
			for range *mutations {
				broken := src
				for range 1 + random.IntN(6) {
					broken = mutate(random, broken)
				}
				facts, err := lang.Extract(t.Context(), name, broken)
				if err != nil {
					if domain.CodeOf(err) != domain.CodeUnprocessable {
						t.Fatalf("%v in:\n%s", err, broken)
					}
					continue
				}
				check(t, facts, strings.Count(string(broken), "\n")+1)
			}
		})
	}
}

const signs = "(){}[]<>;,.:=\"'`#@!\n\t abc0\x00\xff"

// mutate gives a copy of src with one change.
func mutate(random *rand.Rand, src []byte) []byte {
	if len(src) == 0 {
		return src
	}
	from := random.IntN(len(src))
	to := min(len(src), from+1+random.IntN(200))
	piece, rest := src[from:to], src[to:]
	out := append([]byte(nil), src[:from]...)
	switch random.IntN(4) {
	case 0: // removed
	case 1: // doubled
		out = append(append(out, piece...), piece...)
	case 2: // moved to the end
		return append(append(out, rest...), piece...)
	case 3: // scrambled
		for range piece {
			out = append(out, signs[random.IntN(len(signs))])
		}
	}
	return append(out, rest...)
}

// Package graphtest is the suite that judges every graph backend together with the sources
// it stands on. It states what graph.Sources and graph.Backend promise; run it on real servers.
package graphtest

import (
	"context"
	"testing"

	"github.com/harvest-engine/harvest/internal/graph"
)

// Open gives the sources and the backend to judge. They are used by many tests at once, each
// with repositories of its own.
type Open func(t testing.TB) (graph.Sources, graph.Backend)

// Run runs the whole suite.
func Run(t *testing.T, open Open) {
	t.Helper()
	sources, backend := open(t)
	if err := backend.Check(context.Background()); err != nil {
		t.Fatalf("the backend does not answer: %v", err)
	}
	tests := []struct {
		name string
		run  func(*world)
	}{
		{"blobs are stored once", testBlobs},
		{"repositories", testRepositories},
		{"a file can be read", testReadFile},
		{"files are listed by pattern", testFiles},
		{"text is searched by words", testSearchWords},
		{"text is searched by expression", testSearchExpression},
		{"text search is bounded", testSearchTextBounds},
		{"long texts are searched in windows", testSearchLongTexts},
		{"a version appears whole", testPublishAtomic},
		{"a version that is read again replaces the last", testReload},
		{"readers never see half a version", testReadersDuringReload},
		{"versions differ", testVersionsDiffer},
		{"a discarded load leaves nothing to see", testDiscard},
		{"a load can be repeated", testRepeatedLoad},
		{"housekeeping", testHousekeep},
		{"versions load at once", testConcurrentLoads},
		{"staleness", testStale},
		{"unknown names list what there is", testUnknown},
		{"deletion", testDelete},
		{"names with slashes and of any script", testNames},
		{"symbols of one name in a file", testSameName},
		{"symbols of one name on a line", testOneLine},
		{"symbols are found by reference", testFindSymbols},
		{"symbols at a line", testSymbolsAtLine},
		{"file symbols", testFileSymbols},
		{"search ranks names", testSearchRanks},
		{"search finds likenesses", testSearchFuzzy},
		{"search keeps to its scope", testSearchScope},
		{"search is bounded", testSearchLimit},
		{"imports", testImports},
		{"callers and callees", testCallers},
		{"callers of callers, with cycles", testCallersDepth},
		{"callers are bounded", testCallersLimit},
		{"references", testReferences},
		{"edges keep to their version", testEdgesByVersion},
		{"paths", testPath},
		{"outline", testOutline},
		{"picture", testPicture},
		{"picture is trimmed in order", testPictureTrim},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(newWorld(t, sources, backend))
		})
	}
}

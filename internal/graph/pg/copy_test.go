package pg_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// Rows are sent in chunks: of many more than one chunk holds, each arrives as it was written.
func TestRowsArriveAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	const symbols = 3000
	pool := testkit.Postgres(t)
	store := pg.New(pool)
	file, blob, _ := content("f.go", 1)
	file.Facts.Symbols, file.Edges = nil, nil
	for i := range symbols {
		file.Facts.Symbols = append(file.Facts.Symbols, domain.Symbol{
			Name: fmt.Sprintf("Grüße%d", i), Receiver: "T", Kind: domain.KindMethod, StartLine: i + 1, EndLine: i + 2,
			Exported: i%2 == 0, Signature: strings.Repeat("s", i%300), Doc: "a\x00b",
		})
		file.Edges = append(file.Edges, domain.Edge{From: i, To: domain.SymbolKey{Path: "g.go", Local: "F"}, Kind: domain.EdgeUses, Line: i + 1, How: domain.HowScoped})
	}
	blob.Facts = *file.Facts
	put(t, store, file, blob)
	var wrong, right int
	err := pool.QueryRow(t.Context(), `
		select count(*) filter (where not (name = 'Grüße' || ord and receiver = 'T' and start_line = ord + 1 and end_line = ord + 2
			and exported = (ord % 2 = 0) and signature = repeat('s', ord % 300) and doc = U&'a\FFFDb' and nth = 0 and not class and not dup
			and folded = 'grüße' || ord and words = ' grüße ' || ord)),
			(select count(distinct e.src_key) from edges e where e.line = e.src_ord + 1) from symbols`).Scan(&wrong, &right)
	if err != nil || wrong != 0 || right != symbols {
		t.Errorf("%d symbols are wrong, %d of %d edges are right: %v", wrong, right, symbols, err)
	}
}

// A fault amid the rows is told, and leaves nothing behind.
func TestAFaultAmidRowsIsTold(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t)
	store := pg.New(pool)
	file, blob, _ := content("f.go", 1)
	file.Edges = append(file.Edges, domain.Edge{From: 7, To: file.Edges[0].To, Kind: domain.EdgeCalls, Line: 2})
	before := counts(t, pool)
	if _, err := store.SaveRepository(t.Context(), domain.Repository{Name: "r"}); err != nil {
		t.Fatal(err)
	}
	loader, err := store.Stage(t.Context(), graph.VersionSpec{Repo: "r", Tag: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.PutBlobs(t.Context(), []graph.Blob{blob}); err != nil {
		t.Fatal(err)
	}
	err = loader.Put(t.Context(), []graph.ResolvedFile{file})
	if err == nil || !strings.Contains(err.Error(), "edge 1 of f.go starts at symbol 7 of 2") {
		t.Errorf("got %v", err)
	}
	if after := counts(t, pool); after != strings.Replace(before, "0 blobs", "1 blobs", 1) {
		t.Errorf("%s were left behind", after)
	}
}

// put loads one file of a repository.
func put(t *testing.T, store *pg.Store, file graph.ResolvedFile, blob graph.Blob) {
	t.Helper()
	if _, err := store.SaveRepository(t.Context(), domain.Repository{Name: "r"}); err != nil {
		t.Fatal(err)
	}
	loader, err := store.Stage(t.Context(), graph.VersionSpec{Repo: "r", Tag: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.PutBlobs(t.Context(), []graph.Blob{blob}); err != nil {
		t.Fatal(err)
	}
	if err := loader.Put(t.Context(), []graph.ResolvedFile{file}); err != nil {
		t.Fatal(err)
	}
}

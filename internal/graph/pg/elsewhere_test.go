package pg_test

import (
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// TestGraphElsewhere: of a version that was read while another graph was in use this one has
// nothing, or what an earlier reading left. It says so in place of an answer.
func TestGraphElsewhere(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store := pg.New(testkit.Postgres(t))
	load(t, store, "v1", 1, 1) // what it leaves is not to be taken for the graph of what follows
	spec := graph.VersionSpec{Repo: "r", Tag: "v1"}
	publish := func() {
		t.Helper()
		reserved, err := store.Reserve(ctx, spec)
		if err != nil {
			t.Fatal(err)
		}
		_, _, kept := content("f0.go", 1)
		_, blob, fresh := content("new.go", 2)
		if err := store.PutBlobs(ctx, []graph.Blob{blob}); err != nil {
			t.Fatal(err)
		}
		if _, err := store.PublishAs(ctx, reserved, spec, []graph.VersionFile{kept, fresh}, 4); err != nil {
			t.Fatal(err)
		}
	}
	publish()
	ref, file := graph.SymbolRef{Repo: "r", Version: "v1", Name: "Two1"}, graph.FileRef{Repo: "r", Version: "v1", Path: "f0.go"}
	ask := func() map[string]error {
		errs := map[string]error{}
		_, errs["FindSymbols"] = store.FindSymbols(ctx, ref)
		_, errs["FindSymbols at a line"] = store.FindSymbols(ctx, graph.SymbolRef{Repo: "r", Version: "v1", File: "f0.go", Line: 1})
		_, errs["FileSymbols"] = store.FileSymbols(ctx, file)
		_, _, errs["SearchSymbols"] = store.SearchSymbols(ctx, graph.SymbolQuery{Text: "Two"})
		_, _, errs["Callers"] = store.Callers(ctx, ref, 1, 10)
		_, _, errs["Callees"] = store.Callees(ctx, graph.SymbolRef{Repo: "r", Version: "v1", Name: "One1"}, 10)
		_, _, errs["References"] = store.References(ctx, ref, 10)
		_, errs["Path"] = store.Path(ctx, graph.SymbolRef{Repo: "r", Version: "v1", Name: "One1"}, ref, 5)
		_, errs["Outline"] = store.Outline(ctx, "r", "v1")
		_, errs["Graph"] = store.Graph(ctx, "r", "v1", 10, 10)
		return errs
	}
	for what, err := range ask() {
		if domain.CodeOf(err) != domain.CodeNotFound || domain.PublicMessage(err) != "r:v1 is not in the graph in PostgreSQL: it was read while another was in use; ingest it again" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if v, err := store.Version(ctx, "r", "v1"); err != nil || !v.OtherGraph {
		t.Errorf("the version is %+v, %v", v, err)
	}
	if text, _, err := store.ReadFile(ctx, file, 1, 0); err != nil || text != "f0.go" {
		t.Errorf("its texts can't be read: %q, %v", text, err)
	}
	load(t, store, "v1", 1, 1)
	for what, err := range ask() {
		if err != nil {
			t.Errorf("read again, %s: %v", what, err)
		}
	}
	if v, err := store.Version(ctx, "r", "v1"); err != nil || v.OtherGraph {
		t.Errorf("read again, the version is %+v, %v", v, err)
	}
}

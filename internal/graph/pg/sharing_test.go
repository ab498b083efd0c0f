package pg_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

func id(parts ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(parts...)))
	return hex.EncodeToString(sum[:])
}

// content is a file of two symbols, the first of which calls the second.
func content(path string, generation int) (graph.ResolvedFile, graph.Blob, graph.VersionFile) {
	facts := domain.FileFacts{Language: "go", Symbols: []domain.Symbol{
		{Name: fmt.Sprintf("One%d", generation), Kind: domain.KindFunction, StartLine: 1, EndLine: 2},
		{Name: fmt.Sprintf("Two%d", generation), Kind: domain.KindFunction, StartLine: 3, EndLine: 4}}}
	blob := graph.Blob{ID: graph.BlobID(id("blob", path, generation)), Text: []byte(path), Size: 3, Facts: facts}
	file := graph.ResolvedFile{ID: graph.ResolvedID(id("resolved", path, generation)), Path: path, Blob: blob.ID, Facts: &facts,
		Edges: []domain.Edge{{From: 0, To: domain.SymbolKey{Path: path, Local: facts.Symbols[1].Name}, Kind: domain.EdgeCalls, Line: 2}}}
	return file, blob, graph.VersionFile{Path: path, Blob: blob.ID, Resolved: file.ID, Language: "go"}
}

// load publishes a version whose i-th file is of generations[i]; put says whether every file
// is given, or only what is missing.
func load(t *testing.T, store *pg.Store, tag string, generations ...int) {
	t.Helper()
	ctx := t.Context()
	if _, err := store.SaveRepository(ctx, domain.Repository{Name: "r"}); err != nil {
		t.Fatal(err)
	}
	loader, err := store.Stage(ctx, graph.VersionSpec{Repo: "r", Tag: tag})
	if err != nil {
		t.Fatal(err)
	}
	var files []graph.ResolvedFile
	var blobs []graph.Blob
	var listed []graph.VersionFile
	for i, generation := range generations {
		file, blob, entry := content(fmt.Sprintf("f%d.go", i), generation)
		files, blobs, listed = append(files, file), append(blobs, blob), append(listed, entry)
	}
	if err := store.PutBlobs(ctx, blobs); err != nil {
		t.Fatal(err)
	}
	if err := loader.Put(ctx, files); err != nil {
		t.Fatal(err)
	}
	_, err = loader.Publish(ctx, listed, func(context.Context, []graph.ResolvedID) ([]graph.ResolvedFile, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
}

// counts gives the numbers of rows of the shared tables.
func counts(t *testing.T, pool *pgxpool.Pool) string {
	t.Helper()
	var versions, files, resolutions, symbols, edges, blobs int
	err := pool.QueryRow(t.Context(), `select (select count(*) from versions), (select count(*) from source_files),
		(select count(*) from resolutions), (select count(*) from symbols), (select count(*) from edges), (select count(*) from source_blobs)`).
		Scan(&versions, &files, &resolutions, &symbols, &edges, &blobs)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d versions, %d files, %d resolutions, %d symbols, %d edges, %d blobs", versions, files, resolutions, symbols, edges, blobs)
}

func exec(t *testing.T, pool *pgxpool.Pool, sql string) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func TestVersionsShareWhatIsEqual(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t)
	store := pg.New(pool, pg.OnSweepError(func(err error) { t.Errorf("sweep: %v", err) }))
	step := func(what, want string) {
		t.Helper()
		if got := counts(t, pool); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	load(t, store, "v1", 1, 1, 1, 1)
	step("one version", "1 versions, 4 files, 4 resolutions, 8 symbols, 4 edges, 4 blobs")
	load(t, store, "v2", 1, 1, 1, 2)
	step("a second with one file changed", "2 versions, 5 files, 5 resolutions, 10 symbols, 5 edges, 5 blobs")
	load(t, store, "v2", 1, 1, 1, 2)
	step("the second again", "2 versions, 5 files, 5 resolutions, 10 symbols, 5 edges, 5 blobs")

	exec(t, pool, `update source_blobs set seen_at = now() - interval '2 hours'`)
	load(t, store, "v2", 1, 1, 3, 3)
	step("what only the version before had is gone", "2 versions, 6 files, 6 resolutions, 12 symbols, 6 edges, 6 blobs")

	// A load that was killed: its row stays, and so does what it put.
	file, blob, _ := content("killed.go", 1)
	killed, err := store.Stage(t.Context(), graph.VersionSpec{Repo: "r", Tag: "v3"})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.PutBlobs(t.Context(), []graph.Blob{blob}); err != nil {
		t.Fatal(err)
	}
	if err := killed.Put(t.Context(), []graph.ResolvedFile{file}); err != nil {
		t.Fatal(err)
	}
	load(t, store, "v2", 1, 1, 1, 1)
	step("nothing is removed beside a load", "3 versions, 7 files, 7 resolutions, 14 symbols, 7 edges, 7 blobs")
	exec(t, pool, `update graph_loads set seen_at = now() - interval '2 days'`)
	exec(t, pool, `update resolutions set seen_at = now() - interval '2 days'`)
	exec(t, pool, `update source_blobs set seen_at = now() - interval '2 days'`)
	exec(t, pool, `update graph_sweeps set at = now() - interval '2 days'`)
	load(t, store, "v2", 1, 1, 1, 1)
	step("a day after", "2 versions, 4 files, 4 resolutions, 8 symbols, 4 edges, 4 blobs")
	if err := store.DeleteRepository(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	step("deleted", "0 versions, 0 files, 0 resolutions, 0 symbols, 0 edges, 0 blobs")
}

// What was left behind goes also where nothing is ever read again.
func TestHousekeepingNeedsNoLoad(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t)
	store := pg.New(pool)
	step := func(what, want string) {
		t.Helper()
		if err := store.Housekeep(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got := counts(t, pool); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	load(t, store, "v1", 1, 1)
	file, blob, _ := content("killed.go", 1)
	killed, err := store.Stage(t.Context(), graph.VersionSpec{Repo: "r", Tag: "v2"})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.PutBlobs(t.Context(), []graph.Blob{blob}); err != nil {
		t.Fatal(err)
	}
	if err := killed.Put(t.Context(), []graph.ResolvedFile{file}); err != nil {
		t.Fatal(err)
	}
	load(t, store, "v1", 1, 2) // supersedes the first beside a load
	step("beside a load", "2 versions, 4 files, 4 resolutions, 8 symbols, 4 edges, 4 blobs")
	for _, table := range []string{"graph_loads", "resolutions", "source_blobs"} {
		exec(t, pool, `update `+table+` set seen_at = now() - interval '9 days'`)
	}
	step("after the load died", "1 versions, 3 files, 3 resolutions, 6 symbols, 3 edges, 3 blobs")
	exec(t, pool, `update graph_sweeps set at = now() - interval '2 days'`)
	step("a day after", "1 versions, 2 files, 2 resolutions, 4 symbols, 2 edges, 2 blobs")
}

func TestBlobsOfAnotherTypeAreMissing(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t)
	store := pg.New(pool)
	_, blob, _ := content("a.go", 1)
	if err := store.PutBlobs(t.Context(), []graph.Blob{blob}); err != nil {
		t.Fatal(err)
	}
	exec(t, pool, `update source_blobs set facts_type = 1, outline = '', details = ''`)
	missing, err := store.MissingBlobs(t.Context(), []graph.BlobID{blob.ID})
	if err != nil || len(missing) != 1 {
		t.Fatalf("missing are %v, %v; a blob whose facts have an older form should be", missing, err)
	}
	if err := store.PutBlobs(t.Context(), []graph.Blob{blob}); err != nil {
		t.Fatal(err)
	}
	facts, err := store.Facts(t.Context(), []graph.BlobID{blob.ID})
	if err != nil || facts[blob.ID] == nil || len(facts[blob.ID].Symbols) != 2 {
		t.Errorf("stored again: %v, %v", facts, err)
	}
}

func TestPublishNeedsWhatItLists(t *testing.T) {
	t.Parallel()
	store := pg.New(testkit.Postgres(t))
	load(t, store, "v1", 1)
	loader, err := store.Stage(t.Context(), graph.VersionSpec{Repo: "r", Tag: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	file, blob, entry := content("new.go", 1)
	publish := func(without string) {
		t.Helper()
		if _, err := loader.Publish(t.Context(), []graph.VersionFile{entry}, nil); domain.CodeOf(err) != domain.CodeUnavailable {
			t.Errorf("published without %s: %v", without, err)
		}
		if v, err := store.Version(t.Context(), "r", "v1"); err != nil || v.Symbols != 2 || v.Files != 1 {
			t.Errorf("without %s, the last whole version is %+v, %v", without, v, err)
		}
	}
	publish("its blob")
	if err := store.PutBlobs(t.Context(), []graph.Blob{blob}); err != nil {
		t.Fatal(err)
	}
	publish("its symbols and edges")
	elsewhere := file // the edges of an equal file at another place are not its own
	elsewhere.Path = "elsewhere.go"
	if err := loader.Put(t.Context(), []graph.ResolvedFile{elsewhere}); err != nil {
		t.Fatal(err)
	}
	publish("edges of its own")
}

// A disk without room is told as what it is: a reading waits for room.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t)
	store := pg.New(pool)
	exec(t, pool, `create function no_room() returns trigger language plpgsql as $$
begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
	for _, table := range []string{"source_blobs", "symbols"} {
		exec(t, pool, `create trigger no_room before insert on `+table+` execute function no_room()`)
	}
	if _, err := store.SaveRepository(t.Context(), domain.Repository{Name: "r"}); err != nil {
		t.Fatal(err)
	}
	file, blob, _ := content("a.go", 1)
	full := func(what string, err error) {
		t.Helper()
		if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(domain.PublicMessage(err), "disk") {
			t.Errorf("%s: %v", what, err)
		}
	}
	full("blobs", store.PutBlobs(t.Context(), []graph.Blob{blob}))
	exec(t, pool, `create or replace function no_room() returns trigger language plpgsql as $$
begin raise exception 'deadlock detected' using errcode = '40P01'; end $$`)
	if err := store.PutBlobs(t.Context(), []graph.Blob{blob}); domain.CodeOf(err) != domain.CodeUnavailable {
		t.Errorf("a deadlock, which passes: %v", err)
	}
	exec(t, pool, `create or replace function no_room() returns trigger language plpgsql as $$
begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
	exec(t, pool, `drop trigger no_room on source_blobs`)
	if err := store.PutBlobs(t.Context(), []graph.Blob{blob}); err != nil {
		t.Fatal(err)
	}
	loader, err := store.Stage(t.Context(), graph.VersionSpec{Repo: "r", Tag: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	full("symbols", loader.Put(t.Context(), []graph.ResolvedFile{file}))
}

func TestHashesAreChecked(t *testing.T) {
	t.Parallel()
	store := pg.New(testkit.Postgres(t))
	if _, err := store.MissingBlobs(t.Context(), []graph.BlobID{"no hash"}); domain.CodeOf(err) != domain.CodeInvalid {
		t.Errorf("a blob id that is no hash: %v", err)
	}
}

package pg_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// meddler does something after the statement that its countdown reaches.
type meddler struct {
	countdown int // 0: nothing more is done
	meddle    func()
}

func (m *meddler) ended() {
	if m.countdown--; m.countdown == 0 {
		m.meddle()
	}
}

func (m *meddler) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (m *meddler) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) { m.ended() }
func (m *meddler) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}
func (m *meddler) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (m *meddler) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     { m.ended() }

// turns are the two states between which a world changes: in the even ones each line stands
// elsewhere, there is no odd.go, and the repository "late" has a version.
type turns struct {
	*testing.T
	pool  *pgxpool.Pool
	store *pg.Store
	now   int
}

func (w *turns) turn() {
	w.now++
	// Nobody waits for contents any more, so that they go with their versions.
	exec(w.T, w.pool, `update source_blobs set seen_at = now() - interval '2 hours'`)
	w.load("r", w.files()...)
	if w.now%2 == 0 {
		w.load("late", w.file("late.go", "Late"))
	} else if err := w.store.DeleteRepository(w.Context(), "late"); err != nil && domain.CodeOf(err) != domain.CodeNotFound {
		w.Fatal(err)
	}
}

func (w *turns) files() []graph.ResolvedFile {
	hub := w.file("hub.go", "Hub")
	files := []graph.ResolvedFile{hub}
	for i := range 3 {
		user := w.file(fmt.Sprintf("user%d.go", i), fmt.Sprintf("User%d", i))
		user.Edges = []domain.Edge{{From: 0, To: domain.SymbolKey{Path: "hub.go", Local: "Hub"}, Kind: domain.EdgeCalls, Line: w.line()}}
		files = append(files, user)
	}
	if w.now%2 == 1 {
		files = append(files, w.file("odd.go", "Odd"))
	}
	return files
}

// line is where everything stands now.
func (w *turns) line() int { return 10 + w.now%2 }

func (w *turns) file(path, name string) graph.ResolvedFile {
	facts := domain.FileFacts{Language: "go", Imports: []domain.Import{{Target: "fmt", Line: w.line()}}, Symbols: []domain.Symbol{
		{Name: name, Kind: domain.KindFunction, StartLine: w.line(), EndLine: w.line() + 2, Exported: true}}}
	key := id(path, w.now%2)
	return graph.ResolvedFile{ID: graph.ResolvedID(key), Path: path, Blob: graph.BlobID(key), Facts: &facts}
}

func (w *turns) load(repo string, files ...graph.ResolvedFile) {
	w.Helper()
	ctx := w.Context()
	var blobs []graph.Blob
	var listed []graph.VersionFile
	for _, f := range files {
		text := strings.Repeat("\n", w.line()-1) + "the hub stands here\n"
		blobs = append(blobs, graph.Blob{ID: f.Blob, Text: []byte(text), Size: int64(len(text)), Facts: *f.Facts})
		listed = append(listed, graph.VersionFile{Path: f.Path, Blob: f.Blob, Resolved: f.ID, Language: "go"})
	}
	_, err := w.store.SaveRepository(ctx, domain.Repository{Name: repo})
	if err == nil {
		err = w.store.PutBlobs(ctx, blobs)
	}
	var loader graph.Loader
	if err == nil {
		loader, err = w.store.Stage(ctx, graph.VersionSpec{Repo: repo, Tag: "v"})
	}
	if err == nil {
		err = loader.Put(ctx, files)
	}
	if err == nil {
		_, err = loader.Publish(ctx, listed, nil)
	}
	if err != nil {
		w.Fatal(err)
	}
}

// questions are all that can be asked of a store; each answer names lines, and so its turn.
var questions = map[string]func(ctx context.Context, s *pg.Store) (any, error){
	"search names": func(ctx context.Context, s *pg.Store) (any, error) {
		hits, _, err := s.SearchSymbols(ctx, graph.SymbolQuery{Text: "user", Versions: []graph.VersionRef{{Repo: "r", Version: "v"}}})
		return lines(hits), err
	},
	"search names that look alike": func(ctx context.Context, s *pg.Store) (any, error) {
		hits, _, err := s.SearchSymbols(ctx, graph.SymbolQuery{Text: "Usser1"})
		return lines(hits), err
	},
	"search names in several": func(ctx context.Context, s *pg.Store) (any, error) {
		hits, _, err := s.SearchSymbols(ctx, graph.SymbolQuery{Text: "late", Versions: []graph.VersionRef{{Repo: "r"}, {Repo: "late"}}})
		return lines(hits), err
	},
	"search words": func(ctx context.Context, s *pg.Store) (any, error) {
		page, err := s.SearchText(ctx, graph.TextQuery{Pattern: "hub stands"})
		return page, err
	},
	"search an expression": func(ctx context.Context, s *pg.Store) (any, error) {
		page, err := s.SearchText(ctx, graph.TextQuery{Pattern: "^the hub", Regexp: true, Versions: []graph.VersionRef{{Repo: "r", Version: "v"}}})
		return page, err
	},
	"read a file": func(ctx context.Context, s *pg.Store) (any, error) {
		text, n, err := s.ReadFile(ctx, graph.FileRef{Repo: "r", Version: "v", Path: "hub.go"}, 1, 0)
		return fmt.Sprint(text, n), err
	},
	"read a file of one turn": func(ctx context.Context, s *pg.Store) (any, error) {
		text, n, err := s.ReadFile(ctx, graph.FileRef{Repo: "r", Version: "v", Path: "odd.go"}, 1, 0)
		return fmt.Sprint(text, n), err
	},
	"list files": func(ctx context.Context, s *pg.Store) (any, error) { return s.Files(ctx, "r", "v", "", 0) },
	"list files of one turn": func(ctx context.Context, s *pg.Store) (any, error) {
		return s.Files(ctx, "late", "v", "", 0)
	},
	"version of one turn": func(ctx context.Context, s *pg.Store) (any, error) {
		v, err := s.Version(ctx, "late", "v")
		return v.Files, err
	},
	"file symbols": func(ctx context.Context, s *pg.Store) (any, error) {
		hits, err := s.FileSymbols(ctx, graph.FileRef{Repo: "r", Version: "v", Path: "odd.go"})
		return lines(hits), err
	},
	"imports": func(ctx context.Context, s *pg.Store) (any, error) {
		return s.Imports(ctx, graph.FileRef{Repo: "r", Version: "v", Path: "odd.go"})
	},
	"find": func(ctx context.Context, s *pg.Store) (any, error) {
		hits, err := s.FindSymbols(ctx, graph.SymbolRef{Repo: "r", Version: "v", Name: "Odd"})
		return lines(hits), err
	},
	"find in a version of one turn": func(ctx context.Context, s *pg.Store) (any, error) {
		hits, err := s.FindSymbols(ctx, graph.SymbolRef{Repo: "late", Version: "v", Name: "Late"})
		return lines(hits), err
	},
	"find at a line": func(ctx context.Context, s *pg.Store) (any, error) {
		hits, err := s.FindSymbols(ctx, graph.SymbolRef{Repo: "r", Version: "v", File: "hub.go", Line: 10})
		return lines(hits), err
	},
	"callers": func(ctx context.Context, s *pg.Store) (any, error) {
		sites, _, err := s.Callers(ctx, graph.SymbolRef{Repo: "r", Version: "v", Name: "Hub"}, 3, 10)
		return sites, err
	},
	"callers of what is there in one turn": func(ctx context.Context, s *pg.Store) (any, error) {
		sites, _, err := s.Callers(ctx, graph.SymbolRef{Repo: "r", Version: "v", Name: "Odd"}, 1, 10)
		return sites, err
	},
	"callees": func(ctx context.Context, s *pg.Store) (any, error) {
		sites, _, err := s.Callees(ctx, graph.SymbolRef{Repo: "r", Version: "v", Name: "User1"}, 10)
		return sites, err
	},
	"references": func(ctx context.Context, s *pg.Store) (any, error) {
		sites, _, err := s.References(ctx, graph.SymbolRef{Repo: "r", Version: "v", Name: "Hub"}, 10)
		return sites, err
	},
	"path": func(ctx context.Context, s *pg.Store) (any, error) {
		return s.Path(ctx, graph.SymbolRef{Repo: "r", Version: "v", Name: "User2"}, graph.SymbolRef{Repo: "r", Version: "v", Name: "Hub"}, 5)
	},
	"path from what is there in one turn": func(ctx context.Context, s *pg.Store) (any, error) {
		return s.Path(ctx, graph.SymbolRef{Repo: "r", Version: "v", Name: "Odd"}, graph.SymbolRef{Repo: "r", Version: "v", Name: "Hub"}, 5)
	},
	"outline": func(ctx context.Context, s *pg.Store) (any, error) {
		o, err := s.Outline(ctx, "r", "v")
		return fmt.Sprint(o.Folders, lines(o.Central), o.Version.Files), err
	},
	"picture": func(ctx context.Context, s *pg.Store) (any, error) { return s.Graph(ctx, "r", "v", 100, 100) },
	"repositories": func(ctx context.Context, s *pg.Store) (any, error) {
		repos, err := s.Repositories(ctx)
		var counts []string
		for _, r := range repos {
			for _, v := range r.Versions {
				counts = append(counts, fmt.Sprint(r.Name, v.Files))
			}
		}
		return counts, err
	},
}

func lines(hits []graph.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s:%s:%d", h.Path, h.Local, h.StartLine))
	}
	return out
}

// TestEachReadIsOneSnapshot republishes after the first, the second and every further
// statement of each question: its answer must be one that was right at some moment.
func TestEachReadIsOneSnapshot(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t)
	w := &turns{T: t, pool: pool, store: pg.New(pool, pg.OnSweepError(func(err error) { t.Errorf("sweep: %v", err) }))}
	between := &meddler{meddle: w.turn}
	config := pool.Config()
	config.ConnConfig.Tracer = between
	traced, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(traced.Close)
	for name, ask := range questions {
		answer := func() string {
			value, err := ask(t.Context(), pg.New(traced)) // a store of its own each time: outlines are kept
			if code := domain.CodeOf(err); err != nil && code != domain.CodeNotFound {
				t.Errorf("%s: fails with %v", name, err)
			}
			return fmt.Sprintf("%+v %v", value, err)
		}
		between.countdown = 0
		w.turn()
		right := []string{answer()}
		w.turn()
		right = append(right, answer())
		if right[0] == right[1] {
			t.Fatalf("%s: both turns give %s", name, right[0])
		}
		for n := 1; ; n++ {
			between.countdown = n
			if got := answer(); !slices.Contains(right, got) {
				t.Errorf("%s, read again after statement %d: %s\nwant %s\nor   %s", name, n, got, right[0], right[1])
			}
			if between.countdown > 0 {
				break // the question has fewer statements
			}
		}
	}
}

package graphtest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

func testPublishAtomic(w *world) {
	w.save(w.repo)
	files := []file{
		{path: "a.go", text: "a", symbols: []domain.Symbol{fn("Alpha"+w.mark, 1)}},
		{path: "b.go", text: "b", symbols: []domain.Symbol{fn("Beta", 1), fn("Gamma", 5)}, edges: []edge{call("Beta", "a.go:Alpha"+w.mark, 2)}},
	}
	s := w.stage("v1", files...)
	_, err := w.sources.Version(w.ctx, w.repo, "v1")
	w.fails(err, domain.CodeNotFound)
	_, err = w.backend.FindSymbols(w.ctx, w.ref("v1", "Beta"))
	w.fails(err, domain.CodeNotFound)
	w.same("found before publication", w.everywhere("Alpha"+w.mark))

	detail := w.publish(s, files)
	if detail.Tag != "v1" || detail.Repo != w.repo || detail.Files != 2 || detail.Symbols != 3 || detail.Commit != "commit-of-v1" ||
		detail.CommittedAt == nil || detail.CommittedAt.Unix() != 1_700_000_000 || detail.IngestedAt.IsZero() || detail.Stale {
		w.Errorf("published as %+v", detail)
	}
	w.same("found after publication", ids(must(w.backend.FindSymbols(w.ctx, w.ref("v1", "Beta")))(w)), "b.go:Beta")
	w.same("searched after publication", w.everywhere("Alpha"+w.mark), "a.go:Alpha"+w.mark)
}

func testReload(w *world) {
	first := []file{
		{path: "a.go", text: "a1", symbols: []domain.Symbol{fn("Old", 1), fn("Kept", 5)}},
		{path: "b.go", text: "b", symbols: []domain.Symbol{fn("User", 1)}, edges: []edge{call("User", "a.go:Old", 2), call("User", "a.go:Kept", 3)}},
		{path: "gone.go", text: "gone", symbols: []domain.Symbol{fn("Gone", 1)}},
	}
	before := w.load("main", first...)
	second := []file{
		{path: "a.go", text: "a2", symbols: []domain.Symbol{fn("New", 1), fn("Kept", 9)}},
		{path: "b.go", text: "b", symbols: first[1].symbols, edges: []edge{call("User", "a.go:Kept", 3)}},
	}
	s := w.stage("main", second...)
	w.same("served while it is read again", ids(must(w.backend.FindSymbols(w.ctx, w.ref("main", "Gone")))(w)), "gone.go:Gone")
	w.same("calls while it is read again", places(w.callees("main", "User")), "a.go:Old@b.go:2", "a.go:Kept@b.go:3")
	after := w.publish(s, second)
	if after.ID == before.ID || after.Files != 2 || after.Symbols != 3 {
		w.Errorf("published as %+v after %+v", after, before)
	}
	w.same("gone", ids(must(w.backend.FindSymbols(w.ctx, w.ref("main", "Gone")))(w)))
	w.same("old", ids(must(w.backend.FindSymbols(w.ctx, w.ref("main", "Old")))(w)))
	kept := must(w.backend.FindSymbols(w.ctx, w.ref("main", "Kept")))(w)
	if len(kept) != 1 || kept[0].StartLine != 9 {
		w.Errorf("Kept is now %+v", kept)
	}
	w.same("calls", places(w.callees("main", "User")), "a.go:Kept@b.go:3")
	w.same("the one before is gone", versionTags(must(w.sources.Repository(w.ctx, w.repo))(w)), "main")
	text, _, err := w.sources.ReadFile(w.ctx, graph.FileRef{Repo: w.repo, Version: "main", Path: "a.go"}, 1, 0)
	w.ok(err)
	w.same("text", []string{text}, "a2")
}

// everywhere gives the symbols of exactly this name that a search over everything finds.
func (w *world) everywhere(name string) []string {
	w.Helper()
	hits, _, err := w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: name})
	w.ok(err)
	return ids(slices.DeleteFunc(hits, func(h graph.Hit) bool { return h.Name != name }))
}

func versionTags(repo domain.Repository) []string {
	var tags []string
	for _, v := range repo.Versions {
		tags = append(tags, v.Tag)
	}
	return tags
}

func (w *world) callees(version, name string) []graph.Site {
	w.Helper()
	sites, _, err := w.backend.Callees(w.ctx, w.ref(version, name), 100)
	w.ok(err)
	return sites
}

func (w *world) callers(version, name string, depth int) []graph.Site {
	w.Helper()
	sites, _, err := w.backend.Callers(w.ctx, w.ref(version, name), depth, 100)
	w.ok(err)
	return sites
}

// generation is a version whose every symbol and edge carries a number.
func generation(n int) []file {
	var files []file
	for i := range 8 {
		f := file{path: fmt.Sprintf("f%d.go", i), text: fmt.Sprintf("generation %d of %d", n, i),
			symbols: []domain.Symbol{fn(fmt.Sprintf("F%d", i), 10*n), fn(fmt.Sprintf("G%dOf%d", n, i), 10*n+5)}}
		if i > 0 {
			f.edges = []edge{call(fmt.Sprintf("F%d", i), "f0.go:F0", 10*n+1)}
		}
		files = append(files, f)
	}
	return files
}

func testReadersDuringReload(w *world) {
	w.load("main", generation(1)...)
	ctx, stop := context.WithCancel(w.ctx)
	defer stop()
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for ctx.Err() == nil {
				sites, _, err := w.backend.Callers(w.ctx, w.ref("main", "F0"), 1, 100)
				if err != nil {
					w.Errorf("while it is read again: %v", err)
					return
				}
				if len(sites) != 7 {
					w.Errorf("%d callers while it is read again, want 7", len(sites))
					return
				}
				for _, s := range sites {
					if s.Line != sites[0].Line {
						w.Errorf("callers of two generations: lines %d and %d", s.Line, sites[0].Line)
						return
					}
				}
			}
		})
	}
	for n := 2; n <= 5; n++ {
		w.load("main", generation(n)...)
	}
	stop()
	readers.Wait()
}

func testVersionsDiffer(w *world) {
	shared := file{path: "shared.go", text: "shared", symbols: []domain.Symbol{fn("Shared", 1)}, edges: []edge{call("Shared", "a.go:Target", 2)}}
	w.load("v1", shared, file{path: "a.go", text: "a1", symbols: []domain.Symbol{fn("Target", 1), fn("OnlyOne", 5)}})
	w.load("v2", shared, file{path: "a.go", text: "a2", symbols: []domain.Symbol{fn("OnlyTwo", 1), fn("Target", 8)}})
	for version, line := range map[string]int{"v1": 1, "v2": 8} {
		sites := w.callees(version, "Shared")
		if len(sites) != 1 || sites[0].StartLine != line || sites[0].Version != version {
			w.Errorf("in %s Shared calls %+v, want Target at line %d", version, sites, line)
		}
	}
	w.same("only in v1", ids(must(w.backend.FindSymbols(w.ctx, w.ref("v2", "OnlyOne")))(w)))
	w.same("only in v2", ids(must(w.backend.FindSymbols(w.ctx, w.ref("v2", "OnlyTwo")))(w)), "a.go:OnlyTwo")
	w.load("v2", shared)
	w.same("v1 is untouched", places(w.callees("v1", "Shared")), "a.go:Target@shared.go:2")
	w.same("an edge whose target is gone", places(w.callees("v2", "Shared")))
}

func testDiscard(w *world) {
	w.save(w.repo)
	files := []file{{path: "a.go", text: "a", symbols: []domain.Symbol{fn("Dropped"+w.mark, 1)}}}
	s := w.stage("v1", files...)
	w.ok(s.Discard(w.ctx))
	_, err := w.sources.Version(w.ctx, w.repo, "v1")
	w.fails(err, domain.CodeNotFound)
	w.same("found after the discard", w.everywhere("Dropped"+w.mark))
	w.load("v1", files...)
	w.same("loaded after the discard", ids(must(w.backend.FindSymbols(w.ctx, w.ref("v1", "Dropped"+w.mark)))(w)), "a.go:Dropped"+w.mark)
}

// testHousekeep: what is whole and what is under way is left alone.
func testHousekeep(w *world) {
	keeper, ok := w.backend.(interface{ Housekeep(context.Context) error })
	if !ok {
		w.Fatalf("%T keeps no house", w.backend)
	}
	w.load("v1", generation(1)...)
	s := w.stage("v2", generation(2)...)
	w.ok(keeper.Housekeep(w.ctx))
	if n := len(w.callers("v1", "F0", 1)); n != 7 {
		w.Errorf("%d callers after housekeeping, want 7", n)
	}
	w.publish(s, generation(2))
	w.load("v1", generation(2)...)
	w.ok(keeper.Housekeep(w.ctx))
	for _, tag := range []string{"v1", "v2"} {
		if n := len(w.callers(tag, "F0", 1)); n != 7 {
			w.Errorf("%d callers in %s after housekeeping, want 7", n, tag)
		}
	}
}

func testRepeatedLoad(w *world) {
	files := generation(1)
	w.save(w.repo)
	w.stage("v1", files[:4]...) // killed in the middle: neither published nor discarded
	detail := w.load("v1", files...)
	if detail.Symbols != 16 {
		w.Errorf("%d symbols, want 16", detail.Symbols)
	}
	if n := len(w.callers("v1", "F0", 1)); n != 7 {
		w.Errorf("%d callers, want 7", n)
	}
	s := w.stage("v1", files...)
	for range 2 { // what is given twice counts once
		w.ok(s.Put(w.ctx, []graph.ResolvedFile{files[1].resolved(w)}))
	}
	w.publish(s, files)
	if n := len(w.callers("v1", "F0", 1)); n != 7 {
		w.Errorf("%d callers after the second load, want 7", n)
	}
}

func testConcurrentLoads(w *world) {
	w.save(w.repo)
	var loads sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		loads.Go(func() {
			files := append(generation(1), generation(i + 2)[3])
			files[8].path = "extra.go"
			s, err := w.tryStage(w.repo, fmt.Sprintf("v%d", i%4), files...)
			if err == nil {
				_, err = w.tryPublish(s, files)
			}
			errs[i] = err
		})
	}
	loads.Wait()
	for i, err := range errs {
		if err != nil {
			w.Errorf("load %d: %v", i, err)
		}
	}
	for i := range 4 {
		version := fmt.Sprintf("v%d", i)
		if n := len(w.callers(version, "F0", 1)); n != 8 {
			w.Errorf("%s has %d callers of F0, want 8", version, n)
		}
		if got := must(w.sources.Version(w.ctx, w.repo, version))(w); got.Files != 9 || got.Symbols != 18 {
			w.Errorf("%s is %+v", version, got)
		}
	}
}

func testStale(w *world) {
	w.load("main", file{path: "a", text: "a"})
	stale := func() bool { return must(w.sources.Version(w.ctx, w.repo, "main"))(w).Stale }
	if stale() {
		w.Error("stale before the ref was ever seen")
	}
	w.ok(w.sources.NoteRef(w.ctx, w.repo, "main", "commit-of-main"))
	if stale() {
		w.Error("stale at its own commit")
	}
	w.ok(w.sources.NoteRef(w.ctx, w.repo, "main", "another"))
	if !stale() {
		w.Error("not stale though the ref has moved")
	}
	repo := must(w.sources.Repository(w.ctx, w.repo))(w)
	if len(repo.Versions) != 1 || !repo.Versions[0].Stale {
		w.Errorf("the repository tells of %+v", repo.Versions)
	}
	w.fails(w.sources.NoteRef(w.ctx, w.repo+"-unknown", "main", "x"), domain.CodeNotFound, w.repo+"-unknown")
}

func testUnknown(w *world) {
	w.load("v1", file{path: "a.go", text: "a", symbols: []domain.Symbol{fn("Alpha", 1)}})
	w.load("v2", file{path: "a.go", text: "a", symbols: []domain.Symbol{fn("Alpha", 1)}})
	at := func(repo, version string) map[string]error {
		ref := graph.SymbolRef{Repo: repo, Version: version, Name: "Alpha"}
		file := graph.FileRef{Repo: repo, Version: version, Path: "a.go"}
		errs := map[string]error{}
		_, errs["Version"] = w.sources.Version(w.ctx, repo, version)
		_, errs["Files"] = w.sources.Files(w.ctx, repo, version, "", 0)
		_, _, errs["ReadFile"] = w.sources.ReadFile(w.ctx, file, 1, 0)
		_, errs["SearchText"] = w.sources.SearchText(w.ctx, graph.TextQuery{Pattern: "a", Versions: []graph.VersionRef{{Repo: repo, Version: version}}})
		_, errs["FindSymbols"] = w.backend.FindSymbols(w.ctx, ref)
		_, errs["FileSymbols"] = w.backend.FileSymbols(w.ctx, file)
		_, errs["Imports"] = w.backend.Imports(w.ctx, file)
		_, _, errs["SearchSymbols"] = w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: "Alpha", Versions: []graph.VersionRef{{Repo: repo, Version: version}}})
		_, _, errs["Callers"] = w.backend.Callers(w.ctx, ref, 1, 10)
		_, _, errs["Callees"] = w.backend.Callees(w.ctx, ref, 10)
		_, _, errs["References"] = w.backend.References(w.ctx, ref, 10)
		_, errs["Path"] = w.backend.Path(w.ctx, ref, ref, 5)
		_, errs["Outline"] = w.backend.Outline(w.ctx, repo, version)
		_, errs["Graph"] = w.backend.Graph(w.ctx, repo, version, 10, 10)
		return errs
	}
	for method, err := range at(w.repo, "v3") {
		if domain.CodeOf(err) != domain.CodeNotFound {
			w.Errorf("%s of an unknown version: %v", method, err)
			continue
		}
		w.fails(err, domain.CodeNotFound, "v3", "v1", "v2")
	}
	for method, err := range at(w.repo+"-unknown", "v1") {
		if domain.CodeOf(err) != domain.CodeNotFound {
			w.Errorf("%s of an unknown repository: %v", method, err)
		}
	}
	_, err := w.sources.Repository(w.ctx, w.repo+"-unknown")
	w.fails(err, domain.CodeNotFound, w.repo+"-unknown")
	_, err = w.backend.FileSymbols(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "lib/a.go"})
	w.fails(err, domain.CodeNotFound, "lib/a.go", "there is a.go")
	_, _, err = w.sources.ReadFile(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "A.GO"}, 1, 0)
	w.fails(err, domain.CodeNotFound, "there is a.go")
	_, err = w.backend.Stage(w.ctx, graph.VersionSpec{Repo: w.repo + "-unknown", Tag: "v1"})
	w.fails(err, domain.CodeNotFound)
}

func testDelete(w *world) {
	other := w.repo + "/other"
	common := file{path: "common.go", text: "common " + w.mark, symbols: []domain.Symbol{fn("Common", 1), fn("Called", 5)},
		edges: []edge{call("Common", "common.go:Called", 2)}}
	own := file{path: "own.go", text: "own " + w.mark, symbols: []domain.Symbol{fn("Own"+w.mark, 1)}}
	w.load("v1", common, own)
	w.save(other)
	s := must(w.tryStage(other, "v1", common))(w)
	w.publish(s, []file{common}) // the same file, with the same edges
	ref := graph.SymbolRef{Repo: other, Version: "v1", Name: "Called"}
	callers := func() []graph.Site { found, _, err := w.backend.Callers(w.ctx, ref, 1, 10); w.ok(err); return found }
	w.same("callers in the other repository", places(callers()), "common.go:Common@common.go:2")

	w.ok(w.backend.DropRepository(w.ctx, w.repo))
	if err := w.sources.DeleteRepository(w.ctx, w.repo); err != nil {
		w.fails(err, domain.CodeNotFound) // the backend may be the sources, and have deleted it
	}
	_, err := w.sources.Repository(w.ctx, w.repo)
	w.fails(err, domain.CodeNotFound)
	w.same("found after deletion", w.everywhere("Own"+w.mark))
	missing := must(w.sources.MissingBlobs(w.ctx, []graph.BlobID{common.blobID(), own.blobID()}))(w)
	if len(missing) != 1 || missing[0] != own.blobID() {
		w.Errorf("missing after deletion are %v; only the blob that no other repository uses should be", missing)
	}
	w.same("the other repository", ids(must(w.backend.FindSymbols(w.ctx, ref))(w)), "common.go:Called")
	w.same("callers in the other repository after deletion", places(callers()), "common.go:Common@common.go:2")
	w.fails(w.sources.DeleteRepository(w.ctx, w.repo), domain.CodeNotFound)
}

func testNames(w *world) {
	w.repo += "/größe/日本 x"
	tag := "release/1.0 β"
	path := "src/größe/日本/ünï code's.go"
	w.load(tag, file{path: path, text: "größe\n", symbols: []domain.Symbol{fn("größe"+w.mark, 1), fn("日本"+w.mark, 5), fn("operator<<", 9), fn("héllo'\"\\"+w.mark, 13)},
		edges: []edge{call("größe"+w.mark, path+":日本"+w.mark, 2), call("日本"+w.mark, path+":operator<<", 6)}})
	for _, name := range []string{"größe" + w.mark, "日本" + w.mark, "operator<<", "héllo'\"\\" + w.mark} {
		w.same(name, ids(must(w.backend.FindSymbols(w.ctx, w.ref(tag, name)))(w)), path+":"+name)
	}
	w.same("callees", places(w.callees(tag, "größe"+w.mark)), path+":日本"+w.mark+"@"+path+":2")
	w.same("callers", places(w.callers(tag, "operator<<", 1)), path+":日本"+w.mark+"@"+path+":6")
	hits, _, err := w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: "GRÖßE" + w.mark, Versions: w.in(tag)})
	w.ok(err)
	if len(hits) == 0 || hits[0].Name != "größe"+w.mark {
		w.Errorf("searched in capitals: %q", ids(hits))
	}
	text, _, err := w.sources.ReadFile(w.ctx, graph.FileRef{Repo: w.repo, Version: tag, Path: path}, 1, 1)
	w.ok(err)
	w.same("text", []string{text}, "größe\n")
	w.same("files", []string{must(w.sources.Files(w.ctx, w.repo, tag, "src/größe/**", 0))(w)[0].Path}, path)
	picture := must(w.backend.Graph(w.ctx, w.repo, tag, 10, 10))(w)
	if len(picture.Nodes) != 4 || len(picture.Edges) != 2 {
		w.Errorf("the picture has %d nodes and %d edges", len(picture.Nodes), len(picture.Edges))
	}
}

package graphtest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

func testBlobs(w *world) {
	full := domain.FileFacts{
		Language: "go", Package: "main", Errors: 2, Surface: "abc",
		Symbols: []domain.Symbol{{Name: "Run", Receiver: "App", Kind: domain.KindMethod, Signature: "func (a App) Run() error",
			Doc: "Run runs.", StartLine: 3, EndLine: 9, Exported: true, Type: "error",
			Bases:  []domain.TypeRef{{Name: "io.Reader", Kind: domain.EdgeEmbeds, Line: 4}},
			Fields: []domain.Field{{Name: "http", Type: "*http.Client"}}}},
		Imports:    []domain.Import{{Target: "net/http", Name: "*", Alias: "h", Line: 1}},
		References: []domain.Reference{{From: 0, Name: "Do", Receiver: "a.http", RecvType: "*http.Client", Kind: domain.EdgeCalls, Line: 5, Args: 1, Local: true}},
	}
	one := file{text: "one " + w.repo, facts: &full}.blob()
	two := file{text: "two " + w.repo, skipped: "binary", facts: &domain.FileFacts{}}.blob()
	ids := []graph.BlobID{two.ID, one.ID}
	if got := must(w.sources.MissingBlobs(w.ctx, ids))(w); !slices.Equal(got, ids) {
		w.Fatalf("missing at first: %v, want %v in this order", got, ids)
	}
	w.ok(w.sources.PutBlobs(w.ctx, []graph.Blob{one, two, one}))
	w.ok(w.sources.PutBlobs(w.ctx, []graph.Blob{one}))
	if got := must(w.sources.MissingBlobs(w.ctx, ids))(w); len(got) != 0 {
		w.Errorf("still missing: %v", got)
	}
	facts := must(w.sources.Facts(w.ctx, append(ids, graph.BlobID(hash("unknown")))))(w)
	if len(facts) != 2 {
		w.Fatalf("facts of %d blobs, want 2", len(facts))
	}
	if got := *facts[one.ID]; !reflect.DeepEqual(got, full) {
		w.Errorf("facts came back as\n%+v, want\n%+v", got, full)
	}
	outline := *must(w.sources.Outlines(w.ctx, ids))(w)[one.ID]
	bare := full
	bare.References, bare.Symbols = nil, slices.Clone(full.Symbols)
	bare.Symbols[0].Doc = ""
	if !reflect.DeepEqual(outline, bare) {
		w.Errorf("the outline came back as\n%+v, want\n%+v", outline, bare)
	}
}

func testRepositories(w *world) {
	repo := domain.Repository{Name: w.repo, URL: "https://example.org/x", Refs: []string{"main", "v1"}, AllTags: true, Watch: 5 * time.Minute}
	id := must(w.sources.SaveRepository(w.ctx, repo))(w)
	repo.URL, repo.Refs, repo.AllTags, repo.Worktree = "/srv/x", nil, false, true
	if again := must(w.sources.SaveRepository(w.ctx, repo))(w); again != id {
		w.Errorf("saved again under id %d, was %d", again, id)
	}
	w.publish(w.stage("v1"), nil)
	w.publish(w.stage("v2"), nil)
	w.stage("v3")
	got := must(w.sources.Repository(w.ctx, w.repo))(w)
	var tags []string
	for _, v := range got.Versions {
		tags = append(tags, v.Tag)
	}
	slices.Sort(tags)
	w.same("versions", tags, "v1", "v2")
	got.Versions, repo.ID = nil, id
	if got.Refs == nil {
		repo.Refs = nil
	} else {
		repo.Refs = []string{}
	}
	if !reflect.DeepEqual(got, repo) {
		w.Errorf("came back as %+v, want %+v", got, repo)
	}
	all := must(w.sources.Repositories(w.ctx))(w)
	if !slices.ContainsFunc(all, func(r domain.Repository) bool { return r.Name == w.repo && len(r.Versions) == 2 }) {
		w.Errorf("the list does not hold %s with two versions", w.repo)
	}
	if !slices.IsSortedFunc(all, func(a, b domain.Repository) int { return strings.Compare(a.Name, b.Name) }) {
		w.Error("the list is not ordered by name")
	}
	_, err := w.sources.SaveRepository(w.ctx, domain.Repository{})
	w.fails(err, domain.CodeInvalid)
}

func testReadFile(w *world) {
	w.load("v1",
		file{path: "a.txt", text: "one\ntwo\nthree\n"},
		file{path: "open.txt", text: "one\r\ntwo"},
		file{path: "empty.txt", text: ""},
		file{path: "logo.png", text: "\x89PNG", skipped: "binary"})
	for _, test := range []struct {
		path     string
		from, to int
		text     string
		lines    int
	}{
		{"a.txt", 1, 0, "one\ntwo\nthree\n", 3},
		{"a.txt", 0, 99, "one\ntwo\nthree\n", 3},
		{"a.txt", 2, 2, "two\n", 3},
		{"a.txt", 3, 3, "three\n", 3},
		{"a.txt", 4, 9, "", 3},
		{"open.txt", 2, 0, "two", 2},
		{"open.txt", 1, 1, "one\r\n", 2},
		{"empty.txt", 1, 0, "", 0},
	} {
		text, lines, err := w.sources.ReadFile(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: test.path}, test.from, test.to)
		w.ok(err)
		if text != test.text || lines != test.lines {
			w.Errorf("%s %d-%d: got %q of %d lines, want %q of %d", test.path, test.from, test.to, text, lines, test.text, test.lines)
		}
	}
	_, _, err := w.sources.ReadFile(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "logo.png"}, 1, 0)
	w.fails(err, domain.CodeUnprocessable, "binary")
	_, _, err = w.sources.ReadFile(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "src/a.txt"}, 1, 0)
	w.fails(err, domain.CodeNotFound, "src/a.txt", "there is a.txt")
	_, _, err = w.sources.ReadFile(w.ctx, graph.FileRef{Repo: w.repo, Version: "v9", Path: "a.txt"}, 1, 0)
	w.fails(err, domain.CodeNotFound, "v9", "v1")
}

func testFiles(w *world) {
	var files []file
	for _, path := range []string{"README.md", "cmd/main.go", "internal/a/a.go", "internal/a/a_test.go", "internal/b/deep/x.go", "web/app.tsx", "web/lib.ts"} {
		files = append(files, file{path: path, text: path})
	}
	files = append(files, file{path: "logo.png", text: "png", skipped: "binary", facts: &domain.FileFacts{}})
	w.load("v1", files...)
	for glob, want := range map[string]string{
		"":                  "README.md cmd/main.go internal/a/a.go internal/a/a_test.go internal/b/deep/x.go logo.png web/app.tsx web/lib.ts",
		"*.go":              "cmd/main.go internal/a/a.go internal/a/a_test.go internal/b/deep/x.go",
		"internal/*/*.go":   "internal/a/a.go internal/a/a_test.go",
		"internal/**/*.go":  "internal/a/a.go internal/a/a_test.go internal/b/deep/x.go",
		"**/a*.go":          "internal/a/a.go internal/a/a_test.go",
		"internal":          "internal/a/a.go internal/a/a_test.go internal/b/deep/x.go",
		"internal/b/":       "internal/b/deep/x.go",
		"*.{ts,tsx}":        "web/app.tsx web/lib.ts",
		"cmd/ma?n.go":       "cmd/main.go",
		"internal/[ab]/*":   "internal/a/a.go internal/a/a_test.go internal/b/deep/x.go",
		"cmd/main.go":       "cmd/main.go",
		"nothing/**":        "",
		"internal/a/a.go.x": "",
	} {
		got := must(w.sources.Files(w.ctx, w.repo, "v1", glob, 0))(w)
		var paths []string
		for _, f := range got {
			paths = append(paths, f.Path)
		}
		w.same(fmt.Sprintf("files of %q", glob), paths, strings.Fields(want)...)
	}
	two := must(w.sources.Files(w.ctx, w.repo, "v1", "", 2))(w)
	want := files[1].versionFile()
	if len(two) == 2 && two[1].Resolved == "" {
		want.Resolved = "" // the backend shares no edges, so nothing is known by that name
	}
	if len(two) != 2 || two[1] != want {
		w.Errorf("the first two files are %+v", two)
	}
	detail := must(w.sources.Version(w.ctx, w.repo, "v1"))(w)
	if detail.Files != 8 || detail.Skipped != (domain.SkipCount{Binary: 1}) {
		w.Errorf("the version tells of %d files, %+v", detail.Files, detail.Skipped)
	}
}

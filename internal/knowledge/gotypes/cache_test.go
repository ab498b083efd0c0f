package gotypes_test

import (
	"context"
	"maps"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/knowledge/gotypes"
)

// library is three packages, each of which imports the one before.
var library = map[string]string{
	"c/c.go": "package c\n\ntype Closer interface{ Close() }\n\ntype T struct{}\n\nfunc (T) Close() {}\n\nfunc New() T { return T{} }\n",
	"b/b.go": "package b\n\nimport \"example.com/m/c\"\n\nfunc Open() c.T { return c.New() }\n",
	"a/a.go": "package a\n\nimport (\n\t\"errors\"\n\n\t\"example.com/m/b\"\n)\n\ntype own struct{}\n\nfunc (own) Close() { b.Open().Close() }\n\nvar Err = errors.New(\"a\")\n",
}

// reading is a program over sources in memory that notes which were read.
type reading struct {
	*gotypes.Program
	read map[string]bool
}

func newReading(sources map[string]string, cache *gotypes.Cache, goroot string) reading {
	r := reading{read: map[string]bool{}}
	imports := map[string][]string{"a/a.go": {"errors", "example.com/m/b"}, "b/b.go": {"example.com/m/c"}}
	cfg := gotypes.Config{
		GOROOT: goroot, Cache: cache, Modules: []gotypes.Module{{Path: "example.com/m"}},
		Read: func(_ context.Context, paths []string) (map[string][]byte, error) {
			texts := map[string][]byte{}
			for _, p := range paths {
				texts[p], r.read[p] = []byte(sources[p]), true
			}
			return texts, nil
		},
	}
	for _, p := range slices.Sorted(maps.Keys(sources)) {
		cfg.Sources = append(cfg.Sources, gotypes.Source{
			Path: p, Package: path.Dir(p), Surface: strings.Join(strings.Fields(string(gotypes.Strip([]byte(sources[p])))), " "), Imports: imports[p],
		})
	}
	r.Program = gotypes.New(cfg)
	return r
}

// answers checks all files, or those of one folder.
func (r reading) answers(t *testing.T, dir string) map[string]*gotypes.Answers {
	t.Helper()
	all := map[string]*gotypes.Answers{}
	for _, pkg := range r.Packages() {
		if dir != "" && pkg.Dir != dir {
			continue
		}
		some, err := r.Check(t.Context(), pkg, pkg.Files)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(all, some)
	}
	return all
}

func TestDeclarationsAreRecalledAndNotReadAgain(t *testing.T) {
	t.Parallel()
	goroot := runtime.GOROOT()
	cache := gotypes.NewCache(1 << 20)
	newReading(library, cache, goroot).answers(t, "")

	changed := maps.Clone(library)
	changed["c/c.go"] = "package c\n\n// Closer closes.\ntype Closer interface{ Close() }\n\ntype T struct{}\n\nfunc (T) Close() {}\n\nfunc New() T {\n\tvar t T\n\treturn t\n}\n"
	again := newReading(changed, cache, goroot)
	got, want := again.answers(t, "a"), newReading(changed, nil, goroot).answers(t, "a")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("with what was kept\n%+v\nwithout\n%+v", got["a/a.go"], want["a/a.go"])
	}
	if len(want["a/a.go"].Calls) != 3 || len(want["a/a.go"].Implementations) != 1 {
		t.Errorf("the answers are %+v", want["a/a.go"])
	}
	if !maps.Equal(again.read, map[string]bool{"a/a.go": true}) {
		t.Errorf("read %v again", again.read)
	}
}

func TestDeclarationsThatChangedAreNotRecalled(t *testing.T) {
	t.Parallel()
	cache := gotypes.NewCache(1 << 20)
	newReading(library, cache, "").answers(t, "")
	changed := maps.Clone(library)
	changed["c/c.go"] = "package c\n\ntype T struct{}\n\nfunc New() T { return T{} }\n"
	got := newReading(changed, cache, "").answers(t, "a")["a/a.go"]
	if want := newReading(changed, nil, "").answers(t, "a")["a/a.go"]; !reflect.DeepEqual(got, want) {
		t.Errorf("with what was kept\n%+v\nwithout\n%+v", got, want)
	}
	if len(got.Implementations) != 0 {
		t.Errorf("%+v is said of an interface that is no more", got.Implementations)
	}
}

// A cache that is too small for what it is given loses declarations amid a program; what is
// said does not hang on that.
func TestAFullCacheChangesNoAnswer(t *testing.T) {
	t.Parallel()
	cache := gotypes.NewCache(1000)
	for range 2 {
		got, want := newReading(library, cache, "").answers(t, ""), newReading(library, nil, "").answers(t, "")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("with a small cache\n%+v\nwithout\n%+v", got["a/a.go"], want["a/a.go"])
		}
	}
}

package graph_test

import (
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/graph"
)

func TestOutlineCacheIsBounded(t *testing.T) {
	t.Parallel()
	outline := func(size int) graph.Outline {
		return graph.Outline{Folders: []graph.Folder{{Path: strings.Repeat("x", size)}}}
	}
	cache := graph.NewOutlineCache(10_000)
	kept := func(id int64) bool { _, ok := cache.Get(id); return ok }
	for id := range int64(3) {
		cache.Put(id, outline(2000))
	}
	if !kept(0) || !kept(1) || !kept(2) {
		t.Error("outlines that fit are not kept")
	}
	kept(0) // 1 is now the one that was not asked for the longest
	cache.Put(3, outline(4000))
	if kept(1) || !kept(0) || !kept(2) || !kept(3) {
		t.Errorf("after another: kept 0 %v, 1 %v, 2 %v, 3 %v; want all but 1", kept(0), kept(1), kept(2), kept(3))
	}
	cache.Put(4, outline(20_000))
	if kept(4) || !kept(3) {
		t.Error("one that is larger than the cache is kept, or drives the others out")
	}
	cache.Put(3, outline(10))
	if got, ok := cache.Get(3); !ok || len(got.Folders[0].Path) != 10 {
		t.Error("a second outline of an id does not replace the first")
	}
	for id := range int64(1000) {
		cache.Put(id, outline(1))
	}
	if kept(0) || !kept(999) {
		t.Error("a thousand small ones are all kept, or the last is not")
	}
}

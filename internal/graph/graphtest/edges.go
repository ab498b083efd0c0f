package graphtest

import (
	"fmt"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// kindEdge is an edge of any kind.
func kindEdge(kind domain.EdgeKind, from, to string, line int) edge {
	return edge{from, to, kind, line, domain.HowScoped}
}

// chainFiles is A → B → C → D, with C calling back to A, B calling itself, and main at
// file level calling A.
func chainFiles() []file {
	return []file{
		{path: "a.go", text: "a", symbols: []domain.Symbol{fn("A", 1)}, edges: []edge{call("A", "b.go:B", 2)}},
		{path: "b.go", text: "b", symbols: []domain.Symbol{fn("B", 1)}, edges: []edge{call("B", "c.go:C", 2), call("B", "b.go:B", 3)}},
		{path: "c.go", text: "c", symbols: []domain.Symbol{fn("C", 1)}, edges: []edge{call("C", "d.go:D", 2), call("C", "a.go:A", 3)}},
		{path: "d.go", text: "d", symbols: []domain.Symbol{fn("D", 1), fn("Alone", 9)}},
		{path: "main.py", text: "m", edges: []edge{call("", "a.go:A", 7)}},
	}
}

func testCallers(w *world) {
	w.load("v1", chainFiles()...)
	w.same("callers", places(w.callers("v1", "A", 1)), "c.go:C@c.go:3", "main.py:@main.py:7")
	w.same("callees", places(w.callees("v1", "C")), "d.go:D@c.go:2", "a.go:A@c.go:3")
	w.same("nobody calls", places(w.callers("v1", "Alone", 3)))
	site := w.callers("v1", "D", 1)[0]
	if site.Repo != w.repo || site.Version != "v1" || site.Kind != domain.EdgeCalls || site.How != domain.HowExact ||
		site.Symbol.Kind != domain.KindFunction || site.Signature != "func C()" || site.StartLine != 1 {
		w.Errorf("the caller of D is %+v", site)
	}
	_, _, err := w.backend.Callers(w.ctx, w.ref("v1", "Nobody"), 1, 10)
	w.fails(err, domain.CodeNotFound, "Nobody")
	_, _, err = w.backend.Callees(w.ctx, w.ref("v1", "Nobody"), 10)
	w.fails(err, domain.CodeNotFound, "Nobody")
}

func testCallersDepth(w *world) {
	w.load("v1", chainFiles()...)
	w.same("depth 1", places(w.callers("v1", "D", 1)), "c.go:C@c.go:2")
	w.same("depth 2", places(w.callers("v1", "D", 2)), "c.go:C@c.go:2", "b.go:B@b.go:2")
	w.same("depth 3", places(w.callers("v1", "D", 3)), "c.go:C@c.go:2", "b.go:B@b.go:2", "a.go:A@a.go:2", "b.go:B@b.go:3")
	w.same("depth 5", places(w.callers("v1", "D", 5)), "c.go:C@c.go:2", "b.go:B@b.go:2", "a.go:A@a.go:2", "b.go:B@b.go:3", "c.go:C@c.go:3", "main.py:@main.py:7")
	w.same("more than the most", places(w.callers("v1", "D", 50)), places(w.callers("v1", "D", 5))...)
}

func testCallersLimit(w *world) {
	files := []file{{path: "t.go", text: "t", symbols: []domain.Symbol{fn("Target", 1)}}}
	for i := range 12 {
		files = append(files, file{path: fmt.Sprintf("f%02d.go", i), text: fmt.Sprint(i), symbols: []domain.Symbol{fn(fmt.Sprintf("F%d", i), 1)},
			edges: []edge{call(fmt.Sprintf("F%d", i), "t.go:Target", 2)}})
	}
	w.load("v1", files...)
	for _, limit := range []int{1, 11} {
		sites, truncated, err := w.backend.Callers(w.ctx, w.ref("v1", "Target"), 1, limit)
		w.ok(err)
		if len(sites) != limit || !truncated {
			w.Errorf("limit %d: %d sites, truncated %v", limit, len(sites), truncated)
		}
	}
	sites, truncated, err := w.backend.Callers(w.ctx, w.ref("v1", "Target"), 1, 12)
	w.ok(err)
	if len(sites) != 12 || truncated {
		w.Errorf("limit 12: %d sites, truncated %v", len(sites), truncated)
	}
	_, truncated, err = w.backend.References(w.ctx, w.ref("v1", "Target"), 3)
	w.ok(err)
	if !truncated {
		w.Error("references are cut without a word")
	}
}

func testReferences(w *world) {
	w.load("v1",
		file{path: "base.ts", text: "b", symbols: []domain.Symbol{typ("Base", domain.KindInterface, 1), method("Base", "go", 2)}, edges: []edge{
			kindEdge(domain.EdgeContains, "Base", "base.ts:Base.go", 2)}},
		file{path: "use.ts", text: "u", symbols: []domain.Symbol{typ("Impl", domain.KindClass, 1), fn("make", 10)}, edges: []edge{
			kindEdge(domain.EdgeImplements, "Impl", "base.ts:Base", 1), kindEdge(domain.EdgeUses, "make", "base.ts:Base", 11),
			kindEdge(domain.EdgeInherits, "Impl", "base.ts:Base", 1), kindEdge(domain.EdgeEmbeds, "Impl", "base.ts:Base", 2),
			kindEdge(domain.EdgeUses, "", "base.ts:Base", 20), call("make", "base.ts:Base.go", 12)}})
	sites, truncated, err := w.backend.References(w.ctx, w.ref("v1", "Base"), 50)
	w.ok(err)
	var got []string
	for _, s := range sites {
		got = append(got, fmt.Sprintf("%s %s:%d %s", s.Kind, s.File, s.Line, s.Local))
	}
	if len(got) != 5 || truncated {
		w.Fatalf("references are %q", got)
	}
	joined := strings.Join(got, "\n")
	for _, want := range []string{"implements use.ts:1 Impl", "inherits use.ts:1 Impl", "embeds use.ts:2 Impl", "uses use.ts:11 make", "uses use.ts:20 "} {
		if !strings.Contains(joined, want) {
			w.Errorf("references lack %q: %q", want, got)
		}
	}
	sites, _, err = w.backend.References(w.ctx, w.ref("v1", "Base.go"), 50)
	w.ok(err)
	w.same("of a method", places(sites), "base.ts:Base@base.ts:2", "use.ts:make@use.ts:12")
	w.same("no call", places(w.callers("v1", "Base", 1)))
}

func testEdgesByVersion(w *world) {
	target := file{path: "t.go", text: "t", symbols: []domain.Symbol{fn("T", 1)}}
	caller := func(line int) file {
		return file{path: "c.go", text: "c", symbols: []domain.Symbol{fn("C", 1)}, edges: []edge{call("C", "t.go:T", line)}}
	}
	w.load("v1", target, caller(2))
	w.load("v2", target, caller(3)) // the same blob, resolved otherwise
	w.load("v3", target)
	w.same("v1", places(w.callers("v1", "T", 1)), "c.go:C@c.go:2")
	w.same("v2", places(w.callers("v2", "T", 1)), "c.go:C@c.go:3")
	w.same("v3", places(w.callers("v3", "T", 1)))
	w.same("callees in v2", places(w.callees("v2", "C")), "t.go:T@c.go:3")
	other := w.repo
	w.repo += "/fork"
	w.load("v1", target, caller(2))
	w.same("the fork", places(w.callers("v1", "T", 1)), "c.go:C@c.go:2")
	w.repo = other
	w.same("v1 beside its fork", places(w.callers("v1", "T", 5)), "c.go:C@c.go:2")
}

func testPath(w *world) {
	files := append(chainFiles(), file{path: "e.go", text: "e", symbols: []domain.Symbol{fn("E", 1)}, edges: []edge{
		call("E", "d.go:D", 5), call("E", "a.go:A", 4), kindEdge(domain.EdgeUses, "E", "d.go:Alone", 6)}})
	w.load("v1", files...)
	path := func(from, to string, depth int) []string {
		return places(must(w.backend.Path(w.ctx, w.ref("v1", from), w.ref("v1", to), depth))(w))
	}
	w.same("A to D", path("A", "D", 10), "a.go:A@:0", "b.go:B@a.go:2", "c.go:C@b.go:2", "d.go:D@c.go:2")
	w.same("the shortest", path("E", "D", 10), "e.go:E@:0", "d.go:D@e.go:5")
	w.same("to itself", path("A", "A", 10), "a.go:A@:0")
	w.same("around", path("C", "B", 10), "c.go:C@:0", "a.go:A@c.go:3", "b.go:B@a.go:2")
	w.same("too far", path("A", "D", 2))
	w.same("just far enough", path("A", "D", 3), path("A", "D", 10)...)
	w.same("against the calls", path("D", "A", 10))
	w.same("by uses only", path("E", "Alone", 10))
	_, err := w.backend.Path(w.ctx, w.ref("v1", "A"), w.ref("v1", "Nobody"), 5)
	w.fails(err, domain.CodeNotFound, "Nobody")
}

func testOutline(w *world) {
	w.load("v1",
		file{path: "README.md", text: "r", lang: "markdown"},
		file{path: "cmd/main.go", text: "m", symbols: []domain.Symbol{fn("main", 1)}, edges: []edge{call("main", "lib/core/core.go:Hub", 2), call("main", "lib/core/core.go:Other", 3)}},
		file{path: "lib/core/core.go", text: "c", symbols: []domain.Symbol{fn("Hub", 1), fn("Other", 5)}, edges: []edge{call("Other", "lib/core/core.go:Hub", 6)}},
		file{path: "lib/util.go", text: "u", symbols: []domain.Symbol{fn("Util", 1)}, edges: []edge{call("Util", "lib/core/core.go:Hub", 2)}})
	outline := must(w.backend.Outline(w.ctx, w.repo, "v1"))(w)
	if outline.Version.Tag != "v1" || outline.Version.Files != 4 || outline.Truncated {
		w.Errorf("the outline is of %+v, truncated %v", outline.Version, outline.Truncated)
	}
	if fmt.Sprint(outline.Languages) != "[{go 3} {markdown 1}]" {
		w.Errorf("languages are %v", outline.Languages)
	}
	folders := map[string]graph.Folder{}
	for _, f := range outline.Folders {
		folders[f.Path] = f
	}
	for path, want := range map[string]string{".": "4 4", "cmd": "1 1", "lib": "2 3", "lib/core": "1 2"} {
		if got := fmt.Sprint(folders[path].Files, folders[path].Symbols); got != want {
			w.Errorf("folder %s has %s files and symbols, want %s", path, got, want)
		}
	}
	w.same("key names of lib/core", folders["lib/core"].Key, "Hub", "Other")
	w.same("central", ids(outline.Central), "lib/core/core.go:Hub", "lib/core/core.go:Other")
}

func testPicture(w *world) {
	w.load("v1",
		file{path: "a.go", text: "a", symbols: []domain.Symbol{typ("T", domain.KindStruct, 1), method("T", "Do", 10)}, edges: []edge{
			kindEdge(domain.EdgeContains, "T", "a.go:T.Do", 10), call("T.Do", "b.go:Help", 11), call("T.Do", "b.go:Help", 12)}},
		file{path: "b.go", text: "b", symbols: []domain.Symbol{fn("Help", 1)}, edges: []edge{
			kindEdge(domain.EdgeUses, "Help", "a.go:T", 2), kindEdge(domain.EdgeUses, "", "a.go:T", 9), call("Help", "gone.go:Gone", 3)}})
	picture := must(w.backend.Graph(w.ctx, w.repo, "v1", 1500, 6000))(w)
	if picture.Truncated || picture.TotalNodes != 3 {
		w.Errorf("truncated %v, %d nodes in all", picture.Truncated, picture.TotalNodes)
	}
	var nodes, edges []string
	for _, n := range picture.Nodes {
		nodes = append(nodes, fmt.Sprintf("%s|%s|%s|%s|%d|%s", n.ID, n.Name, n.File, n.Kind, n.StartLine, n.Signature))
	}
	for _, e := range picture.Edges {
		edges = append(edges, fmt.Sprintf("%s|%s|%s|%s|%s", e.ID, e.Source, e.Target, e.Relation, e.How))
	}
	w.same("nodes", nodes, "a.go:T|T|a.go|struct|1|type T", "a.go:T.Do|Do|a.go|method|10|func (T) Do()", "b.go:Help|Help|b.go|function|1|func Help()")
	w.same("edges", edges,
		"contains:a.go:T>a.go:T.Do|a.go:T|a.go:T.Do|contains|scoped",
		"calls:a.go:T.Do>b.go:Help|a.go:T.Do|b.go:Help|calls|exact",
		"uses:b.go:Help>a.go:T|b.go:Help|a.go:T|uses|scoped")
}

func testPictureTrim(w *world) {
	var files []file
	for i := range 4 {
		path, class := fmt.Sprintf("f%d.go", i), fmt.Sprintf("T%d", i)
		f := file{path: path, text: path, symbols: []domain.Symbol{fn(fmt.Sprintf("F%d", i), 1), typ(class, domain.KindClass, 10), method(class, "M", 20)}}
		f.edges = []edge{call(f.symbols[0].Name, fmt.Sprintf("f%d.go:F%d", (i+1)%4, (i+1)%4), 2),
			kindEdge(domain.EdgeUses, class, fmt.Sprintf("f%d.go:T%d", (i+2)%4, (i+2)%4), 11),
			kindEdge(domain.EdgeInherits, class, fmt.Sprintf("f%d.go:T%d", (i+1)%4, (i+1)%4), 10),
			kindEdge(domain.EdgeContains, class, path+":"+class+".M", 20)}
		files = append(files, f)
	}
	w.load("v1", files...)
	picture := must(w.backend.Graph(w.ctx, w.repo, "v1", 6, 1000))(w)
	if len(picture.Nodes) != 6 || picture.TotalNodes != 12 || !picture.Truncated {
		w.Errorf("%d nodes of %d, truncated %v", len(picture.Nodes), picture.TotalNodes, picture.Truncated)
	}
	for i, n := range picture.Nodes {
		if isClass := n.Kind == "class"; isClass != (i < 4) {
			w.Errorf("node %d is %s; the four classes come first", i, n.ID)
		}
	}
	chosen := map[string]bool{}
	for _, n := range picture.Nodes {
		chosen[n.ID] = true
	}
	for _, e := range picture.Edges {
		if !chosen[e.Source] || !chosen[e.Target] {
			w.Errorf("edge %s leaves the picture", e.ID)
		}
	}
	picture = must(w.backend.Graph(w.ctx, w.repo, "v1", 1000, 10))(w)
	kinds := map[string]int{}
	for _, e := range picture.Edges {
		kinds[e.Relation]++
	}
	if fmt.Sprint(kinds) != "map[calls:2 contains:4 inherits:4]" || !picture.Truncated || len(picture.Nodes) != 12 {
		w.Errorf("ten edges of %d nodes are %v, truncated %v", len(picture.Nodes), kinds, picture.Truncated)
	}
}

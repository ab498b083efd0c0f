package graphtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

func testSameName(w *world) {
	w.load("v1",
		file{path: "a.py", text: "a", lang: "python", symbols: []domain.Symbol{fn("run", 1), fn("run", 10), method("A", "run", 20), method("B", "run", 30)},
			edges: []edge{call("run@10", "a.py:A.run", 11)}},
		file{path: "b.py", text: "b", lang: "python", symbols: []domain.Symbol{fn("main", 1)}, edges: []edge{
			call("main", "a.py:run", 2), call("main", "a.py:run@10", 3), call("main", "a.py:B.run", 4)}})
	find := func(ref graph.SymbolRef) []string { return ids(must(w.backend.FindSymbols(w.ctx, ref))(w)) }
	w.same("a bare name", find(w.ref("v1", "run")), "a.py:run", "a.py:A.run", "a.py:B.run", "a.py:run@10")
	w.same("with a receiver", find(w.ref("v1", "B.run")), "a.py:B.run")
	w.same("by local name", find(w.ref("v1", "run@10")), "a.py:run@10")
	w.same("by line", find(graph.SymbolRef{Repo: w.repo, Version: "v1", Name: "run", Line: 31}), "a.py:B.run")
	w.same("file symbols", ids(must(w.backend.FileSymbols(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "a.py"}))(w)),
		"a.py:run", "a.py:run@10", "a.py:A.run", "a.py:B.run")
	w.same("callees", places(w.callees("v1", "main")), "a.py:run@b.py:2", "a.py:run@10@b.py:3", "a.py:B.run@b.py:4")
	w.same("callers of the second", places(w.callers("v1", "run@10", 1)), "b.py:main@b.py:3")
	w.same("callers of the method", places(w.callers("v1", "A.run", 1)), "a.py:run@10@a.py:11")
	picture := must(w.backend.Graph(w.ctx, w.repo, "v1", 0, 0))(w)
	if len(picture.Nodes) != 5 || len(picture.Edges) != 4 {
		w.Errorf("the picture has %d nodes and %d edges, want 5 and 4", len(picture.Nodes), len(picture.Edges))
	}
}

// testOneLine has several symbols of one name on one line, as generated and minified code has.
func testOneLine(w *world) {
	w.load("v1", file{path: "a.js", text: "a", lang: "javascript", symbols: []domain.Symbol{fn("f", 1), fn("f", 9), fn("f", 9), fn("f", 9), fn("g", 12)},
		edges: []edge{call("g", "a.js:f@9.2", 13), call("f@9.3", "a.js:f@9", 10)}})
	w.same("each has a name of its own", ids(must(w.backend.FileSymbols(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "a.js"}))(w)),
		"a.js:f", "a.js:f@9", "a.js:f@9.2", "a.js:f@9.3", "a.js:g")
	w.same("and is found by it", ids(must(w.backend.FindSymbols(w.ctx, w.ref("v1", "f@9.3")))(w)), "a.js:f@9.3")
	w.same("callers of the second", places(w.callers("v1", "f@9.2", 1)), "a.js:g@a.js:13")
	w.same("callees of the third", places(w.callees("v1", "f@9.3")), "a.js:f@9@a.js:10")
}

func testFindSymbols(w *world) {
	w.load("v1",
		file{path: "net/http/server.go", text: "1", symbols: []domain.Symbol{typ("Server", domain.KindStruct, 1), method("Server", "Serve", 10), fn("Get", 20)}},
		file{path: "net/rpc/server.go", text: "2", symbols: []domain.Symbol{typ("Server", domain.KindStruct, 1), method("Server", "Accept", 10), fn("Dial", 20)}},
		file{path: "lib/Outer.java", text: "3", lang: "java", symbols: []domain.Symbol{method("Outer.Inner", "get", 1), method("Outer", "Get", 5)}},
		file{path: "infra/main.tf", text: "4", lang: "hcl", symbols: []domain.Symbol{{Name: "aws_instance.web", Kind: domain.KindModule, StartLine: 1, EndLine: 3}}},
		file{path: "net/http/server_test.go", text: "5", symbols: []domain.Symbol{fn("Dial", 1)}})
	for name, want := range map[string]string{
		"Server":                 "net/http/server.go:Server net/rpc/server.go:Server",
		"server":                 "",
		"Serve":                  "net/http/server.go:Server.Serve",
		"Server.Serve":           "net/http/server.go:Server.Serve",
		"(*Server).Serve":        "net/http/server.go:Server.Serve",
		"Server::Serve":          "net/http/server.go:Server.Serve",
		"Server#Accept":          "net/rpc/server.go:Server.Accept",
		"http.Server":            "net/http/server.go:Server",
		"net/http.Get":           "net/http/server.go:Get",
		"rpc.Get":                "",
		"Get":                    "net/http/server.go:Get lib/Outer.java:Outer.Get",
		"Inner.get":              "lib/Outer.java:Outer.Inner.get",
		"Outer.Inner.get":        "lib/Outer.java:Outer.Inner.get",
		"Outer.Inner.Get":        "",
		"aws_instance.web":       "infra/main.tf:aws_instance.web",
		"Get()":                  "net/http/server.go:Get lib/Outer.java:Outer.Get",
		"Dial":                   "net/rpc/server.go:Dial net/http/server_test.go:Dial",
		"Nothing":                "",
		"Ser_ver":                "",
		"Serv%":                  "",
		"Server.Serve.Something": "",
	} {
		w.same(fmt.Sprintf("%q", name), ids(must(w.backend.FindSymbols(w.ctx, w.ref("v1", name)))(w)), strings.Fields(want)...)
	}
	ref := w.ref("v1", "Server")
	ref.File = "net/rpc/server.go"
	hits := must(w.backend.FindSymbols(w.ctx, ref))(w)
	w.same("in a file", ids(hits), "net/rpc/server.go:Server")
	want := graph.Hit{Repo: w.repo, Version: "v1", Path: "net/rpc/server.go", Local: "Server", Symbol: typ("Server", domain.KindStruct, 1)}
	hits[0].Score = 0
	if fmt.Sprintf("%+v", hits[0]) != fmt.Sprintf("%+v", want) {
		w.Errorf("the hit is\n%+v, want\n%+v", hits[0], want)
	}
}

func testSymbolsAtLine(w *world) {
	outer := domain.Symbol{Name: "Outer", Kind: domain.KindClass, StartLine: 1, EndLine: 30}
	w.load("v1", file{path: "a.py", text: "a", symbols: []domain.Symbol{outer, method("Outer", "first", 2), method("Outer", "second", 10)}})
	at := func(line int) []string {
		return ids(must(w.backend.FindSymbols(w.ctx, graph.SymbolRef{Repo: w.repo, Version: "v1", File: "a.py", Line: line}))(w))
	}
	w.same("inside a method", at(11), "a.py:Outer.second", "a.py:Outer")
	w.same("between methods", at(8), "a.py:Outer")
	w.same("below", at(31))
	_, err := w.backend.FindSymbols(w.ctx, graph.SymbolRef{Repo: w.repo, Version: "v1"})
	w.fails(err, domain.CodeInvalid)
}

func testFileSymbols(w *world) {
	doc := fn("Documented", 1)
	doc.Doc = "Documented is documented."
	w.load("v1",
		file{path: "a.go", text: "a", symbols: []domain.Symbol{doc, typ("T", domain.KindInterface, 10), {Name: "limit", Kind: domain.KindConstant, StartLine: 20, EndLine: 20, Signature: "const limit = 3"}}},
		file{path: "none.txt", text: "n"})
	hits := must(w.backend.FileSymbols(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "a.go"}))(w)
	w.same("symbols", ids(hits), "a.go:Documented", "a.go:T", "a.go:limit")
	if hits[0].Doc != doc.Doc || hits[0].EndLine != 3 || !hits[0].Exported || hits[2].Exported || hits[2].Kind != domain.KindConstant || hits[2].Signature != "const limit = 3" {
		w.Errorf("came back as %+v", hits)
	}
	w.same("a file without symbols", ids(must(w.backend.FileSymbols(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "none.txt"}))(w)))
}

func testImports(w *world) {
	imports := []domain.Import{{Target: "fmt", Line: 3}, {Target: "net/http", Alias: "web", Line: 4}, {Target: "os", Name: "path", Line: 5}}
	w.load("v1", file{path: "a.go", text: "a", imports: imports}, file{path: "b.go", text: "b"})
	if got := must(w.backend.Imports(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "a.go"}))(w); !slices.Equal(got, imports) {
		w.Errorf("imports are %+v", got)
	}
	if got := must(w.backend.Imports(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "b.go"}))(w); len(got) != 0 {
		w.Errorf("imports of a file without any are %+v", got)
	}
	_, err := w.backend.Imports(w.ctx, graph.FileRef{Repo: w.repo, Version: "v1", Path: "c.go"})
	w.fails(err, domain.CodeNotFound, "c.go")
}

// symbolSearch gives the ids of the hits in the test's repository.
func (w *world) symbolSearch(q graph.SymbolQuery) []string {
	w.Helper()
	if q.Versions == nil {
		q.Versions = w.in("")
	}
	hits, _, err := w.backend.SearchSymbols(w.ctx, q)
	w.ok(err)
	for i := 1; i < len(hits); i++ {
		if hits[i].Score > hits[i-1].Score {
			w.Errorf("%q: hit %d scores more than the one before it", q.Text, i)
		}
	}
	return ids(hits)
}

func testSearchRanks(w *world) {
	private := fn("parseConfig", 40)
	private.Exported = false
	w.load("v1",
		file{path: "a.go", text: "a", symbols: []domain.Symbol{
			fn("ReparseConfiguration", 1), fn("ParseServerConfig", 5), fn("ParseConfigFile", 10), private, fn("LoadConfig", 50)}},
		file{path: "b.py", text: "b", symbols: []domain.Symbol{fn("parse_config", 1)}},
		file{path: "b_test.go", text: "bt", symbols: []domain.Symbol{fn("ParseConfig", 1)}},
		file{path: "c.rs", text: "c", symbols: []domain.Symbol{typ("ParseConfig", domain.KindStruct, 1), method("ParseConfig", "new", 10)}})
	w.same("equal, beginning, parts, anywhere", w.symbolSearch(graph.SymbolQuery{Text: "parseConfig"}),
		"c.rs:ParseConfig", "b.py:parse_config", "a.go:parseConfig", "b_test.go:ParseConfig", "a.go:ParseConfigFile", "a.go:ParseServerConfig", "a.go:ReparseConfiguration")
	w.same("words in any order", w.symbolSearch(graph.SymbolQuery{Text: "config server"}), "a.go:ParseServerConfig")
	w.same("classes", w.symbolSearch(graph.SymbolQuery{Text: "config", Kind: "class"}), "c.rs:ParseConfig")
	w.same("structs", w.symbolSearch(graph.SymbolQuery{Text: "config", Kind: "struct"}), "c.rs:ParseConfig")
	w.same("methods", w.symbolSearch(graph.SymbolQuery{Text: "new", Kind: "method"}), "c.rs:ParseConfig.new")
	w.same("qualified", w.symbolSearch(graph.SymbolQuery{Text: "ParseConfig.new"}), "c.rs:ParseConfig.new")
	if got := w.symbolSearch(graph.SymbolQuery{Text: "load", Kind: "function"}); len(got) == 0 || got[0] != "a.go:LoadConfig" {
		w.Errorf("functions: %q", got)
	}
	w.same("short names by their beginning", w.symbolSearch(graph.SymbolQuery{Text: "ne"}), "c.rs:ParseConfig.new")
	w.same("no pattern characters", w.symbolSearch(graph.SymbolQuery{Text: "%"}))
	_, _, err := w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: "x", Kind: "gadget"})
	w.fails(err, domain.CodeInvalid, "gadget")
	_, _, err = w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: "  "})
	w.fails(err, domain.CodeInvalid)
}

func testSearchFuzzy(w *world) {
	w.load("v1", file{path: "a.go", text: "a", symbols: []domain.Symbol{fn("AuthenticateRequest", 1), fn("Unrelated", 5)}})
	if got := w.symbolSearch(graph.SymbolQuery{Text: "AuthentcateRequst"}); len(got) == 0 || got[0] != "a.go:AuthenticateRequest" {
		w.Errorf("a misspelt name finds %q", got)
	}
	w.same("nothing alike", w.symbolSearch(graph.SymbolQuery{Text: "Xylophon"}))
}

func testSearchScope(w *world) {
	name := "Scoped" + w.mark
	one := file{path: "a.go", text: "1", symbols: []domain.Symbol{fn(name, 1)}}
	two := file{path: "a.go", text: "2", symbols: []domain.Symbol{fn("Other", 1), fn(name, 9)}}
	w.load("v1", one)
	w.load("v2", two, file{path: "b.go", text: "b", symbols: []domain.Symbol{fn(name, 1)}})
	first := w.repo
	w.repo += "/second"
	w.load("v1", one)
	w.load("v2", file{path: "c.go", text: "c"})
	second := w.repo
	look := func(versions []graph.VersionRef) string {
		hits, _, err := w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: name, Versions: versions})
		w.ok(err)
		var out []string
		for _, h := range hits {
			out = append(out, fmt.Sprintf("%s:%s:%s:%d", strings.TrimPrefix(h.Repo, first), h.Version, h.Path, h.StartLine))
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	for _, test := range []struct {
		in   []graph.VersionRef
		want string
	}{
		{nil, "/second:v1:a.go:1 :v2:a.go:9 :v2:b.go:1"}, // no other test has the symbol
		{[]graph.VersionRef{{Repo: first}}, ":v2:a.go:9 :v2:b.go:1"},
		{[]graph.VersionRef{{Repo: first, Version: "v1"}}, ":v1:a.go:1"},
		{[]graph.VersionRef{{Repo: first, Version: "v1"}, {Repo: first}}, ":v2:a.go:9 :v2:b.go:1"},
		{[]graph.VersionRef{{Repo: second, Version: "v1"}, {Repo: first, Version: "v1"}}, "/second:v1:a.go:1 :v1:a.go:1"},
		{[]graph.VersionRef{{Repo: second, Version: "v2"}, {Repo: first, Version: "v1"}}, ":v1:a.go:1"}, // neither v1 of the second nor v2 of the first
	} {
		if got := look(test.in); got != test.want {
			w.Errorf("in %v: %s, want %s", test.in, got, test.want)
		}
	}
	_, _, err := w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: name, Versions: []graph.VersionRef{{Repo: first}, {Repo: first + "-unknown"}}})
	w.fails(err, domain.CodeNotFound, first+"-unknown")
	_, _, err = w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: name, Versions: []graph.VersionRef{{Repo: first, Version: "v1"}, {Repo: second, Version: "v3"}}})
	w.fails(err, domain.CodeNotFound, second, "v3", "v1", "v2")
	_, _, err = w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: name, Versions: []graph.VersionRef{{Version: "v1"}}})
	w.fails(err, domain.CodeInvalid)
}

func testSearchLimit(w *world) {
	var symbols []domain.Symbol
	for i := range 150 {
		symbols = append(symbols, fn(fmt.Sprintf("Limited%03d", i), 4*i+1))
	}
	w.load("v1", file{path: "a.go", text: "a", symbols: symbols})
	for _, test := range []struct {
		limit, want int
		truncated   bool
	}{{5, 5, true}, {0, 20, true}, {100, 100, true}, {1000, 100, true}} {
		hits, truncated, err := w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: "limited", Versions: w.in(""), Limit: test.limit})
		w.ok(err)
		if len(hits) != test.want || truncated != test.truncated {
			w.Errorf("limit %d: %d hits, truncated %v", test.limit, len(hits), truncated)
		}
	}
	hits, truncated, err := w.backend.SearchSymbols(w.ctx, graph.SymbolQuery{Text: "limited 14", Versions: w.in(""), Limit: 20})
	w.ok(err)
	if len(hits) != 12 || truncated { // 014, 114 and 140 to 149
		w.Errorf("%d hits, truncated %v: %q", len(hits), truncated, ids(hits))
	}
}

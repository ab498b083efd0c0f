package neo4j_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/neo4j"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

func id(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// schemaFiles are two files that have one of everything.
func schemaFiles(generation string) ([]graph.ResolvedFile, []graph.Blob, []graph.VersionFile) {
	shape := domain.FileFacts{Language: "rust", Symbols: []domain.Symbol{
		{Name: "Shape", Kind: domain.KindTrait, Signature: "trait Shape", StartLine: 1, EndLine: 3},
		{Name: "Circle", Kind: domain.KindStruct, Signature: "struct Circle", StartLine: 5, EndLine: 6, Exported: true,
			Bases: []domain.TypeRef{{Name: "Shape", Kind: domain.EdgeImplements}, {Name: "Base", Kind: domain.EdgeInherits}, {Name: "Point", Kind: domain.EdgeEmbeds}}},
		{Name: "area", Receiver: "Circle", Kind: domain.KindMethod, Signature: "fn area(self)", StartLine: 8, EndLine: 9},
		{Name: "LIMIT", Kind: domain.KindConstant, Signature: "const LIMIT", StartLine: 10, EndLine: 10},
	}}
	caller := domain.FileFacts{Language: "rust", Imports: []domain.Import{{Target: "crate::shape", Line: 1}}, Symbols: []domain.Symbol{
		{Name: "main", Kind: domain.KindFunction, Signature: "fn main()", StartLine: 2, EndLine: 4}}}
	text := "1\n2\n3\n4\n5 struct Circle\n6 }\n7\n8\n9\n10 " + generation + "\n"
	files := []graph.ResolvedFile{
		{ID: graph.ResolvedID(id("r1" + generation)), Path: "src/shape.rs", Blob: graph.BlobID(id("b1" + generation)), Facts: &shape, Edges: []domain.Edge{
			{From: 1, To: domain.SymbolKey{Path: "src/shape.rs", Local: "Shape"}, Kind: domain.EdgeImplements, Line: 5, How: domain.HowScoped},
			{From: 1, To: domain.SymbolKey{Path: "src/shape.rs", Local: "Circle.area"}, Kind: domain.EdgeContains, Line: 8, How: domain.HowExact}}},
		{ID: graph.ResolvedID(id("r2" + generation)), Path: "src/main.rs", Blob: graph.BlobID(id("b2" + generation)), Facts: &caller, Edges: []domain.Edge{
			{From: 0, To: domain.SymbolKey{Path: "src/shape.rs", Local: "Circle.area"}, Kind: domain.EdgeCalls, Line: 3, How: domain.HowName}}},
	}
	var blobs []graph.Blob
	var listed []graph.VersionFile
	for _, f := range files {
		blobs = append(blobs, graph.Blob{ID: f.Blob, Text: []byte(text), Size: int64(len(text)), Facts: *f.Facts})
		listed = append(listed, graph.VersionFile{Path: f.Path, Blob: f.Blob, Resolved: f.ID, Language: "rust"})
	}
	return files, blobs, listed
}

// testSchema loads a version and asks for it as existing users do, before and after its
// publication and after the next one.
func testSchema(t *testing.T, sources *pg.Store, store *neo4j.Store, server testkit.Neo4jServer) {
	ctx := t.Context()
	if _, err := sources.SaveRepository(ctx, domain.Repository{Name: "schema/test", URL: "https://example.org/x"}); err != nil {
		t.Fatal(err)
	}
	ask := func(what, query, want string) {
		t.Helper()
		var values [][]any
		for _, record := range raw(t, server, query) {
			values = append(values, record.Values)
		}
		if text, _ := json.Marshal(values); string(text) != want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", what, query, text, want)
		}
	}
	stage := func(generation string) func() {
		files, blobs, listed := schemaFiles(generation)
		if err := sources.PutBlobs(ctx, blobs); err != nil {
			t.Fatal(err)
		}
		loader, err := store.Stage(ctx, graph.VersionSpec{Repo: "schema/test", Tag: "v1", Commit: "c" + generation, CommittedAt: 1_700_000_000})
		if err != nil {
			t.Fatal(err)
		}
		if err := loader.Put(ctx, files); err != nil {
			t.Fatal(err)
		}
		return func() {
			_, err := loader.Publish(ctx, listed, func(context.Context, []graph.ResolvedID) ([]graph.ResolvedFile, error) { return nil, nil })
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	const (
		visible = `MATCH (n) WHERE (n:Function OR n:Class OR n:File OR n:Symbol OR n:Import OR n:Version OR n.version = 'v1') AND n.repo = 'schema/test' RETURN count(n)`
		commit  = `MATCH (r:Repository {name: 'schema/test'})-[:HAS_VERSION]->(v:Version {ingested: true}) RETURN r.url, v.repo, v.tag, v.timestamp, v.commit_sha`
	)
	publish := stage("one")
	ask("before publication", visible, `[[0]]`)
	publish()
	ask("all nodes", visible, `[[9]]`)
	ask("version", commit, `[["https://example.org/x","schema/test","v1",1700000000,"cone"]]`)
	ask("callers", `MATCH (caller:Function)-[c:CALLS]->(callee:Function {repo: 'schema/test', version: 'v1', name: 'area'})
		WHERE caller.repo = 'schema/test' AND caller.version = 'v1' RETURN caller.file, caller.name, caller.start_line, c.line, c.how`, `[["src/main.rs","main",2,3,"name"]]`)
	ask("class", `MATCH (f:File {path: 'src/shape.rs'})-[:DEFINES]->(c:Class {name: 'Circle'}) WHERE c.repo = 'schema/test'
		RETURN f.repo, f.version, f.language, c.version, c.file, c.kind, c.start_line, c.end_line, c.source, c.bases, c.traits, c.embeds, c.uses, c.exported`,
		`[["schema/test","v1","rust","v1","src/shape.rs","struct",5,6,"5 struct Circle\n6 }\n",["Base"],["Shape"],["Point"],[],true]]`)
	ask("method", `MATCH (f:Function {repo: 'schema/test', version: 'v1', name: 'area'}) RETURN f.kind, f.signature, f.impl_type, f.local`, `[["method","fn area(self)","Circle","Circle.area"]]`)
	ask("other kinds", `MATCH (n:Symbol {repo: 'schema/test', name: 'LIMIT'}) RETURN n:Function OR n:Class, n.kind`, `[[false,"constant"]]`)
	ask("import", `MATCH (f:File)-[:IMPORTS]->(i:Import {repo: 'schema/test'}) RETURN i.version, i.file, i.target, i.line`, `[["v1","src/main.rs","crate::shape",1]]`)
	ask("structure", `MATCH (a:Class {repo: 'schema/test'})-[e]->(b) RETURN type(e), b.name ORDER BY type(e)`, `[["CONTAINS","area"],["IMPLEMENTS","Shape"]]`)
	ask("names", `CALL db.index.fulltext.queryNodes('symbol_names', 'Circle') YIELD node WHERE node.repo = 'schema/test' RETURN node.file`, `[["src/shape.rs"]]`)
	ask("paths", `CALL db.index.fulltext.queryNodes('file_paths', 'shape.rs') YIELD node WHERE node.repo = 'schema/test' RETURN node.path`, `[["src/shape.rs"]]`)

	publish = stage("two")
	ask("while it is read again", visible, `[[9]]`)
	ask("the version while it is read again", commit, `[["https://example.org/x","schema/test","v1",1700000000,"cone"]]`)
	publish()
	ask("after it was read again", visible, `[[9]]`)
	ask("the version after it was read again", commit, `[["https://example.org/x","schema/test","v1",1700000000,"ctwo"]]`)
	ask("what is left", `MATCH (n) WHERE n.repo = 'schema/test' RETURN count(n)`, `[[9]]`)
	if err := store.DropRepository(ctx, "schema/test"); err != nil {
		t.Fatal(err)
	}
	ask("after deletion", `MATCH (n) WHERE n.repo = 'schema/test' OR n.of_repo = 'schema/test' OR n.name = 'schema/test' RETURN count(n)`, `[[0]]`)
}

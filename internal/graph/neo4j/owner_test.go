package neo4j_test

import (
	"context"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/neo4j"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// installation is a database with its graph in the Neo4j of the tests.
type installation struct {
	*testing.T
	repo    string // which all installations of a test read
	sources *pg.Store
	server  testkit.Neo4jServer
	store   *neo4j.Store
}

// install makes one whose versions are numbered from a number on.
func install(t *testing.T, server testkit.Neo4jServer, from string) *installation {
	pool := testkit.Postgres(t)
	if _, err := pool.Exec(t.Context(), `alter table versions alter column id restart with `+from); err != nil {
		t.Fatal(err)
	}
	i := &installation{T: t, repo: t.Name(), sources: pg.New(pool), server: server}
	i.open()
	if _, err := i.sources.SaveRepository(t.Context(), domain.Repository{Name: i.repo, URL: "https://example.org/x"}); err != nil {
		t.Fatal(err)
	}
	return i
}

// open opens the graph, as a start of the installation does.
func (i *installation) open() {
	i.Helper()
	var err error
	i.store, err = neo4j.Open(i.Context(), neo4j.Config{URI: i.server.URI, User: i.server.User, Password: i.server.Password,
		OnSweepError: func(err error) { i.Error(err) }}, i.sources)
	if err != nil {
		i.Fatal(err)
	}
	store := i.store
	i.Cleanup(func() { _ = store.Close(context.Background()) })
}

// read reads a version of the repository whose files have a word.
func (i *installation) read(tag, word string) domain.VersionDetail {
	i.Helper()
	files, blobs, listed := schemaFiles(word)
	if err := i.sources.PutBlobs(i.Context(), blobs); err != nil {
		i.Fatal(err)
	}
	loader, err := i.store.Stage(i.Context(), graph.VersionSpec{Repo: i.repo, Tag: tag})
	if err == nil {
		err = loader.Put(i.Context(), files)
	}
	var detail domain.VersionDetail
	if err == nil {
		detail, err = loader.Publish(i.Context(), listed, nil)
	}
	if err != nil {
		i.Fatal(err)
	}
	return detail
}

// has tells whether a version's graph is there.
func (i *installation) has(when, tag string, want bool) {
	i.Helper()
	hits, err := i.store.FindSymbols(i.Context(), graph.SymbolRef{Repo: i.repo, Version: tag, Name: "Circle"})
	if want && (err != nil || len(hits) != 1) {
		i.Errorf("%s there are %d symbols in %s, %v; want one", when, len(hits), tag, err)
	}
	if !want && domain.CodeOf(err) != domain.CodeNotFound {
		i.Errorf("%s there are %d symbols in %s, %v; want none", when, len(hits), tag, err)
	}
}

// count runs a query of existing users that counts something of $repo.
func (i *installation) count(when, query string, want int64) {
	i.Helper()
	query = strings.ReplaceAll(query, "$repo", "'"+i.repo+"'")
	if got := raw(i.T, i.server, query)[0].Values[0].(int64); got != want {
		i.Errorf("%s: %s gives %d, want %d", when, query, got, want)
	}
}

// Two installations read a repository of one name, and number their versions alike.
func TestInstallationsOfOneDatabase(t *testing.T) {
	t.Parallel()
	server := testkit.Neo4j(t)
	one, two := install(t, server, "700"), install(t, server, "700")
	const versions = `MATCH (:Repository {name: $repo})-[:HAS_VERSION]->(v:Version {tag: 'v1', ingested: true}) RETURN count(v)`

	first := one.read("v1", "one")
	if _, err := two.sources.PublishAs(t.Context(), first.ID, graph.VersionSpec{Repo: two.repo, Tag: "old"}, nil, 0); err != nil {
		t.Fatal(err) // under the number that the other's version has
	}
	two.has("before the second has read anything into Neo4j", "old", false)
	if second := two.read("v1", "two"); second.ID == first.ID {
		t.Errorf("both have number %d", first.ID)
	}
	one.has("after the second read it", "v1", true)
	two.has("after both read it", "v1", true)
	one.count("both have read it", versions, 2)

	for range 2 { // supersedes and removes what is its own
		two.read("v1", "two again")
	}
	if err := two.store.Housekeep(t.Context()); err != nil {
		t.Fatal(err)
	}
	one.has("after the second read it again", "v1", true)
	two.has("after it was read again", "v1", true)
	one.count("after the second read it again", versions, 2)

	if err := two.store.DropRepository(t.Context(), t.Name()); err != nil {
		t.Fatal(err)
	}
	one.has("after the second dropped it", "v1", true)
	one.count("after the second dropped it", versions, 1)
	if err := one.store.DropRepository(t.Context(), t.Name()); err != nil {
		t.Fatal(err)
	}
	one.count("after both dropped it", `MATCH (n) WHERE n.name = $repo OR n.of_repo = $repo RETURN count(n)`, 0)
}

// What earlier programs wrote bears no owner: whose sources have it live claims it at its start.
func TestSnapshotsWithoutAnOwner(t *testing.T) {
	t.Parallel()
	server := testkit.Neo4j(t)
	one, two := install(t, server, "900"), install(t, server, "1900")
	one.read("legacy", "one")
	raw(t, server, `MATCH (v:HarvestSnapshot {of_repo: '`+t.Name()+`'}) REMOVE v.owner`)
	one.has("before anybody has claimed it", "legacy", true)
	one.open()
	two.read("legacy", "two")
	one.has("after the other read its own", "legacy", true)
	two.has("after it read its own", "legacy", true)
	one.read("legacy", "one again")
	one.count("after both have read it again", `MATCH (v:HarvestSnapshot {of_repo: $repo}) RETURN count(v)`, 2)
}

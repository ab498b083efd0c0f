package neo4j_test

import (
	"context"
	"errors"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/graph/neo4j"
	"github.com/harvest-engine/harvest/internal/graph/pg"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// faulty are sources that fail around a publication.
type faulty struct {
	*pg.Store
	published bool
	loseReply bool // the publication is committed and its answer lost
	failAfter bool // what is asked after the publication fails
}

var errFault = errors.New("the connection was lost")

func (f *faulty) PublishAs(ctx context.Context, id int64, spec graph.VersionSpec, files []graph.VersionFile, symbols int) (domain.VersionDetail, error) {
	detail, err := f.Store.PublishAs(ctx, id, spec, files, symbols)
	f.published = true
	if f.loseReply {
		return domain.VersionDetail{}, errFault
	}
	return detail, err
}

func (f *faulty) Snapshots(ctx context.Context, versions []graph.VersionRef) ([]graph.Snapshot, error) {
	if f.published && f.failAfter {
		return nil, errFault
	}
	return f.Store.Snapshots(ctx, versions)
}

// testFaults breaks what surrounds a publication: a version that the sources show must stay
// in the graph, whatever its loader was told.
func testFaults(t *testing.T, sources *pg.Store, server testkit.Neo4jServer) {
	for _, test := range []struct {
		name   string
		faults faulty
		fails  bool
	}{
		{"the sweep", faulty{failAfter: true}, false},
		{"the answer to the commit", faulty{loseReply: true}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, repo := t.Context(), "fault/"+test.name
			flaky := test.faults
			flaky.Store = sources
			warned := false
			store, err := neo4j.Open(ctx, neo4j.Config{URI: server.URI, User: server.User, Password: server.Password,
				OnSweepError: func(error) { warned = true }}, &flaky)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close(context.Background()) })
			if _, err := sources.SaveRepository(ctx, domain.Repository{Name: repo, URL: "https://example.org/x"}); err != nil {
				t.Fatal(err)
			}
			files, blobs, listed := schemaFiles(test.name)
			if err := sources.PutBlobs(ctx, blobs); err != nil {
				t.Fatal(err)
			}
			loader, err := store.Stage(ctx, graph.VersionSpec{Repo: repo, Tag: "v1"})
			if err != nil {
				t.Fatal(err)
			}
			if err := loader.Put(ctx, files); err != nil {
				t.Fatal(err)
			}
			if _, err := loader.Publish(ctx, listed, nil); (err != nil) != test.fails {
				t.Fatalf("publish: %v", err)
			}
			if warned != test.faults.failAfter {
				t.Errorf("told of the sweep: %v", warned)
			}
			if err := loader.Discard(ctx); err != nil { // as a caller does after a failure, or whose own end failed
				t.Fatal(err)
			}
			flaky.failAfter = false
			hits, err := store.FindSymbols(ctx, graph.SymbolRef{Repo: repo, Version: "v1", Name: "Circle"})
			if err != nil || len(hits) != 1 {
				t.Errorf("the live version has %d symbols Circle (%v), want 1", len(hits), err)
			}
		})
	}
}

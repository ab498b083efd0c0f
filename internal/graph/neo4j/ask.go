package neo4j

import (
	"context"
	"fmt"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// maxAsks bounds how often a question is asked again because its snapshot was removed.
const maxAsks = 4

// ask answers a question about one version: f runs in a read transaction on the live
// snapshot. A newer publication may remove that snapshot while f reads; then f, which must
// start from nothing each time, is asked again.
func (s *Store) ask(ctx context.Context, repo, tag string, f func(tx runner, at graph.Snapshot) error) error {
	if err := graph.CheckVersion(repo, tag); err != nil {
		return err
	}
	return s.askAll(ctx, []graph.VersionRef{{Repo: repo, Version: tag}}, func(tx runner, snapshots []graph.Snapshot) error {
		return f(tx, snapshots[0])
	})
}

// askWhole is ask with what is known of the snapshot, which it gives too.
func (s *Store) askWhole(ctx context.Context, repo, tag string, f func(tx runner, at graph.Snapshot, detail domain.VersionDetail) error) (domain.VersionDetail, error) {
	for range maxAsks {
		detail, err := s.sources.Version(ctx, repo, tag)
		if err != nil {
			return domain.VersionDetail{}, err
		}
		same := false
		err = s.ask(ctx, repo, tag, func(tx runner, at graph.Snapshot) error {
			if same = at.ID == detail.ID; !same {
				return nil
			}
			return f(tx, at, detail)
		})
		if err != nil || same {
			return detail, err
		}
	}
	return domain.VersionDetail{}, errReadAgain
}

// errReadAgain ends a question whose version never stayed for as long as it took.
var errReadAgain = domain.Errorf(domain.CodeUnavailable, "the version is being read again and again; ask later")

// askAll answers a question about all versions that a query covers, the newest first.
func (s *Store) askAll(ctx context.Context, versions []graph.VersionRef, f func(tx runner, snapshots []graph.Snapshot) error) error {
	for range maxAsks {
		snapshots, err := s.sources.Snapshots(ctx, versions)
		if err != nil || len(snapshots) == 0 {
			return err
		}
		present, err := s.try(ctx, snapshots, f)
		if err != nil {
			return err
		}
		if present == len(snapshots) {
			return nil
		}
		again, err := s.sources.Snapshots(ctx, versions)
		if err != nil {
			return err
		}
		if sameSnapshots(snapshots, again) {
			return elsewhere(snapshots)
		}
	}
	return errReadAgain
}

// elsewhere reports versions that the sources know and this graph doesn't.
func elsewhere(snapshots []graph.Snapshot) error {
	if len(snapshots) == 1 {
		return domain.NotFound("%s:%s is not in the Neo4j graph: it was read before this graph was chosen; ingest it again", snapshots[0].Repo, snapshots[0].Tag)
	}
	return domain.NotFound("a version is not in the Neo4j graph: it was read before this graph was chosen; ingest the repositories again")
}

func sameSnapshots(a, b []graph.Snapshot) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// try runs f and then counts how many of its snapshots are still there: what f did not find
// may be missing because they are.
func (s *Store) try(ctx context.Context, snapshots []graph.Snapshot, f func(tx runner, snapshots []graph.Snapshot) error) (int, error) {
	session := s.session(ctx, neo4j.AccessModeRead)
	defer closeSession(ctx, session)
	present, err := session.ExecuteRead(ctx, func(tx neo4j.ManagedTransaction) (any, error) {
		absent := f(tx, snapshots)
		if absent != nil && domain.CodeOf(absent) != domain.CodeNotFound {
			return 0, absent
		}
		counts, err := rows(ctx, tx, func(r *neo4j.Record) int64 { return field[int64](r, "n") },
			`MATCH (v:HarvestSnapshot) WHERE v.snapshot IN $ids AND v.state <> 'removing' AND `+owned+` RETURN count(v) AS n`,
			map[string]any{"ids": snapshotIDs(snapshots), "owner": s.owner})
		if err == nil && int(counts[0]) == len(snapshots) {
			err = absent
		}
		if err != nil {
			return 0, err
		}
		return int(counts[0]), nil
	})
	if err != nil {
		return 0, told(err, "ask the graph")
	}
	return present.(int), nil
}

func snapshotIDs(snapshots []graph.Snapshot) []int64 {
	ids := make([]int64, len(snapshots))
	for i, v := range snapshots {
		ids[i] = v.ID
	}
	return ids
}

// told wraps a fault of the server: unavailable where it can't be reached.
func told(err error, doing string) error {
	if domain.CodeOf(err) != domain.CodeInternal {
		return err
	}
	if neo4j.IsConnectivityError(err) {
		return domain.Wrap(domain.CodeUnavailable, err, "the Neo4j server does not answer")
	}
	return fmt.Errorf("%s: %w", doing, err)
}

package neo4j

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/neo4j/neo4j-go-driver/v5/neo4j"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// Publish writes what is missing, then makes the version visible in place of the one before.
func (l *loader) Publish(ctx context.Context, files []graph.VersionFile, load func(context.Context, []graph.ResolvedID) ([]graph.ResolvedFile, error)) (domain.VersionDetail, error) {
	if err := l.complete(ctx, files, load); err != nil {
		return domain.VersionDetail{}, err
	}
	if err := l.writeEdges(ctx); err != nil {
		return domain.VersionDetail{}, err
	}
	detail, err := l.flip(ctx, files)
	if err != nil {
		return domain.VersionDetail{}, err
	}
	// The version is live: what could not be swept now, the next publication sweeps.
	if err := l.store.sweep(ctx, l.spec.Repo); err != nil {
		l.store.warn(fmt.Errorf("sweep %s: %w", l.spec.Repo, err))
	}
	return detail, nil
}

// complete puts the resolved files that were not put, and nodes for files without facts.
func (l *loader) complete(ctx context.Context, files []graph.VersionFile, load func(context.Context, []graph.ResolvedID) ([]graph.ResolvedFile, error)) error {
	var absent []graph.ResolvedID
	for _, f := range files {
		if f.Resolved != "" && !l.put[f.Resolved] {
			absent = append(absent, f.Resolved)
		}
	}
	if len(absent) > 0 {
		more, err := load(ctx, absent)
		if err != nil {
			return fmt.Errorf("load resolved files: %w", err)
		}
		if err := l.Put(ctx, more); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w := nodeWriter{loader: l}
	for _, f := range files {
		w.file(f.Path, f.Language)
	}
	return w.write(ctx)
}

// edgeCypher writes relationships from nodes of one label. A target that the version does
// not have gets none.
const edgeCypher = `
UNWIND $rows AS row
MATCH (a:%s {uid: row[0]}), (b:HarvestSymbol {uid: row[1]})
CREATE (a)-[:%s {line: row[2], how: row[3]}]->(b)`

func (l *loader) writeEdges(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := make(map[int64]bool, len(l.known))
	for key := range l.known {
		known[l.uids[key]] = true
	}
	session := l.store.session(ctx, neo4j.AccessModeWrite)
	defer closeSession(ctx, session)
	for _, kind := range edgeKinds {
		for label, fromFile := range map[string]bool{"HarvestFile": true, "HarvestSymbol": false} {
			var rows [][]any
			for _, e := range l.edges[kind] {
				if e.fromFile == fromFile && known[e.to] {
					rows = append(rows, []any{e.from, e.to, e.line, string(e.how)})
				}
			}
			cypher := fmt.Sprintf(edgeCypher, label, relation(kind))
			if err := inBatches(ctx, session, cypher, l.id, rows); err != nil {
				return told(err, "write relationships")
			}
		}
	}
	return nil
}

var edgeKinds = []domain.EdgeKind{domain.EdgeCalls, domain.EdgeContains, domain.EdgeInherits, domain.EdgeImplements, domain.EdgeEmbeds, domain.EdgeUses}

// relation is the type of relationship that stands for a kind of edge.
func relation(kind domain.EdgeKind) string { return strings.ToUpper(string(kind)) }

// flipCypher are the statements of a publication. The first takes the repository's write
// lock: publications of one repository go one after the other.
var flipCypher = []string{
	`MERGE (r:Repository {name: $repo}) SET r.url = $url, r.publication = $id`,

	`MATCH (:Repository {name: $repo})-[has:HAS_VERSION]->(v:HarvestSnapshot {of_tag: $tag}) WHERE ` + owned + `
	 DELETE has REMOVE v:Version, v.repo, v.tag SET v.state = 'retired', v.ingested = false`,
	`MATCH (v:HarvestSnapshot {of_repo: $repo, of_tag: $tag, state: 'retired'})-[:HAS_FILE]->(f:File) WHERE ` + owned + ` REMOVE f:File, f.version`,
	`MATCH (v:HarvestSnapshot {of_repo: $repo, of_tag: $tag, state: 'retired'})-[:HAS_FILE]->()-[:DEFINES]->(n:Symbol) WHERE ` + owned + ` REMOVE n:Symbol:Function:Class, n.version`,
	`MATCH (v:HarvestSnapshot {of_repo: $repo, of_tag: $tag, state: 'retired'})-[:HAS_FILE]->()-[:IMPORTS]->(i:Import) WHERE ` + owned + ` REMOVE i:Import, i.version`,

	`MATCH (v:HarvestSnapshot {snapshot: $id})-[:HAS_FILE]->(f) SET f:File, f.version = $tag`,
	`MATCH (v:HarvestSnapshot {snapshot: $id})-[:HAS_FILE]->()-[:DEFINES]->(n) WHERE n.kind IN $functions SET n:Symbol:Function, n.version = $tag`,
	`MATCH (v:HarvestSnapshot {snapshot: $id})-[:HAS_FILE]->()-[:DEFINES]->(n) WHERE n.class SET n:Symbol:Class, n.version = $tag`,
	`MATCH (v:HarvestSnapshot {snapshot: $id})-[:HAS_FILE]->()-[:DEFINES]->(n) WHERE NOT n:Symbol SET n:Symbol, n.version = $tag`,
	`MATCH (v:HarvestSnapshot {snapshot: $id})-[:HAS_FILE]->()-[:IMPORTS]->(i) SET i:Import, i.version = $tag`,
	`MATCH (r:Repository {name: $repo}), (v:HarvestSnapshot {snapshot: $id})
	 SET v:Version, v.repo = $repo, v.tag = $tag, v.timestamp = $committed, v.commit_sha = $commit, v.ingested = true, v.state = 'published'
	 CREATE (r)-[:HAS_VERSION]->(v)`,
}

// flip shows the new nodes, hides those of the version before, and has the sources make the
// snapshot live, all while the repository is locked. If the server fails in the moment
// between, the sources are ahead: readers ask for the new snapshot, which is whole, and only
// queries by label see the old one until the version is read again.
func (l *loader) flip(ctx context.Context, files []graph.VersionFile) (domain.VersionDetail, error) {
	repo, err := l.store.sources.Repository(ctx, l.spec.Repo)
	if err != nil {
		return domain.VersionDetail{}, err
	}
	params := map[string]any{"id": l.id, "owner": l.store.owner, "repo": l.spec.Repo, "tag": l.spec.Tag, "url": repo.URL, "commit": l.spec.Commit,
		"committed": l.spec.CommittedAt, "functions": []string{string(domain.KindFunction), string(domain.KindMethod)}}
	session := l.store.session(ctx, neo4j.AccessModeWrite)
	defer closeSession(ctx, session)
	var tx neo4j.ExplicitTransaction
	err = again(ctx, func() (err error) {
		tx, err = l.show(ctx, session, params)
		return err
	})
	if err != nil {
		return domain.VersionDetail{}, told(err, "publish "+l.spec.Tag)
	}
	defer tx.Close(ctx) //nolint:errcheck // rolls back what was not committed
	detail, err := l.store.sources.PublishAs(ctx, l.id, l.spec, files, l.symbols)
	// An error without a code may hide a commit whose answer was lost.
	l.mayBeLive.Store(err == nil || domain.CodeOf(err) == domain.CodeInternal)
	if err != nil {
		return domain.VersionDetail{}, err
	}
	if err := tx.Commit(ctx); err != nil {
		return domain.VersionDetail{}, told(err, "publish "+l.spec.Tag)
	}
	return detail, nil
}

// show gives the transaction in which the new nodes are shown, to be committed.
func (l *loader) show(ctx context.Context, session neo4j.SessionWithContext, params map[string]any) (neo4j.ExplicitTransaction, error) {
	tx, err := session.BeginTransaction(ctx)
	if err != nil {
		return nil, err
	}
	err = l.touch(ctx, tx)
	for _, cypher := range flipCypher {
		if err == nil {
			err = exec(ctx, tx, cypher, params)
		}
	}
	if err != nil {
		_ = tx.Close(ctx) // the statement's error is the one to tell
		return nil, err
	}
	return tx, nil
}

// sweep removes snapshots of a repository that nobody can ask for any more: retired ones,
// and those of loads that were not heard of for an hour.
func (s *Store) sweep(ctx context.Context, repo string) error {
	session := s.session(ctx, neo4j.AccessModeWrite)
	defer closeSession(ctx, session)
	candidates, err := rows(ctx, auto{session}, func(r *neo4j.Record) int64 { return field[int64](r, "id") }, `
MATCH (v:HarvestSnapshot {of_repo: $repo})
WHERE (v.state IN ['retired', 'removing'] OR v.state = 'staging' AND v.seen < timestamp() - 3600000) AND `+owned+`
RETURN v.snapshot AS id`, map[string]any{"repo": repo, "owner": s.owner})
	if err != nil {
		return told(err, "look for superseded snapshots")
	}
	return s.removeDead(ctx, repo, candidates)
}

// removeDead removes those of a repository's snapshots that are not live in the sources.
func (s *Store) removeDead(ctx context.Context, repo string, ids []int64) error {
	live, err := s.sources.Snapshots(ctx, []graph.VersionRef{{Repo: repo}})
	if err != nil && domain.CodeOf(err) != domain.CodeNotFound { // of a deleted repository nothing is live
		return err
	}
	isLive := map[int64]bool{}
	for _, v := range live {
		isLive[v.ID] = true
	}
	return s.remove(ctx, slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return isLive[id] }))
}

// remove deletes snapshots with all their nodes. They are marked first: a reader that was on
// one of them then asks again.
func (s *Store) remove(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	session := s.session(ctx, neo4j.AccessModeWrite)
	defer closeSession(ctx, session)
	params := map[string]any{"ids": ids}
	for _, cypher := range []string{
		`MATCH (v:HarvestSnapshot) WHERE v.snapshot IN $ids SET v.state = 'removing'`,
		`MATCH (v:HarvestSnapshot)-[:HAS_FILE]->()-[:DEFINES|IMPORTS]->(n) WHERE v.snapshot IN $ids
		 CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS`,
		`MATCH (v:HarvestSnapshot)-[:HAS_FILE]->(f) WHERE v.snapshot IN $ids
		 CALL (f) { DETACH DELETE f } IN TRANSACTIONS OF 5000 ROWS`,
		`MATCH (v:HarvestSnapshot) WHERE v.snapshot IN $ids DETACH DELETE v`,
	} {
		if err := run(ctx, session, cypher, params); err != nil {
			return told(err, "remove a snapshot")
		}
	}
	return nil
}

// DropRepository removes a repository's nodes. The repository itself stays while another
// installation has versions of it.
func (s *Store) DropRepository(ctx context.Context, name string) error {
	session := s.session(ctx, neo4j.AccessModeWrite)
	defer closeSession(ctx, session)
	ids, err := rows(ctx, auto{session}, func(r *neo4j.Record) int64 { return field[int64](r, "id") },
		`MATCH (v:HarvestSnapshot {of_repo: $repo}) WHERE `+owned+` RETURN v.snapshot AS id`, map[string]any{"repo": name, "owner": s.owner})
	if err != nil {
		return told(err, "list snapshots")
	}
	if err := s.remove(ctx, ids); err != nil {
		return err
	}
	if err := run(ctx, session, `MATCH (r:Repository {name: $repo}) WHERE NOT (r)-[:HAS_VERSION]->() DELETE r`, map[string]any{"repo": name}); err != nil {
		return told(err, "remove the repository")
	}
	return nil
}

package pg

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
)

// answer runs ask, which is one statement. Where that finds nothing, ask runs again on one
// snapshot with why, which says what is missing: asked about another moment, why would speak
// of another version than the one that held nothing.
func answer[T any](ctx context.Context, s *Store, ask func(q querier) ([]T, error), why func(q querier) error) ([]T, error) {
	found, err := ask(s.pool)
	if err != nil || len(found) > 0 {
		return found, err
	}
	err = s.reading(ctx, func(tx pgx.Tx) error {
		if found, err = ask(tx); err != nil || len(found) > 0 {
			return err
		}
		return why(tx)
	})
	return found, err
}

// Owner gives the id by which a graph that is kept elsewhere knows this database; the first
// call of all makes it.
func (s *Store) Owner(ctx context.Context) (id string, err error) {
	_, err = s.pool.Exec(ctx, `insert into graph_owner default values on conflict do nothing`)
	if err == nil {
		err = s.pool.QueryRow(ctx, `select id from graph_owner`).Scan(&id)
	}
	if err != nil {
		return "", fault(fmt.Errorf("read whose graph it is: %w", err))
	}
	return id, nil
}

const snapshotsSQL = `
select v.id, r.name, v.tag from versions v join repositories r on r.id = v.repo_id
where v.live and (cardinality(@repos::text[]) = 0 or exists (
    select from unnest(@repos::text[], @tags::text[]) n(repo, tag) where n.repo = r.name and n.tag in ('', v.tag)))
order by ` + newestFirst

// Snapshots gives the whole versions that a query covers, the newest first; none named means
// all. A repository or version that does not exist is not_found.
func (s *Store) Snapshots(ctx context.Context, versions []graph.VersionRef) ([]graph.Snapshot, error) {
	repos, tags := make([]string, len(versions)), make([]string, len(versions))
	for i, v := range versions {
		if v.Repo == "" {
			return nil, domain.Invalid("repo", "name a repository")
		}
		repos[i], tags[i] = v.Repo, v.Version
	}
	choose := func(q querier) (found []graph.Snapshot, absent []graph.VersionRef, err error) {
		found, err = collect(ctx, q, "choose versions", pgx.RowToStructByPos[graph.Snapshot], snapshotsSQL,
			pgx.NamedArgs{"repos": repos, "tags": tags})
		return found, without(versions, found), err
	}
	found, absent, err := choose(s.pool)
	if err != nil || len(absent) == 0 {
		return found, err
	}
	err = s.reading(ctx, func(tx pgx.Tx) error {
		if found, absent, err = choose(tx); err != nil {
			return err
		}
		return needAll(ctx, tx, absent)
	})
	return found, err
}

// without gives those of wanted that found has nothing of.
func without(wanted []graph.VersionRef, found []graph.Snapshot) []graph.VersionRef {
	there := make(map[graph.VersionRef]bool, 2*len(found))
	for _, v := range found {
		there[graph.VersionRef{Repo: v.Repo}], there[graph.VersionRef{Repo: v.Repo, Version: v.Tag}] = true, true
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(v graph.VersionRef) bool { return there[v] })
}

// needAll is the not_found of the first that does not exist. A repository of which nothing was
// read yet does.
func needAll(ctx context.Context, q querier, absent []graph.VersionRef) error {
	for _, v := range absent {
		if v.Version != "" {
			return unknownVersion(ctx, q, v.Repo, v.Version)
		}
		if _, err := repositoryID(ctx, q, v.Repo); err != nil {
			return err
		}
	}
	return nil
}

// presentSQL counts those of some versions that are still listed, and whose graph is here.
const presentSQL = `select count(*), count(*) filter (where graph_here) from versions where id = any(@versions::int[])`

// presence says of versions whether all are still listed, and all have their graph here.
type presence struct{ listed, graphed bool }

// elsewhereSQL gives those of some versions whose graph is not here.
const elsewhereSQL = `select r.name, v.tag from versions v join repositories r on r.id = v.repo_id where v.id = any($1::int[]) and not v.graph_here order by 1, 2 limit 1`

// needGraphs is nil where the graphs of all versions are here.
func needGraphs(ctx context.Context, q querier, versions []graph.Snapshot) error {
	found, err := collect(ctx, q, "look for graphs", pgx.RowToStructByPos[struct{ Repo, Tag string }], elsewhereSQL, versionIDs(versions))
	if err == nil && len(found) > 0 {
		err = needGraph(ctx, q, found[0].Repo, found[0].Tag)
	}
	return err
}

// maxChoices bounds how often a search chooses its versions anew.
const maxChoices = 4

// over answers a question about all versions that a query covers, the newest first. What a
// version lists never changes, so a question about the chosen ones may take many statements,
// as long as none of them was swept meanwhile: f says whether all are present still, and
// otherwise is asked again about versions chosen anew. So a search takes no transaction, which
// would cost it two round trips and hold one snapshot for as long as texts are read.
func (s *Store) over(ctx context.Context, versions []graph.VersionRef, f func(chosen []graph.Snapshot) (present bool, err error)) error {
	for range maxChoices {
		chosen, err := s.Snapshots(ctx, versions)
		if err != nil || len(chosen) == 0 {
			return err
		}
		if present, err := f(chosen); err != nil || present {
			return err
		}
	}
	return domain.Errorf(domain.CodeUnavailable, "the versions are being read again and again; ask later")
}

// whilePresent runs a query about versions, and says whether they were all present while it ran.
// Both take one round trip.
func whilePresent[T any](ctx context.Context, s *Store, doing string, scan pgx.RowToFunc[T], versions []int32, sql string, args pgx.NamedArgs) (found []T, present presence, err error) {
	var listed, graphed int
	batch := &pgx.Batch{}
	batch.Queue(sql, args).Query(func(rows pgx.Rows) error {
		found, err = pgx.CollectRows(rows, scan)
		return err
	})
	batch.Queue(presentSQL, pgx.NamedArgs{"versions": versions}).QueryRow(func(row pgx.Row) error { return row.Scan(&listed, &graphed) })
	if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
		return nil, presence{}, fault(fmt.Errorf("%s: %w", doing, err))
	}
	return found, presence{listed: listed == len(versions), graphed: graphed == len(versions)}, nil
}

func versionIDs(versions []graph.Snapshot) []int32 {
	ids := make([]int32, len(versions))
	for i, v := range versions {
		ids[i] = int32(v.ID)
	}
	return ids
}

package pg

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const saveRepositorySQL = `
insert into repositories (name, url, refs, all_tags, worktree, watch_seconds)
values (@name, @url, @refs, @all_tags, @worktree, @watch)
on conflict (name) do update set url = excluded.url, refs = excluded.refs, all_tags = excluded.all_tags,
    worktree = excluded.worktree, watch_seconds = excluded.watch_seconds
returning id`

// SaveRepository inserts or updates by name.
func (s *Store) SaveRepository(ctx context.Context, repo domain.Repository) (int64, error) {
	if repo.Name == "" {
		return 0, domain.Invalid("name", "a repository needs a name")
	}
	refs := repo.Refs
	if refs == nil {
		refs = []string{}
	}
	var id int64
	err := s.pool.QueryRow(ctx, saveRepositorySQL, pgx.NamedArgs{
		"name": repo.Name, "url": repo.URL, "refs": refs, "all_tags": repo.AllTags,
		"worktree": repo.Worktree, "watch": int64(repo.Watch / time.Second),
	}).Scan(&id)
	if err != nil {
		return 0, fault(fmt.Errorf("save repository %s: %w", repo.Name, err))
	}
	return id, nil
}

const repositoriesSQL = `
select id, name, url, refs, all_tags, worktree, watch_seconds from repositories
where @name = '' or name = @name
order by name`

// Repositories lists by name, each with its whole versions, the newest first.
func (s *Store) Repositories(ctx context.Context) ([]domain.Repository, error) {
	return s.loadRepositories(ctx, "")
}

// Repository gives one repository, or not_found that lists what there is.
func (s *Store) Repository(ctx context.Context, name string) (domain.Repository, error) {
	if name == "" {
		return domain.Repository{}, domain.Invalid("repo", "name a repository")
	}
	repos, err := s.loadRepositories(ctx, name)
	if err != nil {
		return domain.Repository{}, err
	}
	if len(repos) == 0 {
		return domain.Repository{}, unknownRepository(ctx, s.pool, name)
	}
	return repos[0], nil
}

func (s *Store) loadRepositories(ctx context.Context, name string) ([]domain.Repository, error) {
	var repos []domain.Repository
	err := s.reading(ctx, func(tx pgx.Tx) error {
		var err error
		repos, err = collect(ctx, tx, "list repositories", scanRepository, repositoriesSQL, pgx.NamedArgs{"name": name})
		if err != nil {
			return err
		}
		details, err := collect(ctx, tx, "list versions", scanVersion, versionsSQL+" order by "+newestFirst,
			pgx.NamedArgs{"repo": name, "tag": ""})
		byRepo := map[string][]domain.VersionDetail{}
		for _, v := range details {
			byRepo[v.Repo] = append(byRepo[v.Repo], v)
		}
		for i := range repos {
			repos[i].Versions = byRepo[repos[i].Name]
		}
		return err
	})
	return repos, err
}

func scanRepository(row pgx.CollectableRow) (domain.Repository, error) {
	var r domain.Repository
	var watch int64
	err := row.Scan(&r.ID, &r.Name, &r.URL, &r.Refs, &r.AllTags, &r.Worktree, &watch)
	r.Watch = time.Duration(watch) * time.Second
	return r, err
}

// repositoryID gives the id of a repository, or not_found.
func repositoryID(ctx context.Context, q querier, name string) (int32, error) {
	found, err := collect(ctx, q, "look up repository "+name, pgx.RowTo[int32], `select id from repositories where name = $1`, name)
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		return 0, unknownRepository(ctx, q, name)
	}
	return found[0], nil
}

func unknownRepository(ctx context.Context, q querier, name string) error {
	names, err := collect(ctx, q, "list repositories", pgx.RowTo[string], `select name from repositories order by name`)
	if err != nil {
		return err
	}
	return domain.NotFound("there is no repository %q; %s", name, thereIs("repositories", names))
}

// thereIs lists what could have been named, at most the first 30.
func thereIs(what string, names []string) string {
	if len(names) == 0 {
		return "there are no " + what + " yet"
	}
	more := ""
	if len(names) > 30 {
		more = fmt.Sprintf(" and %d more", len(names)-30)
		names = names[:30]
	}
	return what + ": " + strings.Join(names, ", ") + more
}

package pg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// A local path begins with a slash, or says that it is a file's address.
const dueLookSQL = `
update repositories set looked_at = now() where id = (
    select id from repositories
    where looked_at < now() - make_interval(secs =>
        case when url like '/%' or url like 'file:%' then @local::float8 else @remote::float8 end)
    order by looked_at limit 1 for update skip locked)
returning name, now()`

// DueLook takes the repository whose refs were looked at longest ago, where that is longer ago
// than local, of a local path, or remote, and gives it with the time; not_found for none. No
// other process gets it before it is due again.
func (s *Store) DueLook(ctx context.Context, local, remote time.Duration) (domain.Repository, time.Time, error) {
	var name string
	var now time.Time
	err := s.pool.QueryRow(ctx, dueLookSQL, pgx.NamedArgs{"local": local.Seconds(), "remote": remote.Seconds()}).Scan(&name, &now)
	if errors.Is(err, pgx.ErrNoRows) {
		return domain.Repository{}, now, domain.NotFound("no repository is to be looked at")
	}
	if err != nil {
		return domain.Repository{}, now, fault(fmt.Errorf("find a repository to look at: %w", err))
	}
	repo, err := s.Repository(ctx, name)
	return repo, now, err
}

const noteSeenSQL = `
insert into repository_refs (repo_id, tag, commit, seen_at)
select r.id, n.tag, n.commit, @at from unnest(@tags::text[], @commits::text[]) n(tag, commit)
join repositories r on r.name = @repo order by n.tag
on conflict (repo_id, tag) do update set commit = excluded.commit, seen_at = excluded.seen_at
where repository_refs.seen_at < excluded.seen_at`

// NoteSeen records the commits of refs, by tag, as they were at a time. What was noted later
// than that stays. Of a repository that is gone nothing is recorded.
func (s *Store) NoteSeen(ctx context.Context, repo string, at time.Time, commits map[string]string) error {
	tags, ids := make([]string, 0, len(commits)), make([]string, 0, len(commits))
	for tag, commit := range commits {
		tags, ids = append(tags, tag), append(ids, commit)
	}
	if _, err := s.pool.Exec(ctx, noteSeenSQL, pgx.NamedArgs{"repo": repo, "at": at, "tags": tags, "commits": ids}); err != nil {
		return fault(fmt.Errorf("note the refs of %s: %w", repo, err))
	}
	return nil
}

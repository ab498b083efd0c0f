package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// namesTold is how many names an error lists.
const namesTold = 30

// What a query may be limited to is what can be read: whole versions. The last two lists, of
// what there is, are one name longer than what is told.
var sqlScope = statement("check the scope of a query", `
with readable as (
    select r.name as repo, v.tag from versions v join repositories r on r.id = v.repo_id where v.live
), scoped as (
    select * from readable where cardinality(@repositories::text[]) = 0 or repo = any(@repositories)
)
select array(select n from unnest(@repositories::text[]) n where not exists (select from readable where repo = n)),
    array(select n from unnest(@versions::text[]) n where not exists (select from scoped where tag = n)),
    array(select distinct repo from readable order by repo limit 31),
    array(select distinct tag from scoped order by tag limit 31)`)

// checkScope reports names in the scope of a query that stand for nothing: an answer from
// nowhere would look like one.
func (n *newTurn) checkScope(ctx context.Context, tx sender) error {
	if len(n.req.Repositories) == 0 && len(n.req.Versions) == 0 {
		return nil
	}
	var noRepos, noTags, repos, tags []string
	err := tx.QueryRow(ctx, sqlScope, pgx.NamedArgs{"repositories": list(n.req.Repositories), "versions": list(n.req.Versions)}).
		Scan(&noRepos, &noTags, &repos, &tags)
	switch {
	case err != nil:
		return fmt.Errorf("check the scope: %w", err)
	case len(noRepos) > 0:
		return unreadable("repositories", "no repository %q has been read", noRepos[0], repos)
	case len(noTags) > 0:
		return unreadable("versions", "no version %q has been read", noTags[0], tags)
	}
	return nil
}

// unreadable says what there is instead.
func unreadable(field, format, name string, there []string) error {
	rest := "; there is none yet"
	if len(there) > 0 {
		rest = "; there are: " + strings.Join(there[:min(len(there), namesTold)], ", ")
	}
	if len(there) > namesTold {
		rest += " and more"
	}
	e := domain.NotFound(format+"%s", name, rest)
	e.Field = field
	return e
}

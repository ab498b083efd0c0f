package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

var sqlBarred = statement("ask what keeps a person out", `select `+barred("@user", "@project")+`, `+named("@user"))

// barred is an expression: why a person may do nothing in a project now, or nowhere; see
// domain.Bar. Who is no person that we know is not barred: nobody removes people, but what was
// asked for before there were any has names that stand for none.
func barred(user, project string) string {
	return `coalesce((
    select case when b.disabled_at is not null then '` + string(domain.BarDisabled) + `'
        when coalesce(` + project + `, '') = '' or b.role = 'admin' then ''
        when exists (select from projects o join memberships m on m.group_id = o.group_id where o.id = ` + project + ` and m.user_id = b.id) then ''
        else '` + string(domain.BarOutside) + `' end
    from users b where b.id = ` + user + `), '')`
}

// named is an expression: the name of a person, or the id where there is none.
func named(user string) string {
	return `coalesce((select n.name from users n where n.id = ` + user + `), ` + user + `)`
}

// mayOrder is forbidden where something keeps a person from ordering what runs in a project.
func (s *Store) mayOrder(ctx context.Context, userID, projectID string) error {
	var bar domain.Bar
	var name string
	err := s.pool.QueryRow(ctx, sqlBarred, pgx.NamedArgs{"user": userID, "project": projectID}).Scan(&bar, &name)
	switch {
	case err != nil:
		return failed("ask what keeps "+userID+" out", err)
	case bar != "":
		return domain.Errorf(domain.CodeForbidden, "nothing is run: %s", bar.Says(name))
	}
	return nil
}

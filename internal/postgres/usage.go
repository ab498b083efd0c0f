package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// One pass over the turns, grouped four ways; days are UTC.
var sqlUsage = statement("sum a project's usage up", `
with spent as (
    select to_char(t.created_at at time zone 'utc', 'YYYY-MM-DD') as day, t.user_id, coalesce(u.name, t.user_id) as name,
        coalesce(t.provider_used ->> 'model', '') as model, t.input_tokens, t.output_tokens, t.cached_input_tokens, t.cost
    from turns t left join users u on u.id = t.user_id
    where t.project_id = @project
      and t.created_at >= @from::date::timestamp at time zone 'utc' and t.created_at < (@to::date + 1)::timestamp at time zone 'utc'
)
select case when grouping(day) = 0 then 'day' when grouping(user_id) = 0 then 'person' when grouping(model) = 0 then 'model' else 'total' end,
    coalesce(day, user_id, model, ''), coalesce(day, name, model, ''), count(*), coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint,
    coalesce(sum(cached_input_tokens), 0)::bigint, coalesce(round(sum(cost)::numeric, 9), 0)::float8
from spent group by grouping sets ((day), (user_id, name), (model), ())
order by 1, 2`)

// ProjectUsage sums up what a project's turns took, from the one day to the other (UTC), both
// included.
func (s *Store) ProjectUsage(ctx context.Context, projectID string, from, to time.Time) (domain.ProjectUsage, error) {
	usage := domain.ProjectUsage{
		From: from.Format(time.DateOnly), To: to.Format(time.DateOnly),
		Days: []domain.UsageRow{}, People: []domain.UsageRow{}, Models: []domain.UsageRow{},
	}
	rows, err := s.pool.Query(ctx, sqlUsage, pgx.NamedArgs{"project": projectID, "from": from, "to": to})
	if err != nil {
		return usage, failed("sum the usage of project "+projectID+" up", err)
	}
	var kind string
	var u domain.UsageRow
	_, err = pgx.ForEachRow(rows, []any{&kind, &u.Key, &u.Name, &u.Turns, &u.InputTokens, &u.OutputTokens, &u.CachedInputTokens, &u.Cost}, func() error {
		switch kind {
		case "day":
			usage.Days = append(usage.Days, u)
		case "person":
			usage.People = append(usage.People, u)
		case "model":
			usage.Models = append(usage.Models, u)
		default:
			usage.Total = u
		}
		return nil
	})
	return usage, failed("sum the usage of project "+projectID+" up", err)
}

package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Each conversation once, with what fits best of it: its title before its messages.
var sqlSearch = statement("search conversations", `
with wanted as (select websearch_to_tsquery('simple', @words) as query),
mine as (
    select c.id, c.title, c.updated_at from conversations c
    where case when @project::text <> '' then c.project_id = @project else c.user_id = @user and c.project_id is null end
), hits as (
    select mine.id, mine.title, '' as message_id, '' as role, mine.title as body, mine.updated_at as at, 2.0::real as rank
    from mine, wanted where to_tsvector('simple', plain_text(mine.title)) @@ wanted.query
    union all
    select mine.id, mine.title, m.id, m.role, m.body, m.created_at, ts_rank(m.words, wanted.query)
    from wanted, mine join messages m on m.conversation_id = mine.id where m.words @@ wanted.query
), best as (
    select distinct on (id) * from hits order by id, rank desc, at desc
), page as (
    select best.*, greatest(1, coalesce((
        select min(nullif(strpos(' ' || lower(plain_text(left(body, 100000))) || ' ', ' ' || w || ' '), 0)) from unnest(@wanted::text[]) w
    ), 1) - 60) as start
    from best order by rank desc, at desc, id limit @limit
)
select page.id, page.title, page.message_id, page.role, substring(page.body from page.start for 240), page.start > 1,
    length(page.body) >= page.start + 240, page.at
from page order by page.rank desc, page.at desc, page.id`)

// SearchConversations looks for words in the titles and messages of a project's or a person's
// conversations, the best first. Words in quotes belong together, and one with a minus must
// not be there.
func (s *Store) SearchConversations(ctx context.Context, q domain.ConversationQuery, words string) ([]domain.Found, error) {
	query, wanted := searchWords(words)
	rows, err := s.pool.Query(ctx, sqlSearch, pgx.NamedArgs{"words": query, "wanted": list(wanted), "project": q.ProjectID, "user": q.UserID, "limit": q.Limit})
	if err != nil {
		return nil, failed("search conversations", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f domain.Found, err error) {
		var before, after bool
		err = row.Scan(&f.ConversationID, &f.Title, &f.MessageID, &f.Role, &f.Excerpt, &before, &after, &f.At)
		f.Excerpt = excerpt(f.Excerpt, before, after)
		f.At = f.At.UTC()
		return f, err
	})
	return found, failed("search conversations", err)
}

// excerpt makes a cut of a text end with whole words, and shows where something is left out.
func excerpt(cut string, before, after bool) string {
	if before {
		if _, rest, found := strings.Cut(cut, " "); found {
			cut = rest
		}
		cut = "… " + cut
	}
	if after {
		if end := strings.LastIndex(cut, " "); end > 0 {
			cut = cut[:end]
		}
		cut += " …"
	}
	return cut
}

package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const memoryColumns = `
m.id, m.project_id, m.title, m.created_by, m.turn_id, m.version, m.created_at, m.updated_at`

var (
	sqlMemories = statement("list memories", `
select`+memoryColumns+`, '' from memories m where m.project_id = @project order by m.updated_at desc, m.id`)

	sqlMemory = statement("read a memory", `
select`+memoryColumns+`, m.content from memories m where m.id = @memory and m.project_id = @project`)

	sqlMemoryElsewhere = statement("look for a memory anywhere", `select exists (select from memories where id = @id)`)

	sqlMemoryWritten = statement("find the memory of a call", `
select`+memoryColumns+`, m.content from memories m where m.write_key = @key`)

	sqlNewMemory = statement("new memory", `
insert into memories (id, project_id, title, content, created_by, turn_id, write_key)
values (@memory, @project, @title, @content, @user, @turn, nullif(@key, ''))`)

	sqlUpdateMemory = statement("update a memory", `
with was as (
    select id, version from memories where id = @memory and project_id = @project for update
), changed as (
    update memories m set title = coalesce(@title, m.title), content = coalesce(@content, m.content), version = m.version + 1, updated_at = now()
    from was where m.id = was.id and (@version = 0 or was.version = @version) returning m.id
)
select version, exists (select from changed) from was`)

	sqlHoldNotes = statement("hold what a project remembers", `select pg_advisory_xact_lock(hashtextextended('remember/' || @project, 0))`)

	sqlSameMemory = statement("find the same memory", `
select`+memoryColumns+`, m.content from memories m
where m.project_id = @project and lower(regexp_replace(m.title, '\s+', ' ', 'g')) = lower(regexp_replace(@title, '\s+', ' ', 'g'))
  and lower(regexp_replace(m.content, '\s+', ' ', 'g')) = lower(regexp_replace(@content, '\s+', ' ', 'g'))
order by m.created_at, m.id limit 1`)

	sqlDropMemory = statement("remove a memory", `
delete from memories where id = @memory and project_id = @project returning id`)

	// One word in common is chance: a note is offered where it has two of the question's words,
	// all of a shorter question's, or at least half of its own title's.
	sqlRecall = statement("recall memories", `
with asked as materialized (
    select to_tsvector('english', @question) as words,
        replace(plainto_tsquery('english', @question)::text, '&', '|')::tsquery as any_of
), found as (
    select m.*, ts_rank(m.search, any_of, 1) as rank, length(words) as asked,
        (select count(*) from unnest(tsvector_to_array(m.search)) w where w = any(tsvector_to_array(words))) as hits,
        (select count(*) from unnest(tsvector_to_array(ts_filter(m.search, '{a}'))) w where w = any(tsvector_to_array(words))) as title_hits,
        length(ts_filter(m.search, '{a}')) as title_words
    from memories m, asked where m.project_id = @project and m.search @@ any_of
)
select`+memoryColumns+`, m.content from found m
where hits >= 2 or hits = asked or title_hits > 0 and title_hits * 2 >= title_words
order by m.rank desc, m.updated_at desc, m.id limit @limit`)
)

// Memories lists a project's memories, the one changed last first, without contents.
func (s *Store) Memories(ctx context.Context, projectID string) ([]domain.Memory, error) {
	return s.memories(ctx, "list memories", sqlMemories, pgx.NamedArgs{"project": projectID})
}

// Recall gives the project's memories that fit a question, the best first.
func (s *Store) Recall(ctx context.Context, projectID, question string, limit int) ([]domain.Memory, error) {
	return s.memories(ctx, "recall memories", sqlRecall, pgx.NamedArgs{"project": projectID, "question": clean(question), "limit": limit})
}

func (s *Store) memories(ctx context.Context, doing, sql string, args pgx.NamedArgs) ([]domain.Memory, error) {
	rows, err := s.pool.Query(ctx, sql, args)
	if err != nil {
		return nil, failed(doing, err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Memory, error) { return scanMemory(row) })
	return list, failed(doing, err)
}

// Memory gives a memory of a project, or not_found.
func (s *Store) Memory(ctx context.Context, projectID, id string) (domain.Memory, error) {
	m, err := scanMemory(s.pool.QueryRow(ctx, sqlMemory, pgx.NamedArgs{"project": projectID, "memory": id}))
	if noRows(err) {
		return m, s.noMemory(ctx, id)
	}
	return m, failed("load memory "+id, err)
}

// CreateMemory keeps a memory. A tool call that is repeated gives what it kept the first time;
// a note of a turn that is there already gives the one that is there.
func (s *Store) CreateMemory(ctx context.Context, m domain.Memory, by domain.Author) (domain.Memory, error) {
	m.ID = domain.NewID()
	args := pgx.NamedArgs{
		"memory": m.ID, "project": m.ProjectID, "title": clean(m.Title), "content": clean(m.Content),
		"user": by.UserID, "turn": by.TurnID, "key": by.Key(),
	}
	var same *domain.Memory
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) (err error) {
		if by.TurnID != "" {
			if same, err = sameMemory(ctx, tx, args); err != nil || same != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, sqlNewMemory, args)
		return err
	})
	switch {
	case same != nil:
		return *same, nil
	case uniqueViolation(err):
		m, err = scanMemory(s.pool.QueryRow(ctx, sqlMemoryWritten, pgx.NamedArgs{"key": by.Key()}))
		return m, failed("find the memory of a call", err)
	case foreignKeyViolation(err):
		return domain.Memory{}, domain.NotFound("there is no such project any more")
	case err != nil:
		return domain.Memory{}, failed("create a memory", err)
	}
	return s.Memory(ctx, m.ProjectID, m.ID)
}

// sameMemory finds the note that is to be made, or nil, and lets no other turn of the project
// make it meanwhile.
func sameMemory(ctx context.Context, tx pgx.Tx, args pgx.NamedArgs) (*domain.Memory, error) {
	if _, err := tx.Exec(ctx, sqlHoldNotes, args); err != nil {
		return nil, err
	}
	same, err := scanMemory(tx.QueryRow(ctx, sqlSameMemory, args))
	if noRows(err) {
		return nil, nil
	}
	return &same, err
}

// UpdateMemory changes a memory; not_found, or a conflict where the change does not build on
// the newest version.
func (s *Store) UpdateMemory(ctx context.Context, projectID, id string, change domain.MemoryChange) error {
	var newest int
	var changed bool
	err := s.pool.QueryRow(ctx, sqlUpdateMemory, pgx.NamedArgs{
		"project": projectID, "memory": id, "title": change.Title, "content": change.Content, "version": change.Version,
	}).Scan(&newest, &changed)
	switch {
	case noRows(err):
		return s.noMemory(ctx, id)
	case err != nil:
		return failed("update memory "+id, err)
	case !changed:
		return domain.StaleVersion("memory", change.Version, newest)
	}
	return nil
}

// DeleteMemory removes a memory, or gives not_found.
func (s *Store) DeleteMemory(ctx context.Context, projectID, id string) error {
	err := s.pool.QueryRow(ctx, sqlDropMemory, pgx.NamedArgs{"project": projectID, "memory": id}).Scan(&id)
	if noRows(err) {
		return s.noMemory(ctx, id)
	}
	return failed("remove memory "+id, err)
}

// noMemory is the answer to who asks for a memory that is not of the project.
func (s *Store) noMemory(ctx context.Context, id string) error {
	return s.missing(ctx, sqlMemoryElsewhere, id, "there is no memory %q")
}

func scanMemory(row pgx.Row) (m domain.Memory, err error) {
	err = row.Scan(&m.ID, &m.ProjectID, &m.Title, &m.CreatedBy, &m.TurnID, &m.Version, &m.CreatedAt, &m.UpdatedAt, &m.Content)
	m.CreatedAt, m.UpdatedAt = m.CreatedAt.UTC(), m.UpdatedAt.UTC()
	return m, err
}

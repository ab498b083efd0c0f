package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

const skillColumns = `
s.id, coalesce(s.project_id, ''), s.name, s.description, s.version, s.created_by, s.created_at, s.updated_at`

var (
	// A project's skill hides a global one of its name.
	sqlSkills = statement("list skills", `
select`+skillColumns+`, '' from skills s
where coalesce(s.project_id, '') = @project
   or @global and s.project_id is null and not exists (select from skills p where p.project_id = @project and p.name = s.name)
order by s.name`)

	sqlSkill = statement("read a skill", `
select`+skillColumns+`, v.content from skills s join skill_versions v on v.skill_id = s.id and v.version = s.version
where s.id = @skill and coalesce(s.project_id, '') = @project`)

	// What is for all is hidden from nobody.
	sqlSkillElsewhere = statement("look for a skill anywhere", `
select exists (select from skills where id = @id and project_id is not null)`)

	sqlSkillNamed = statement("find a skill", `
select`+skillColumns+`, v.content from skills s join skill_versions v on v.skill_id = s.id and v.version = s.version
where s.name = @name and (s.project_id = @project or s.project_id is null)
order by s.project_id nulls last limit 1`)

	sqlNewSkill = statement("new skill", `
with made as (
    insert into skills (id, project_id, name, description, created_by)
    values (@skill, nullif(@project, ''), @name, @description, @user) returning id
)
insert into skill_versions (skill_id, version, name, content, author) select id, 1, @name, @content, @user from made`)

	sqlReviseSkill = statement("revise a skill", `
with revised as (
    update skills set name = @name, description = @description, version = version + 1, updated_at = now()
    where id = @skill and version = @version returning id, version
)
insert into skill_versions (skill_id, version, name, content, author, restored_from)
select id, version, @name, @content, @user, @restored from revised returning version`)

	sqlDropSkill = statement("remove a skill", `
delete from skills where id = @skill and coalesce(project_id, '') = @project returning id`)

	sqlSkillVersions = statement("list a skill's versions", `
select version, name, case when @version = 0 then '' else content end, author, '', restored_from, created_at from skill_versions
where skill_id = @skill and (@version = 0 or version = @version) order by version desc`)

	// A text that was never put in makes its skill where the name is new, and a version where
	// the newest one was seeded too. The row of the name serialises programs that start at once.
	sqlSeedSkill = statement("seed a skill", `
with known as (
    insert into skill_seeds (name, digests) values (@name, array[encode(sha256(convert_to(@content, 'UTF8')), 'hex')])
    on conflict (name) do update set digests = skill_seeds.digests || excluded.digests
        where not skill_seeds.digests @> excluded.digests
    returning name, xmax = 0 as fresh
), made as (
    insert into skills (id, name, description, created_by) select @skill, name, @description, @user from known where fresh
    on conflict do nothing returning id, version
), revised as (
    update skills s set description = @description, version = s.version + 1, updated_at = now()
    from known k, skill_versions v
    where not k.fresh and s.project_id is null and s.name = k.name and v.skill_id = s.id and v.version = s.version and v.seeded
    returning s.id, s.version
)
insert into skill_versions (skill_id, version, name, content, author, seeded)
select id, version, @name, @content, @user, true from (select * from made union all select * from revised) w`)
)

// Skills lists the skills of a project by name, "" for the global ones; with global set also
// the global ones that no skill of the project hides.
func (s *Store) Skills(ctx context.Context, projectID string, global bool) ([]domain.Skill, error) {
	rows, err := s.pool.Query(ctx, sqlSkills, pgx.NamedArgs{"project": projectID, "global": global})
	if err != nil {
		return nil, failed("list skills", err)
	}
	skills, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (domain.Skill, error) { return scanSkill(row) })
	return skills, failed("list skills", err)
}

// Skill gives a skill of a project, "" for a global one, with its content; or not_found.
func (s *Store) Skill(ctx context.Context, projectID, id string) (domain.Skill, error) {
	skill, err := scanSkill(s.pool.QueryRow(ctx, sqlSkill, pgx.NamedArgs{"skill": id, "project": projectID}))
	if noRows(err) {
		return skill, s.noSkill(ctx, id)
	}
	return skill, failed("load skill "+id, err)
}

// SkillNamed finds the skill that a name means in a project, "" for none; or not_found.
func (s *Store) SkillNamed(ctx context.Context, projectID, name string) (domain.Skill, error) {
	skill, err := scanSkill(s.pool.QueryRow(ctx, sqlSkillNamed, pgx.NamedArgs{"project": projectID, "name": name}))
	if noRows(err) {
		return skill, domain.NotFound("there is no skill named %q", name)
	}
	return skill, failed("find skill "+name, err)
}

// CreateSkill keeps a skill as version 1; a taken name is a conflict.
func (s *Store) CreateSkill(ctx context.Context, skill domain.Skill) (domain.Skill, error) {
	skill.ID = domain.NewID()
	if _, err := s.pool.Exec(ctx, sqlNewSkill, skillArgs(skill, skill.CreatedBy)); err != nil {
		return domain.Skill{}, skillFault("create a skill", skill.Name, err)
	}
	return s.Skill(ctx, skill.ProjectID, skill.ID)
}

// ReviseSkill keeps a skill as the version after skill.Version; a conflict where that is no
// longer the newest. The author is a person's id; restoredFrom is 0 for none.
func (s *Store) ReviseSkill(ctx context.Context, skill domain.Skill, author string, restoredFrom int) error {
	args := skillArgs(skill, author)
	args["version"], args["restored"] = skill.Version, restoredFrom
	err := s.pool.QueryRow(ctx, sqlReviseSkill, args).Scan(new(int))
	if noRows(err) {
		now, err := s.Skill(ctx, skill.ProjectID, skill.ID)
		if err != nil {
			return err
		}
		return domain.StaleVersion("skill", skill.Version, now.Version)
	}
	return skillFault("revise skill "+skill.ID, skill.Name, err)
}

// DeleteSkill removes a skill of a project, "" for a global one, or gives not_found.
func (s *Store) DeleteSkill(ctx context.Context, projectID, id string) error {
	err := s.pool.QueryRow(ctx, sqlDropSkill, pgx.NamedArgs{"skill": id, "project": projectID}).Scan(&id)
	if noRows(err) {
		return s.noSkill(ctx, id)
	}
	return failed("remove skill "+id, err)
}

// noSkill is the answer to who asks for a skill that is not of the project.
func (s *Store) noSkill(ctx context.Context, id string) error {
	return s.missing(ctx, sqlSkillElsewhere, id, "there is no skill %q")
}

// SkillVersions lists a skill's versions, newest first, without their contents.
func (s *Store) SkillVersions(ctx context.Context, id string) ([]domain.Revision, error) {
	return s.revisions(ctx, sqlSkillVersions, pgx.NamedArgs{"skill": id, "version": 0})
}

// SkillVersion gives a version with its content, or not_found.
func (s *Store) SkillVersion(ctx context.Context, id string, version int) (domain.Revision, error) {
	return s.revision(ctx, sqlSkillVersions, pgx.NamedArgs{"skill": id, "version": version})
}

// SeedSkills puts global skills in that were never put in before, and gives those that nobody
// has changed or deleted their new text.
func (s *Store) SeedSkills(ctx context.Context, skills []domain.Skill) error {
	steps := &pgx.Batch{}
	for _, skill := range skills {
		skill.ID = domain.NewID()
		steps.Queue(sqlSeedSkill, skillArgs(skill, domain.OwnerID))
	}
	return failed("seed skills", s.pool.SendBatch(ctx, steps).Close())
}

func skillArgs(skill domain.Skill, author string) pgx.NamedArgs {
	return pgx.NamedArgs{
		"skill": skill.ID, "project": skill.ProjectID, "name": skill.Name, "description": clean(skill.Description),
		"content": clean(skill.Content), "user": author,
	}
}

func skillFault(doing, name string, err error) error {
	switch {
	case uniqueViolation(err):
		return domain.Errorf(domain.CodeConflict, "there is a skill named %q already", name)
	case foreignKeyViolation(err):
		return domain.NotFound("there is no such project any more")
	}
	return failed(doing, err)
}

func scanSkill(row pgx.Row) (s domain.Skill, err error) {
	err = row.Scan(&s.ID, &s.ProjectID, &s.Name, &s.Description, &s.Version, &s.CreatedBy, &s.CreatedAt, &s.UpdatedAt, &s.Content)
	s.CreatedAt, s.UpdatedAt, s.Scope = s.CreatedAt.UTC(), s.UpdatedAt.UTC(), domain.SkillProject
	if s.ProjectID == "" {
		s.Scope = domain.SkillGlobal
	}
	return s, err
}

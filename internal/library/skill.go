package library

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// SkillStore keeps skills. A project "" stands for none: its skills are the global ones.
type SkillStore interface {
	Skills(ctx context.Context, projectID string, global bool) ([]domain.Skill, error)
	Skill(ctx context.Context, projectID, id string) (domain.Skill, error)
	SkillNamed(ctx context.Context, projectID, name string) (domain.Skill, error)
	CreateSkill(ctx context.Context, skill domain.Skill) (domain.Skill, error)
	ReviseSkill(ctx context.Context, skill domain.Skill, author string, restoredFrom int) error
	DeleteSkill(ctx context.Context, projectID, id string) error
	SkillVersions(ctx context.Context, id string) ([]domain.Revision, error)
	SkillVersion(ctx context.Context, id string, version int) (domain.Revision, error)
	SeedSkills(ctx context.Context, skills []domain.Skill) error
}

// Skills are the playbooks. Every method that takes a project gives not_found for a skill of
// another one.
type Skills struct{ store SkillStore }

// NewSkills builds the skills on a store.
func NewSkills(store SkillStore) *Skills { return &Skills{store} }

//go:embed skills/*.md
var files embed.FS

// Seeds gives the global skills that come with the program, by name.
func Seeds() ([]domain.Skill, error) {
	names, err := fs.Glob(files, "skills/*.md")
	if err != nil {
		return nil, err
	}
	var seeds []domain.Skill
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		skill, err := fit("", "", string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		seeds = append(seeds, skill)
	}
	return seeds, nil
}

// Seed puts the global skills in that come with the program, and later texts of them as new
// versions. Each text is put in once in the life of a database, and none over what people have
// changed, renamed or deleted.
func (s *Skills) Seed(ctx context.Context) error {
	seeds, err := Seeds()
	if err != nil {
		return err
	}
	return s.store.SeedSkills(ctx, seeds)
}

// List gives the skills of a project by name, without contents; with global set also the
// global ones, save those that a skill of the project hides.
func (s *Skills) List(ctx context.Context, projectID string, global bool) ([]domain.Skill, error) {
	return s.store.Skills(ctx, projectID, global)
}

// Get gives a skill with its content.
func (s *Skills) Get(ctx context.Context, projectID, id string) (domain.Skill, error) {
	return s.store.Skill(ctx, projectID, id)
}

// Named gives the skill that a name means in a project: its own before a global one.
func (s *Skills) Named(ctx context.Context, projectID, name string) (domain.Skill, error) {
	return s.store.SkillNamed(ctx, projectID, strings.ToLower(strings.TrimSpace(name)))
}

// Create keeps a new skill. Name and description may stand in the content's front matter
// alone; what is given beside it must be the same there.
func (s *Skills) Create(ctx context.Context, skill domain.Skill) (domain.Skill, error) {
	if err := agree(&skill.Name, &skill.Description, skill.Content); err != nil {
		return domain.Skill{}, err
	}
	made, err := fit(skill.Name, skill.Description, skill.Content)
	if err != nil {
		return domain.Skill{}, err
	}
	made.ProjectID, made.CreatedBy = skill.ProjectID, skill.CreatedBy
	return s.store.CreateSkill(ctx, made)
}

// agree refuses a name or description that a front matter given with it contradicts.
func agree(name, description *string, content string) error {
	d, err := parseDocument(content)
	if err != nil {
		return err
	}
	for field, given := range map[string]*string{"name": name, "description": description} {
		inside, err := d.field(field)
		if err != nil {
			return err
		}
		if given != nil && inside != "" && strings.TrimSpace(*given) != "" && strings.TrimSpace(*given) != inside {
			return domain.Invalid(field, "is another one in the content's front matter: %q", inside)
		}
	}
	return nil
}

// Update makes a new version of a skill; nothing happens where nothing would change.
func (s *Skills) Update(ctx context.Context, projectID, id string, change domain.SkillChange, author string) error {
	old, err := s.store.Skill(ctx, projectID, id)
	if err != nil {
		return err
	}
	if change.Version != 0 && change.Version != old.Version {
		return domain.StaleVersion("skill", change.Version, old.Version)
	}
	name, description, content := old.Name, old.Description, old.Content
	if change.Content != nil {
		if err := agree(change.Name, change.Description, *change.Content); err != nil {
			return err
		}
		if name, description, content, err = inherit(old, *change.Content); err != nil {
			return err
		}
	}
	if change.Name != nil {
		name = *change.Name
	}
	if change.Description != nil {
		description = *change.Description
	}
	return s.revise(ctx, old, [3]string{name, description, content}, author, 0)
}

// inherit gives the parts of a new content, whose front matter may leave out what stays.
func inherit(old domain.Skill, content string) (name, description, text string, err error) {
	d, err := parseDocument(content)
	if err != nil {
		return "", "", "", err
	}
	if name, err = d.field("name"); err != nil {
		return "", "", "", err
	}
	if description, err = d.field("description"); err != nil {
		return "", "", "", err
	}
	if name == "" {
		name = old.Name
	}
	if description == "" {
		description = old.Description
	}
	return name, description, content, nil
}

// revise keeps name, description and content as the version after old.
func (s *Skills) revise(ctx context.Context, old domain.Skill, parts [3]string, author string, restoredFrom int) error {
	for i, field := range []string{"name", "description"} {
		if strings.TrimSpace(parts[i]) == "" {
			return domain.Invalid(field, "must not be empty")
		}
	}
	next, err := fit(parts[0], parts[1], parts[2])
	if err != nil {
		return err
	}
	if next.Name == old.Name && next.Description == old.Description && next.Content == old.Content {
		return nil
	}
	next.ID, next.ProjectID, next.Version = old.ID, old.ProjectID, old.Version
	return s.store.ReviseSkill(ctx, next, author, restoredFrom)
}

// Delete removes a skill with its versions.
func (s *Skills) Delete(ctx context.Context, projectID, id string) error {
	return s.store.DeleteSkill(ctx, projectID, id)
}

// Versions lists a skill's versions, newest first, without contents.
func (s *Skills) Versions(ctx context.Context, projectID, id string) ([]domain.Revision, error) {
	if _, err := s.store.Skill(ctx, projectID, id); err != nil {
		return nil, err
	}
	return s.store.SkillVersions(ctx, id)
}

// Version gives one version with its content.
func (s *Skills) Version(ctx context.Context, projectID, id string, version int) (domain.Revision, error) {
	if _, err := s.store.Skill(ctx, projectID, id); err != nil {
		return domain.Revision{}, err
	}
	return s.store.SkillVersion(ctx, id, version)
}

// Diff compares two versions of a skill.
func (s *Skills) Diff(ctx context.Context, projectID, id string, from, to int) (domain.Difference, error) {
	a, err := s.Version(ctx, projectID, id, from)
	if err != nil {
		return domain.Difference{}, err
	}
	b, err := s.store.SkillVersion(ctx, id, to)
	if err != nil {
		return domain.Difference{}, err
	}
	diff, err := unified(a.Title+".md", a.Content, b.Content, from, to)
	return domain.Difference{From: from, To: to, Diff: diff}, err
}

// Restore makes an earlier version the newest again, as a new one.
func (s *Skills) Restore(ctx context.Context, projectID, id string, version int, author string) error {
	old, err := s.store.Skill(ctx, projectID, id)
	if err != nil {
		return err
	}
	then, err := s.store.SkillVersion(ctx, id, version)
	if err != nil {
		return err
	}
	name, description, content, err := inherit(old, then.Content)
	if err != nil {
		return err
	}
	return s.revise(ctx, old, [3]string{name, description, content}, author, version)
}

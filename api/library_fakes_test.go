package api_test

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// noShelf is a store of the library that holds nothing and keeps nothing.
type noShelf struct{}

var errNoShelf = domain.NotFound("there is no such thing on the shelf")

func (noShelf) Skills(context.Context, string, bool) ([]domain.Skill, error) { return nil, nil }
func (noShelf) Skill(context.Context, string, string) (domain.Skill, error) {
	return domain.Skill{}, errNoShelf
}
func (noShelf) SkillNamed(context.Context, string, string) (domain.Skill, error) {
	return domain.Skill{}, errNoShelf
}
func (noShelf) CreateSkill(context.Context, domain.Skill) (domain.Skill, error) {
	return domain.Skill{}, errNoShelf
}
func (noShelf) ReviseSkill(context.Context, domain.Skill, string, int) error { return errNoShelf }
func (noShelf) DeleteSkill(context.Context, string, string) error            { return errNoShelf }
func (noShelf) SkillVersions(context.Context, string) ([]domain.Revision, error) {
	return nil, errNoShelf
}
func (noShelf) SkillVersion(context.Context, string, int) (domain.Revision, error) {
	return domain.Revision{}, errNoShelf
}
func (noShelf) SeedSkills(context.Context, []domain.Skill) error { return errNoShelf }

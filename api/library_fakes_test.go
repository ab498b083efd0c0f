package api_test

import (
	"context"
	"strings"

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

// An artifact "of-p1" is taken for one of the project p1.
func (noShelf) ArtifactProject(_ context.Context, id string) (string, error) {
	if pid, is := strings.CutPrefix(id, "of-"); is {
		return pid, nil
	}
	return "", errNoShelf
}
func (noShelf) Artifacts(context.Context, string) ([]domain.Artifact, error) { return nil, nil }
func (noShelf) Artifact(context.Context, string) (domain.Artifact, error) {
	return domain.Artifact{}, errNoShelf
}
func (noShelf) CreateArtifact(context.Context, domain.Artifact, domain.Author) (domain.Artifact, error) {
	return domain.Artifact{}, errNoShelf
}
func (noShelf) ReviseArtifact(context.Context, domain.Artifact, domain.Author, int) (domain.Artifact, error) {
	return domain.Artifact{}, errNoShelf
}
func (noShelf) DeleteArtifact(context.Context, string, int) (int, error) { return 0, errNoShelf }
func (noShelf) ArtifactVersions(context.Context, string) ([]domain.Revision, error) {
	return nil, errNoShelf
}
func (noShelf) ArtifactVersion(context.Context, string, int) (domain.Revision, error) {
	return domain.Revision{}, errNoShelf
}
func (noShelf) ClaimRendering(context.Context) (domain.Rendering, bool, error) {
	return domain.Rendering{}, false, nil
}
func (noShelf) SaveRendering(context.Context, string, int, domain.Rendered) error { return errNoShelf }
func (noShelf) Rendering(context.Context, string, int) (domain.Rendered, error) {
	return domain.Rendered{}, errNoShelf
}

func (noShelf) Memories(context.Context, string) ([]domain.Memory, error) { return nil, nil }
func (noShelf) Memory(context.Context, string, string) (domain.Memory, error) {
	return domain.Memory{}, errNoShelf
}
func (noShelf) CreateMemory(context.Context, domain.Memory, domain.Author) (domain.Memory, error) {
	return domain.Memory{}, errNoShelf
}
func (noShelf) UpdateMemory(context.Context, string, string, domain.MemoryChange) error {
	return errNoShelf
}
func (noShelf) DeleteMemory(context.Context, string, string) error { return errNoShelf }
func (noShelf) Recall(context.Context, string, string, int) ([]domain.Memory, error) {
	return nil, nil
}

package api

import (
	"context"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Skills keeps playbooks; a project "" stands for none, whose skills are the global ones.
// Every method gives not_found for a skill of another project.
type Skills interface {
	// List gives skills by name, without contents; with global set also the global ones,
	// save those that a skill of the project hides.
	List(ctx context.Context, projectID string, global bool) ([]domain.Skill, error)
	Get(ctx context.Context, projectID, id string) (domain.Skill, error)
	// Create keeps a skill; invalid where it is unfit, a conflict where its name is taken.
	Create(ctx context.Context, skill domain.Skill) (domain.Skill, error)
	Update(ctx context.Context, projectID, id string, change domain.SkillChange, author string) error
	Delete(ctx context.Context, projectID, id string) error
	Versions(ctx context.Context, projectID, id string) ([]domain.Revision, error)
	Version(ctx context.Context, projectID, id string, version int) (domain.Revision, error)
	Diff(ctx context.Context, projectID, id string, from, to int) (domain.Difference, error)
	Restore(ctx context.Context, projectID, id string, version int, author string) error
}

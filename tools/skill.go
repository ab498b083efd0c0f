package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Skills finds playbooks; library.Skills does.
type Skills interface {
	// List gives the skills of a project, "" for none, by name and without contents; with
	// global set also the global ones that none of them hides.
	List(ctx context.Context, projectID string, global bool) ([]domain.Skill, error)
	// Named gives the skill that a name means in a project, or not_found.
	Named(ctx context.Context, projectID, name string) (domain.Skill, error)
}

// ListSkillsName is the tool that names the playbooks; where it is offered, the system prompt
// tells of them.
const ListSkillsName = "list_skills"

const maxSkillText = 68 << 10 // a skill may have 64 KiB

// SkillTools gives the tools that read playbooks.
func SkillTools(skills Skills) []Tool { return []Tool{listSkills{skills}, loadSkill{skills}} }

type listSkills struct{ skills Skills }

func (listSkills) Spec() Spec {
	return Spec{
		ToolSpec: domain.ToolSpec{
			Name:        ListSkillsName,
			Description: "List the playbooks for work on systems (such as juju, lxd, ceph): the name of each and when to use it.",
			InputSchema: schema(),
		},
		Policy: domain.PolicyNever, Local: true, Timeout: localTimeout, MaxResult: defaultResult, Phase: PhaseSkill, Activity: "Listing playbooks",
	}
}

func (t listSkills) Run(ctx context.Context, scope domain.Scope, _ json.RawMessage) (domain.ToolResult, error) {
	list, err := t.skills.List(ctx, scope.ProjectID, true)
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("list skills: %w", err)
	}
	var r report
	if len(list) == 0 {
		r.line("There are no playbooks.")
	}
	for _, s := range list {
		r.line("%s (%s): %s", s.Name, s.Scope, s.Description)
	}
	return r.result("%d playbooks", len(list)), nil
}

type loadSkill struct{ skills Skills }

func (loadSkill) Spec() Spec {
	return Spec{
		ToolSpec: domain.ToolSpec{
			Name:        "load_skill",
			Description: "Read a playbook whole: when to use it, commands in order, checks, signs of failure, rollback. It does not allow what would otherwise need a person's approval.",
			InputSchema: schema(field{name: "name", kind: "string", about: "The playbook's name as list_skills gives it.", required: true}),
		},
		Policy: domain.PolicyNever, Local: true, Timeout: localTimeout, MaxResult: maxSkillText, Phase: PhaseSkill, Activity: "Reading the playbook {name}",
	}
}

func (t loadSkill) Run(ctx context.Context, scope domain.Scope, input json.RawMessage) (domain.ToolResult, error) {
	in, err := decode[struct {
		Name string `json:"name" need:""`
	}](input)
	if err != nil {
		return domain.ToolResult{}, err
	}
	s, err := t.skills.Named(ctx, scope.ProjectID, in.Name)
	if domain.CodeOf(err) == domain.CodeNotFound {
		return domain.ToolResult{}, domain.NotFound("there is no playbook %q; list_skills names those there are", in.Name)
	}
	if err != nil {
		return domain.ToolResult{}, fmt.Errorf("load skill: %w", err)
	}
	return domain.ToolResult{Text: s.Content, Preview: fmt.Sprintf("Playbook %s, version %d", s.Name, s.Version)}, nil
}

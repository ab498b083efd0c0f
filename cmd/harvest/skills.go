package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// skillShelf is the skills of a project and of everybody.
var skillShelf = shelf{noun: "skill", find: func(ctx context.Context, api *client.Client, project, name string) (client.Item, error) {
	list, err := api.Skills(ctx, project, project != "")
	if err != nil {
		return client.Item{}, err
	}
	id, err := pick(entries(list, func(s domain.Skill) entry { return entry{s.ID, s.Name} }), "skill", name)
	for _, s := range list {
		if s.ID == id && s.Scope == domain.SkillGlobal {
			project = ""
		}
	}
	return client.SkillItem(project, id), err
}}

func (p *program) skillsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "skills",
		Short: "See and keep the playbooks that models load",
		Long: `Skills are playbooks that models load when a task calls for them: Markdown under a front matter
that says name and description. Without --project they are everybody's, which admins change.`,
		Example: `  harvest skills list --project engine
  harvest skills show juju
  harvest skills add --project engine --from deploy.md
  harvest skills edit deploy --project engine --from deploy.md
  harvest skills diff deploy --project engine
  harvest skills restore deploy 1 --project engine`,
	}
	c.AddCommand(p.listSkillsCommand(), p.showOf(skillShelf, true), p.addSkillCommand(),
		p.editOf(skillShelf, p.text, [2]string{"name", "a new name"}, [2]string{"description", "a new description"}),
		p.versionsOf(skillShelf), p.diffOf(skillShelf), p.restoreOf(skillShelf), p.deleteOf(skillShelf))
	return c
}

func (p *program) listSkillsCommand() *cobra.Command {
	var asJSON bool
	c := p.inProject(&cobra.Command{
		Use: "list", Short: "List the skills that everybody has, or all that a project's models may load", Args: noArguments,
	}, false, func(ctx context.Context, api *client.Client, project string, _ []string) error {
		list, err := api.Skills(ctx, project, project != "")
		if err != nil {
			return err
		}
		table := listing{head: []string{"id", "name", "of", "version", "changed", "description"}, none: "there are no skills"}
		for _, s := range list {
			of := map[bool]string{true: "everybody", false: "the project"}[s.Scope == domain.SkillGlobal]
			table.row(s.ID, s.Name, of, strconv.Itoa(s.Version), when(s.UpdatedAt), s.Description)
		}
		return p.show(table, list, asJSON)
	})
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) addSkillCommand() *cobra.Command {
	var from, name, description string
	c := p.inProject(&cobra.Command{
		Use: "add", Short: "Add a skill, and print its id", Args: noArguments,
	}, false, func(ctx context.Context, api *client.Client, project string, _ []string) error {
		content, err := p.text(from)
		if err != nil {
			return err
		}
		made, err := api.AddSkill(ctx, project, name, description, content)
		if err == nil {
			fmt.Fprintln(p.out, made.ID)
		}
		return err
	})
	c.Flags().StringVar(&from, "from", "", "Markdown file, or - for the standard input")
	c.Flags().StringVar(&name, "name", "", "name (default: what the front matter says)")
	c.Flags().StringVar(&description, "description", "", "when to load it (default: what the front matter says)")
	return c
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) projectsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "projects",
		Short: "See and make projects, which the people of a group share",
		Example: `  harvest projects list
  harvest projects create engine --group platform
  harvest projects show engine
  harvest projects usage engine --from 2026-11-01
  harvest projects settings engine --approvers others
  harvest projects move engine research
  harvest projects delete engine
  harvest ask "Where are turns stored?" --project engine --conversation storage`,
	}
	c.AddCommand(p.listProjectsCommand(), p.createProjectCommand(), p.showProjectCommand(), p.projectUsageCommand(), p.projectSettingsCommand(), p.moveProjectCommand(), p.deleteProjectCommand())
	return c
}

func (p *program) listProjectsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the projects that you may see", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(func(api *client.Client) error {
				list, err := api.Projects(c.Context())
				if err != nil {
					return err
				}
				table := listing{head: []string{"id", "name", "group", "description"}, none: "there are no projects"}
				for _, x := range list {
					table.row(x.ID, x.Name, x.GroupName, x.Description)
				}
				return p.show(table, list, asJSON)
			})
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) createProjectCommand() *cobra.Command {
	var group, description string
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a project, and print its id", Args: arguments(1, 1, "name the project"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				id, err := myGroup(c.Context(), api, group)
				if err != nil {
					return err
				}
				made, err := api.CreateProject(c.Context(), args[0], description, id)
				if err == nil {
					fmt.Fprintln(p.out, made.ID)
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&group, "group", "everyone", "group whose people share it, by name or id")
	c.Flags().StringVar(&description, "description", "", "what the project is for")
	return c
}

func (p *program) showProjectCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show PROJECT", Short: "Show a project as JSON", Args: arguments(1, 1, "name a project, by name or id"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				project, err := projectNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				return p.showJSON(project)
			})
		},
	}
}

func (p *program) projectUsageCommand() *cobra.Command {
	var from, to string
	var asJSON bool
	c := &cobra.Command{
		Use: "usage PROJECT", Short: "Show what a project's turns took, by day, person and model", Args: arguments(1, 1, "name a project, by name or id"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				project, err := projectNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				sums, err := api.Usage(c.Context(), project.ID, from, to)
				if err != nil {
					return err
				}
				return p.show(usageTable(sums), sums, asJSON)
			})
		},
	}
	jsonFlag(c, &asJSON)
	c.Flags().StringVar(&from, "from", "", "first day, as 2026-11-30 (UTC; default: 29 days before the last)")
	c.Flags().StringVar(&to, "to", "", "last day (UTC; default: today)")
	return c
}

func usageTable(sums domain.ProjectUsage) listing {
	table := listing{head: []string{"by", "", "turns", "input tokens", "of them cached", "output tokens", "cost"},
		none: fmt.Sprintf("no turns from %s to %s", sums.From, sums.To)}
	if sums.Total.Turns == 0 {
		return table
	}
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, part := range []struct {
		by   string
		rows []domain.UsageRow
	}{{"day", sums.Days}, {"person", sums.People}, {"model", sums.Models}, {"all", []domain.UsageRow{sums.Total}}} {
		for _, r := range part.rows {
			table.row(part.by, cmp.Or(r.Name, r.Key), count(r.Turns), count(r.InputTokens), count(r.CachedInputTokens), count(r.OutputTokens),
				strconv.FormatFloat(r.Cost, 'f', 4, 64))
		}
	}
	return table
}

func (p *program) moveProjectCommand() *cobra.Command {
	return &cobra.Command{
		Use: "move PROJECT GROUP", Short: "Give a project to another group, whose people alone see it then (admins)",
		Args: arguments(2, 2, "name a project and a group, by name or id"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				project, err := projectNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				group, err := myGroup(c.Context(), api, args[1])
				if err == nil {
					err = api.MoveProject(c.Context(), project.ID, group)
				}
				if err != nil {
					return err
				}
				return p.did("the project %s belongs to the group %s now", project.Name, args[1])
			})
		},
	}
}

func (p *program) deleteProjectCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete PROJECT", Short: "Stop what runs in a project, and remove it with all that it owns",
		Args: arguments(1, 1, "name a project, by name or id"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				project, err := projectNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				gone, err := api.DeleteProject(c.Context(), project.ID)
				if err == nil {
					fmt.Fprintf(p.out, "removed: %d conversations, %d messages, %d turns, of which %d ran, %d machines, %d commands\n",
						gone.Conversations, gone.Messages, gone.Turns, gone.CanceledTurns, gone.Agents, gone.Commands)
				}
				return err
			})
		},
	}
}

// myGroup gives the id of that of the caller's groups that has this id or name; admins have all.
func myGroup(ctx context.Context, api *client.Client, name string) (string, error) {
	groups, err := api.MyGroups(ctx)
	if err != nil {
		return "", err
	}
	return pick(entries(groups, func(g client.MyGroup) entry { return entry{g.ID, g.Name} }), "group", name)
}

// projectNamed gives the project of that id, or of that name where only one has it.
func projectNamed(ctx context.Context, api *client.Client, name string) (domain.Project, error) {
	list, err := api.Projects(ctx)
	if err != nil {
		return domain.Project{}, err
	}
	id, err := pick(entries(list, func(x domain.Project) entry { return entry{x.ID, x.Name} }), "project", name)
	for _, x := range list {
		if x.ID == id {
			return x, err
		}
	}
	return domain.Project{}, err
}

// projectID is projectNamed for a flag that may be left out.
func projectID(ctx context.Context, api *client.Client, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	project, err := projectNamed(ctx, api, name)
	return project.ID, err
}

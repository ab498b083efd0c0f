package main

import (
	"context"
	"fmt"

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
  harvest projects move engine research
  harvest projects delete engine
  harvest ask "Where are turns stored?" --project engine --conversation storage`,
	}
	c.AddCommand(p.listProjectsCommand(), p.createProjectCommand(), p.showProjectCommand(), p.moveProjectCommand(), p.deleteProjectCommand())
	return c
}

func (p *program) listProjectsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List the projects that you may see", Args: usage(cobra.NoArgs),
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
				return err
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
					fmt.Fprintf(p.out, "removed: %d conversations, %d messages, %d turns, of which %d ran\n", gone.Conversations, gone.Messages, gone.Turns, gone.CanceledTurns)
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
	return pick(entries(groups, func(g domain.Group) entry { return entry{g.ID, g.Name} }), "group", name)
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

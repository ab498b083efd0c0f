package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) groupsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "groups",
		Short: "See your groups, and make and remove groups (admins): who is in one sees its projects",
		Example: `  harvest groups list
  harvest groups create platform --description "Who runs the clusters"
  harvest groups default platform on
  harvest groups delete platform`,
	}
	c.AddCommand(p.listGroupsCommand(), p.createGroupCommand(), p.defaultGroupCommand(), p.deleteGroupCommand())
	return c
}

func (p *program) listGroupsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List your groups; for admins all there are", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(func(api *client.Client) error {
				me, err := api.Me(c.Context())
				if err != nil {
					return err
				}
				if me.Role != domain.UserAdmin {
					return p.showMyGroups(c.Context(), api, asJSON)
				}
				list, err := api.Groups(c.Context())
				if domain.CodeOf(err) == domain.CodeForbidden { // by an admin's key that isn't good for this
					return p.showMyGroups(c.Context(), api, asJSON)
				}
				if err != nil {
					return err
				}
				table := listing{head: []string{"id", "name", "new people", "description"}, none: "there are no groups"}
				for _, g := range list {
					table.row(g.ID, g.Name, map[bool]string{true: "join", false: ""}[g.IsDefault], g.Description)
				}
				return p.show(table, list, asJSON)
			})
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

// showMyGroups lists what somebody may see who is no admin.
func (p *program) showMyGroups(ctx context.Context, api *client.Client, asJSON bool) error {
	list, err := api.MyGroups(ctx)
	if err != nil {
		return err
	}
	table := listing{head: []string{"id", "name", "description"}, none: "you are in no group; an admin can change that"}
	for _, g := range list {
		table.row(g.ID, g.Name, g.Description)
	}
	return p.show(table, list, asJSON)
}

func (p *program) createGroupCommand() *cobra.Command {
	var description string
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a group", Args: arguments(1, 1, "name the group"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				g, err := api.CreateGroup(c.Context(), args[0], description)
				if err == nil {
					fmt.Fprintln(p.out, g.ID)
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&description, "description", "", "what the group is for")
	return c
}

func (p *program) defaultGroupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "default GROUP on|off", Short: "Say whether new people become members",
		Args: arguments(2, 2, "name a group, by name or id, and say on or off"),
		RunE: func(c *cobra.Command, args []string) error {
			if args[1] != "on" && args[1] != "off" {
				return usageError{fmt.Errorf("%q is neither on nor off", args[1])}
			}
			return p.withGroup(c.Context(), args[0], func(api *client.Client, id string) error {
				if err := api.SetDefaultGroup(c.Context(), id, args[1] == "on"); err != nil {
					return err
				}
				return p.did("new people "+map[string]string{"on": "join", "off": "don't join"}[args[1]]+" the group %s", args[0])
			})
		},
	}
}

func (p *program) deleteGroupCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete GROUP", Short: "Remove a group that has no projects", Args: arguments(1, 1, "name a group, by name or id"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withGroup(c.Context(), args[0], func(api *client.Client, id string) error {
				if err := api.DeleteGroup(c.Context(), id); err != nil {
					return err
				}
				return p.did("removed the group %s", args[0])
			})
		},
	}
}

func (p *program) withGroup(ctx context.Context, name string, use func(api *client.Client, id string) error) error {
	return p.withClient(func(api *client.Client) error {
		id, err := groupNamed(ctx, api, name)
		if err != nil {
			return err
		}
		return use(api, id)
	})
}

// groupNamed gives the id of the group of that id, or of that name where only one has it.
func groupNamed(ctx context.Context, api *client.Client, name string) (string, error) {
	list, err := api.Groups(ctx)
	if err != nil {
		return "", err
	}
	return pick(entries(list, func(g domain.Group) entry { return entry{g.ID, g.Name} }), "group", name)
}

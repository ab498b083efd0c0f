package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) usersCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "users",
		Short: "See who signed up, and say what they may do (admins)",
		Example: `  harvest users list
  harvest users role ada@example.com admin
  harvest users groups ada@example.com everyone platform
  harvest users password ada@example.com
  harvest users disable ada@example.com`,
	}
	c.AddCommand(p.listUsersCommand(), p.roleCommand(), p.memberCommand(), p.passwordCommand(),
		p.disableCommand("disable", "Shut somebody out, at once and everywhere; what they made stays", true), p.disableCommand("enable", "Let somebody in again", false))
	return c
}

func (p *program) listUsersCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List everybody", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(func(api *client.Client) error {
				list, names, err := peopleAndGroups(c.Context(), api)
				if err != nil {
					return err
				}
				table := listing{head: []string{"id", "e-mail", "name", "role", "by", "groups"}, none: "nobody has signed up"}
				for _, u := range list {
					var groups []string
					for _, id := range u.GroupIDs {
						groups = append(groups, names[id])
					}
					role := string(u.Role)
					if u.Disabled {
						role = "disabled"
					}
					table.row(u.ID, u.Email, u.Name, role, u.Provider, strings.Join(groups, ", "))
				}
				return p.show(table, list, asJSON)
			})
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

// peopleAndGroups gives everybody, and the names of groups by id.
func peopleAndGroups(ctx context.Context, api *client.Client) (people []domain.User, names map[string]string, err error) {
	if people, err = api.Users(ctx); err != nil {
		return nil, nil, err
	}
	groups, err := api.Groups(ctx)
	names = map[string]string{}
	for _, g := range groups {
		names[g.ID] = g.Name
	}
	return people, names, err
}

func (p *program) roleCommand() *cobra.Command {
	return &cobra.Command{
		Use: "role USER admin|regular", Short: "Say whether somebody is an admin",
		Args: arguments(2, 2, "name a person, by id or e-mail address, and their role: admin or regular"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				id, err := userNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				if err := api.SetRole(c.Context(), id, domain.UserRole(args[1])); err != nil {
					return err
				}
				return p.did("%s is "+map[bool]string{true: "an admin", false: "no admin"}[args[1] == string(domain.UserAdmin)]+" now", args[0])
			})
		},
	}
}

func (p *program) disableCommand(verb, short string, disabled bool) *cobra.Command {
	return &cobra.Command{
		Use: verb + " USER", Short: short, Args: arguments(1, 1, "name a person, by id or e-mail address"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				id, err := userNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				if err := api.SetDisabled(c.Context(), id, disabled); err != nil {
					return err
				}
				return p.did("%s is "+map[bool]string{true: "shut out", false: "let in"}[disabled]+" now", args[0])
			})
		},
	}
}

func (p *program) memberCommand() *cobra.Command {
	var none bool
	c := &cobra.Command{
		Use: "groups USER GROUP…", Short: "Say of which groups somebody is a member: of these and no others",
		Args: arguments(1, -1, "name a person, by id or e-mail address, and all their groups"),
		RunE: func(c *cobra.Command, args []string) error {
			if none != (len(args) == 1) {
				return usageError{errors.New("name all groups of the person, or say --none to leave them in no group")}
			}
			return p.withClient(func(api *client.Client) error {
				id, err := userNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				groups := []string{}
				for _, name := range args[1:] {
					group, err := groupNamed(c.Context(), api, name)
					if err != nil {
						return err
					}
					groups = append(groups, group)
				}
				if err := api.SetGroups(c.Context(), id, groups); err != nil {
					return err
				}
				if none {
					return p.did("%s is in no group now", args[0])
				}
				return p.did("%s is in %s now, and in no other group", args[0], strings.Join(args[1:], ", "))
			})
		},
	}
	c.Flags().BoolVar(&none, "none", false, "of no group")
	return c
}

// userNamed gives the id of the person of that id or e-mail address.
func userNamed(ctx context.Context, api *client.Client, name string) (string, error) {
	list, err := api.Users(ctx)
	if err != nil {
		return "", err
	}
	for _, u := range list {
		if u.ID == name || u.Email != "" && strings.EqualFold(u.Email, name) {
			return u.ID, nil
		}
	}
	return "", domain.NotFound("nobody has the id or the e-mail address %q; harvest users list shows all", name)
}

// jsonFlag is the flag that has a list written as the API gives it.
func jsonFlag(c *cobra.Command, asJSON *bool) {
	c.Flags().BoolVar(asJSON, "json", false, "as JSON, as the API gives it")
}

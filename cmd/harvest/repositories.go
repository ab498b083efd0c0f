package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
)

func (p *program) repositoriesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "repositories",
		Aliases: []string{"repos"},
		Short:   "See and remove the repositories that were read",
		Example: `  harvest repositories list
  harvest repositories list --json | jq -r '.[].name'
  harvest repositories delete app`,
	}
	c.AddCommand(p.listRepositoriesCommand(), p.deleteRepositoryCommand())
	return c
}

func (p *program) listRepositoriesCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List what was read: each version, its commit, and whether its ref has moved since", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(func(api *client.Client) error {
				list, err := api.Repositories(c.Context())
				if err != nil {
					return err
				}
				table := listing{head: []string{"name", "version", "commit", "read", "files", "symbols", "moved", "address"}, none: "nothing was read yet; harvest ingest reads a repository"}
				for _, r := range list {
					for _, v := range r.Versions {
						table.row(r.Name, v.Tag, v.Commit[:min(len(v.Commit), 10)], when(v.IngestedAt), strconv.Itoa(v.Files), strconv.Itoa(v.Symbols),
							map[bool]string{true: "since"}[v.Stale], r.URL)
					}
				}
				return p.show(table, list, asJSON)
			})
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) deleteRepositoryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "delete NAME", Short: "Stop the reading of a repository, and remove all that was read of it (admins)",
		Args: arguments(1, 1, "name one repository; harvest repositories list shows all"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				if err := api.DeleteRepository(c.Context(), args[0]); err != nil {
					return err
				}
				return p.did("removed the repository %s, with all its versions", args[0])
			})
		},
	}
}

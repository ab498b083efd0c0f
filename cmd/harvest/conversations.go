package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
)

func (p *program) conversationsCommand() *cobra.Command {
	var project string
	c := &cobra.Command{
		Use:   "conversations",
		Short: "See, make and export conversations: your own, or a project's",
		Example: `  harvest conversations list --project engine
  harvest conversations create --project engine "Storage of turns"
  harvest conversations export ID --project engine > storage.md
  harvest conversations export ID --project engine --format json`,
	}
	c.PersistentFlags().StringVar(&project, "project", "", "name or id of a project (default: your own conversations)")
	c.AddCommand(p.listConversationsCommand(&project), p.createConversationCommand(&project), p.exportConversationCommand(&project))
	return c
}

func (p *program) listConversationsCommand(project *string) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List conversations, the one changed last first", Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(func(api *client.Client) error {
				id, err := projectID(c.Context(), api, *project)
				if err != nil {
					return err
				}
				list, err := api.Conversations(c.Context(), id)
				if err != nil {
					return err
				}
				table := listing{head: []string{"id", "changed", "messages", "by", "title"}, none: "there are no conversations"}
				for _, x := range list {
					table.row(x.ID, when(x.UpdatedAt), strconv.Itoa(x.MessageCount), x.CreatedByName, x.Title)
				}
				return p.show(table, list, asJSON)
			})
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) createConversationCommand(project *string) *cobra.Command {
	return &cobra.Command{
		Use: "create [TITLE]", Short: "Make an empty conversation, and print its id", Args: arguments(0, 1, "give one title, in quotes, or none"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				id, err := projectID(c.Context(), api, *project)
				if err != nil {
					return err
				}
				title := ""
				if len(args) > 0 {
					title = args[0]
				}
				made, err := api.CreateConversation(c.Context(), id, title)
				if err == nil {
					fmt.Fprintln(p.out, made.ID)
				}
				return err
			})
		},
	}
}

func (p *program) exportConversationCommand(project *string) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "export ID", Short: "Write a conversation out, as Markdown or JSON", Args: arguments(1, 1, "name one conversation, by its id"),
		RunE: func(c *cobra.Command, args []string) error {
			if format != "markdown" && format != "json" {
				return usageError{fmt.Errorf("%q is neither markdown nor json", format)}
			}
			return p.withClient(func(api *client.Client) error {
				id, err := projectID(c.Context(), api, *project)
				if err != nil {
					return err
				}
				return api.ExportConversation(c.Context(), id, args[0], format, p.out)
			})
		},
	}
	c.Flags().StringVar(&format, "format", "markdown", "markdown or json")
	return c
}

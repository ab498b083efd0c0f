package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) conversationsCommand() *cobra.Command {
	var project string
	c := &cobra.Command{
		Use:   "conversations",
		Short: "See, search, make and export conversations: your own, or a project's",
		Example: `  harvest conversations list --project engine
  harvest conversations show storage --project engine
  harvest conversations search --project engine '"event log" -partition'
  harvest conversations create --project engine "Storage of turns"
  harvest conversations export ID --project engine > storage.md
  harvest conversations export ID --project engine --format json`,
	}
	c.PersistentFlags().StringVar(&project, "project", "", "name or id of a project (default: your own conversations)")
	c.AddCommand(p.listConversationsCommand(&project), p.showConversationCommand(&project), p.searchConversationsCommand(&project),
		p.createConversationCommand(&project), p.exportConversationCommand(&project))
	return c
}

func (p *program) listConversationsCommand(project *string) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List conversations, the one changed last first", Args: noArguments,
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

func (p *program) showConversationCommand(project *string) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show [ID|NAME]", Short: "Show who said and did what in a conversation (default: the one changed last)",
		Args: arguments(0, 1, "name one conversation, by its id or title, or none for the one changed last"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				in, err := projectID(c.Context(), api, *project)
				if err != nil {
					return err
				}
				id, err := conversationNamed(c.Context(), api, in, strings.Join(args, ""))
				if err != nil {
					return err
				}
				if asJSON {
					whole, err := api.Conversation(c.Context(), in, id)
					if err != nil {
						return err
					}
					return p.showJSON(whole)
				}
				var text bytes.Buffer
				if err := api.ExportConversation(c.Context(), in, id, "markdown", &text); err != nil {
					return err
				}
				return p.showText(text.String())
			})
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

// conversationNamed gives the id of the conversation of that id, or of that title where only
// one has it; of the one changed last for "".
func conversationNamed(ctx context.Context, api *client.Client, projectID, name string) (string, error) {
	list, err := api.Conversations(ctx, projectID)
	switch {
	case err != nil:
		return "", err
	case name != "":
		return pick(entries(list, func(c domain.Conversation) entry { return entry{c.ID, c.Title} }), "conversation", name)
	case len(list) == 0:
		return "", domain.NotFound("there are no conversations; those of a project are seen with --project")
	}
	return list[0].ID, nil
}

func (p *program) searchConversationsCommand(project *string) *cobra.Command {
	var asJSON bool
	var limit int
	c := &cobra.Command{
		Use: "search TEXT", Short: "Look for words in titles and messages", Args: arguments(1, -1, "say what to look for"),
		Long: "Looks for words in titles and messages. Words in double quotes belong together, and one with a minus\nmust not be there; put all of it in quotes for the shell.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				in, err := projectID(c.Context(), api, *project)
				if err != nil {
					return err
				}
				found, err := api.SearchConversations(c.Context(), in, strings.Join(args, " "), limit)
				if err != nil {
					return err
				}
				table := listing{head: []string{"id", "said", "by", "title", "words"}, none: "nothing was found"}
				for _, x := range found.Results {
					by := map[domain.Role]string{domain.RoleUser: "a person", domain.RoleAssistant: "Harvest"}[x.Role]
					table.row(x.ConversationID, when(x.At), by, x.Title, strings.Join(strings.Fields(x.Excerpt), " "))
				}
				return p.show(table, found, asJSON)
			})
		},
	}
	jsonFlag(c, &asJSON)
	c.Flags().IntVar(&limit, "limit", 50, "how many to show at the most, up to 200")
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

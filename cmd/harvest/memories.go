package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// memoryShelf is the memories of a project.
var memoryShelf = shelf{noun: "memory", project: true, find: func(ctx context.Context, api *client.Client, project, name string) (client.Item, error) {
	list, err := api.Memories(ctx, project)
	if err != nil {
		return client.Item{}, err
	}
	id, err := pick(entries(list, func(m domain.Memory) entry { return entry{m.ID, m.Title} }), "memory", name)
	return client.MemoryItem(project, id), err
}}

func (p *program) memoriesCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "memories",
		Short: "See and keep the notes of a project",
		Long:  "Memories are short notes of a project. Later questions are answered with those in mind that fit them.",
		Example: `  harvest memories list --project engine
  harvest memories add "Where releases are made" "On the build host, by hand." --project engine
  harvest memories edit "Where releases are made" --project engine --from note.txt
  harvest memories delete "Where releases are made" --project engine`,
	}
	c.AddCommand(p.listMemoriesCommand(), p.showOf(memoryShelf, false), p.addMemoryCommand(),
		p.editOf(memoryShelf, p.text, [2]string{"title", "a new title"}), p.deleteOf(memoryShelf))
	return c
}

func (p *program) listMemoriesCommand() *cobra.Command {
	var asJSON bool
	c := p.ofProject(&cobra.Command{Use: "list", Short: "List the memories of a project, the one changed last first", Args: noArguments},
		func(ctx context.Context, api *client.Client, project string, _ []string) error {
			list, err := api.Memories(ctx, project)
			if err != nil {
				return err
			}
			table := listing{head: []string{"id", "version", "changed", "from", "title"}, none: "the project has no memories"}
			for _, m := range list {
				from := "a person"
				if m.TurnID != "" {
					from = "turn " + m.TurnID
				}
				table.row(m.ID, strconv.Itoa(m.Version), when(m.UpdatedAt), from, m.Title)
			}
			return p.show(table, list, asJSON)
		})
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) addMemoryCommand() *cobra.Command {
	var from string
	c := p.ofProject(&cobra.Command{Use: "add TITLE [TEXT]", Short: "Add a memory, and print its id", Args: arguments(1, 2, "give the memory a title and, in quotes, a text")},
		func(ctx context.Context, api *client.Client, project string, args []string) error {
			var content string
			var err error
			if len(args) == 2 {
				content = args[1]
			} else if content, err = p.text(from); err != nil {
				return err
			}
			made, err := api.AddMemory(ctx, project, args[0], content)
			if err == nil {
				fmt.Fprintln(p.out, made.ID)
			}
			return err
		})
	c.Flags().StringVar(&from, "from", "", "file with the text, or - for the standard input")
	return c
}

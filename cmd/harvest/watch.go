package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
)

func (p *program) watchCommand() *cobra.Command {
	var after string
	var asJSON bool
	c := &cobra.Command{
		Use:   "watch PROJECT",
		Short: "Follow all that happens in a project",
		Long: `Shows questions, steps, answers, actions that wait, and who is there, of all conversations of a
project, as they come, until Ctrl-C. A turn that runs already is shown from its beginning.
What happens while the server is away for a moment is shown when it is back. Of commands that
people run on machines it shows which they are and how they end; harvest agents logs has what
they write.

With --json each event is a line of JSON as the API gives it; those that are stored have an
event_id, from which --after goes on.`,
		Example: `  harvest watch engine
  harvest watch engine --json | jq -r 'select(.type=="confirm_action").id'`,
		Args: arguments(1, 1, "name a project, by name or id; harvest projects list shows yours"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				project, err := projectNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return p.printEvents(c.Context(), api.FollowProject(c.Context(), project.ID, after))
				}
				return p.showFeed(c.Context(), api, project.ID, after)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print each event as a line of JSON")
	c.Flags().StringVar(&after, "after", "", "begin after the event of this id (default: now)")
	return c
}

// showFeed shows a feed to people. To be told to stop is how it ends well.
func (p *program) showFeed(ctx context.Context, api *client.Client, project, after string) error {
	list, err := api.Conversations(ctx, project)
	if err != nil {
		return err
	}
	titles := map[string]string{}
	for _, conversation := range list {
		titles[conversation.ID] = conversation.Title
	}
	screen := p.screen(p.out)
	defer screen.Close()
	api.Waits = screen.Waits
	feed := terminal.NewFeed(screen, titles)
	for event, err := range api.FollowProject(ctx, project, after) {
		if ctx.Err() != nil {
			if screen.Fancy() {
				screen.Line("") // behind the ^C
			}
			return nil
		}
		if err == nil {
			err = feed.Show(event.Type, event)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printEvents prints events for programs.
func (p *program) printEvents(ctx context.Context, events iter.Seq2[client.Event, error]) error {
	for event, err := range events {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		line := event.Data
		if event.ID != "" {
			id, err := json.Marshal(event.ID)
			if err != nil {
				return fmt.Errorf("print event %s: %w", event.ID, err)
			}
			line = append([]byte(`{"event_id":`+string(id)+`,`), event.Data[1:]...)
		}
		if _, err := fmt.Fprintf(p.out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

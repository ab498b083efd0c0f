package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) askCommand() *cobra.Command {
	var q client.Query
	var project string
	var files []string
	var asJSON bool
	c := &cobra.Command{
		Use:   `ask "QUESTION"`,
		Short: "Ask a question about the code that was read",
		Long: `Asks a running harvest a question, and shows the steps and the answer as they come.
Ctrl-C stops the turn. With --json the answer is printed as JSON, and nothing else.`,
		Example: `  harvest ask "Where are turns stored?"
  harvest ask "Who calls Migrate?" --repo harvest --version main
  harvest ask "How do I add a tool?" --json | jq -r .answer
  harvest ask "What is wrong here?" --attach trace.log --attach screen.png
  harvest ask "What did we decide on retries?" --project engine`,
		Args: arguments(1, -1, `what is the question? Write: harvest ask "QUESTION"`),
		RunE: func(c *cobra.Command, args []string) error {
			if q.Query = strings.TrimSpace(strings.Join(args, " ")); q.Query == "" {
				return usageError{errors.New("the question is empty")}
			}
			var err error
			if q.Attachments, err = attached(files); err != nil {
				return err
			}
			return p.ask(c.Context(), q, project, asJSON)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&q.Repositories, "repo", nil, "look in this repository only (may be repeated)")
	flags.StringArrayVar(&q.Versions, "version", nil, "look at this version only (may be repeated)")
	flags.StringVar(&q.ProviderID, "provider", "", "id of the model provider to use")
	flags.StringVar(&q.Model, "model", "", "model to use")
	flags.StringVar(&q.ConversationID, "conversation", "", "name of a conversation to go on with")
	flags.StringVar(&project, "project", "", "ask in this project, by name or id; without --conversation in a new one of its conversations")
	flags.StringArrayVar(&files, "attach", nil, "file that goes with the question: text, an image or PDF (may be repeated)")
	flags.BoolVar(&asJSON, "json", false, "print the answer as JSON and nothing else")
	return c
}

func (p *program) ask(ctx context.Context, q client.Query, project string, asJSON bool) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	defer api.Close()
	if q.ProjectID, err = projectID(ctx, api, project); err != nil {
		return err
	}
	if q.ProjectID != "" && q.ConversationID == "" {
		made, err := api.CreateConversation(ctx, q.ProjectID, "")
		if err != nil {
			return err
		}
		q.ConversationID = made.ID
	}
	if asJSON {
		return p.printAnswer(ctx, api, q)
	}
	screen := p.screen(p.out)
	defer screen.Close()
	return showTurn(ctx, api, screen, q)
}

// printAnswer asks, waits for the end of the turn and prints its answer. When ctx ends the
// turn is stopped as well.
func (p *program) printAnswer(ctx context.Context, api *client.Client, q client.Query) error {
	key := domain.NewID()
	turnID, events, err := api.Ask(ctx, q, key)
	if err != nil {
		return err
	}
	for event, err := range events {
		if err != nil {
			return interrupted(ctx, api, turnID, err)
		}
		var action domain.Action
		if event.Type == domain.EventConfirmAction && event.Decode(&action) == nil {
			fmt.Fprintf(p.errs, "harvest: %s waits for your approval; see harvest actions show %s\n", domain.Visible(action.Name), action.ID)
		}
	}
	answer, err := api.Answer(ctx, q, key)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s\n", answer)
	return err
}

// showTurn asks and shows the turn to its end. When ctx ends the turn is stopped as well.
func showTurn(ctx context.Context, api *client.Client, screen *terminal.Screen, q client.Query) error {
	api.Waits = screen.Waits
	shown := terminal.NewTurn(screen)
	shown.Question(q.Query)
	shown.Wants(q.ProviderID)
	turnID, events, err := api.Ask(ctx, q, domain.NewID())
	if err != nil {
		screen.Status(nil)
		return err
	}
	for event, err := range events {
		if err == nil {
			err = shown.Show(event.Type, event)
		}
		if err != nil {
			screen.Status(nil)
			return interrupted(ctx, api, turnID, err)
		}
	}
	return nil
}

// interrupted gives err, or, where the person gave up, stops the turn and says what becomes of it.
func interrupted(ctx context.Context, api *client.Client, turnID string, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if err := stopTurn(api, turnID); err != nil {
		return domain.Errorf(domain.CodeCanceled, "stopped waiting; the turn %s was not canceled and goes on: %s; harvest turns cancel %[1]s ends it, and harvest turns follow %[1]s shows it",
			turnID, domain.PublicMessage(err))
	}
	return domain.Errorf(domain.CodeCanceled, "stopped; the turn %s was canceled", turnID)
}

// stopTurn ends a turn that nobody waits for any more. One that can't be told ends by itself.
func stopTurn(api *client.Client, turnID string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	return api.Cancel(ctx, turnID)
}

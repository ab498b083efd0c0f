package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// commandsListed says where commands are listed.
const commandsListed = "harvest agents commands MACHINE lists those of a machine"

// oneCommand is the check of commands about a command.
var oneCommand = arguments(1, 1, "name one command, by its id; "+commandsListed)

func (p *program) commandsCommand() *cobra.Command {
	var before string
	var limit int
	var asJSON bool
	c := p.onAgent(&cobra.Command{
		Use: "commands MACHINE", Short: "List the commands that were run on a machine, the newest first", Args: oneMachine,
		Example: `  harvest agents commands web1
  harvest agents commands web1 --limit 200 --json`,
	}, func(ctx context.Context, api *client.Client, a client.Agent, _ []string) error {
		if limit < 1 {
			return usageError{fmt.Errorf("--limit %d: ask for one at least", limit)}
		}
		list, next, err := api.Commands(ctx, a, before, limit)
		if err != nil {
			return err
		}
		table := listing{head: []string{"id", "status", "exit", "asked", "command"}, none: "no commands were run on it"}
		for _, x := range list {
			table.row(x.ID, commandStatus(x.Status), exitOf(x), when(x.CreatedAt), shortened(x.Command))
		}
		if next != "" {
			defer fmt.Fprintf(p.errs, "there are more: go on with --before %s\n", next)
		}
		return p.show(table, list, asJSON)
	})
	jsonFlag(c, &asJSON)
	c.Flags().IntVar(&limit, "limit", 50, "how many to list at the most, up to 200")
	c.Flags().StringVar(&before, "before", "", "only those that are older than the command of this id")
	return c
}

// commandStatus names a status for people.
func commandStatus(status domain.CommandStatus) string {
	switch status {
	case domain.CommandPending:
		return "waits for approval"
	case domain.CommandQueued:
		return "waits for the machine"
	case domain.CommandDelivered:
		return "sent"
	case domain.CommandFailed, domain.CommandExpired:
		return "never ran"
	case domain.CommandRejected:
		return "not approved"
	case domain.CommandUnknown:
		return "end unknown"
	}
	return strings.ReplaceAll(string(status), "_", " ")
}

func exitOf(x domain.CommandInfo) string {
	if x.ExitCode == nil {
		return ""
	}
	return strconv.Itoa(*x.ExitCode)
}

// shortened gives the beginning of a text.
func shortened(text string) string {
	if runes := []rune(text); len(runes) > maxInShort {
		return string(runes[:maxInShort]) + "…"
	}
	return text
}

func (p *program) logsCommand() *cobra.Command {
	var after string
	var asJSON, raw bool
	c := &cobra.Command{
		Use: "logs COMMAND", Short: "Show the output of a command, and follow it to its end", Args: oneCommand,
		Long: `Shows what a command has written, and goes on as it comes until the command has ended; the exit
code is the command's own, as of harvest run. Ctrl-C ends the following alone.

With --json each event is a line of JSON as the API gives it, with an event_id from which --after
goes on.`,
		Example: `  harvest agents logs ID
  harvest agents logs ID --json --after 12`,
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		err := p.withClient(func(api *client.Client) error {
			x, err := api.Command(c.Context(), args[0])
			switch {
			case err != nil:
				return listed(err, commandsListed)
			case asJSON:
				return p.printEvents(c.Context(), api.FollowCommand(c.Context(), x.CommandInfo, after))
			}
			return p.showLog(c.Context(), api, x, after, raw)
		})
		return runFault(c.Context(), err)
	}
	c.Flags().StringVar(&after, "after", "", "begin after the event of this id (default: at the beginning)")
	c.Flags().BoolVar(&raw, "raw", false, "write the output as it is to a terminal too, where it could do harm")
	c.Flags().BoolVar(&asJSON, "json", false, "print each event as a line of JSON")
	return c
}

func (p *program) showLog(ctx context.Context, api *client.Client, x domain.CommandDetail, after string, raw bool) error {
	v := p.view(raw, false)
	defer v.close()
	api.Waits = func(reason string) { v.note("%s (it is tried again)", domain.VisibleFault(reason)) }
	switch x.Status {
	case domain.CommandPending:
		v.note("it waits for approval: harvest actions show %s", x.ID)
	case domain.CommandQueued:
		v.note("it waits for %s to connect", domain.Visible(x.Hostname))
	}
	end, err := follow(ctx, api, x.CommandInfo, after, v)
	if err != nil {
		return err
	}
	if err := ended(x.CommandInfo, end); err != nil || x.Late == nil {
		if x.Late != nil {
			v.note("%s told later: %s", domain.Visible(x.Hostname), lateNews(x.Late))
		}
		return err
	}
	return nil
}

// lateNews says what a machine told of a command after its end.
func lateNews(late *domain.CommandLate) string {
	text := map[domain.CommandStatus]string{
		domain.CommandDone: "it ended", domain.CommandTimedOut: "it was ended at its time limit", domain.CommandCanceled: "it was canceled",
		domain.CommandFailed: "it never ran", domain.CommandUnknown: "nobody saw how it ended",
	}[late.Status]
	if late.ExitCode != nil {
		text += fmt.Sprintf(" with exit code %d", *late.ExitCode)
	}
	return cmp.Or(strings.TrimSuffix(text+": "+domain.VisibleFault(late.Error), ": "), text)
}

func (p *program) cancelCommandCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cancel COMMAND", Short: "Ask for the end of a command", Args: oneCommand,
		Long: `A command that waits is canceled at once and never runs. One that runs is ended by its machine,
with all that it has begun; harvest agents logs shows how it ends.`,
		Example: "  harvest agents cancel ID",
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				x, err := api.Command(c.Context(), args[0])
				if err != nil {
					return listed(err, commandsListed)
				}
				if err := api.CancelCommand(c.Context(), x.CommandInfo); err != nil {
					return err
				}
				return p.did("asked for the end of the command on %s; see harvest agents logs %s", x.Hostname, x.ID)
			})
		},
	}
}

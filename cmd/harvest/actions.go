package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) actionsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "actions",
		Short: "See and decide what waits for your approval",
		Long: `Tools that change something ask first: their calls are actions, which wait until somebody
approves or rejects them, or until they expire. What is approved is run once.`,
		Example: `  harvest actions list --status pending
  harvest actions show ID
  harvest actions approve ID
  harvest actions reject ID --reason "not today"`,
	}
	c.AddCommand(p.listActionsCommand(), p.showActionCommand(),
		p.decideCommand("approve", "Have an action run, once", true), p.decideCommand("reject", "Have an action not run", false))
	return c
}

func (p *program) listActionsCommand() *cobra.Command {
	var q client.ActionQuery
	var project, status string
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List actions, the newest first", Args: noArguments,
		Example: `  harvest actions list --status pending
  harvest actions list --project engine --tool run_command --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			if q.Limit < 1 {
				return usageError{fmt.Errorf("--limit %d: ask for one at least", q.Limit)}
			}
			return p.withClient(func(api *client.Client) (err error) {
				if q.ProjectID, err = projectID(c.Context(), api, project); err != nil {
					return err
				}
				q.Status = domain.ActionStatus(status)
				list, next, err := api.Actions(c.Context(), q)
				if err != nil {
					return err
				}
				table := listing{head: []string{"id", "status", "asked", "tool", "decided by", "input"}, none: "there are no such actions", asIs: "input"}
				for _, a := range list {
					table.row(a.ID, string(a.Status), when(a.CreatedAt), a.Name, a.DecidedByName, inShort(a.Description))
				}
				if next != "" {
					defer fmt.Fprintf(p.errs, "there are more: go on with --before %s\n", next)
				}
				return p.show(table, list, asJSON)
			})
		},
	}
	jsonFlag(c, &asJSON)
	c.Flags().StringVar(&project, "project", "", "name or id of a project (default: the actions of your own turns)")
	c.Flags().StringVar(&status, "status", "", "only those that are pending, approved, rejected, expired, applying, applied, failed or unknown")
	c.Flags().StringVar(&q.Tool, "tool", "", "only the calls of this tool")
	c.Flags().IntVar(&q.Limit, "limit", 50, "how many to list at the most, up to 200")
	c.Flags().StringVar(&q.Before, "before", "", "only those that are older than the action of this id")
	return c
}

func (p *program) showActionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show ID", Short: "Show an action whole", Args: oneAction, Example: "  harvest actions show ID",
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				a, err := api.Action(c.Context(), args[0])
				switch {
				case err != nil:
					return listed(err, actionsListed)
				case asJSON:
					return p.showJSON(a)
				}
				showAction(p.out, a)
				return nil
			})
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) decideCommand(verb, short string, approved bool) *cobra.Command {
	d := domain.Decision{Status: domain.ActionRejected}
	if approved {
		d.Status = domain.ActionApproved
	}
	var from string
	c := &cobra.Command{
		Use: verb + " ID", Short: short, Args: oneAction, Example: "  harvest actions " + verb + " ID --reason \"as agreed\"",
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				d.ActionID = args[0]
				return p.decide(c.Context(), api, d, from)
			})
		},
	}
	c.Flags().StringVar(&d.Reason, "reason", "", "what to tell the model and the people about it")
	if approved {
		c.Flags().StringVar(&from, "value-from", "", "file with the secret that the action saves, or - for the standard input; asked for on a terminal")
		c.Flags().BoolVar(&d.Generate, "generate", false, "have the action save a random secret, which nobody sees")
		exclusive(c, "value-from", "generate")
	}
	return c
}

// actionsListed says where actions are listed.
const actionsListed = "harvest actions list shows all"

// oneAction is the check of commands about an action.
var oneAction = arguments(1, 1, "name one action, by its id; "+actionsListed)

// decide shows what it decides, and decides exactly that.
func (p *program) decide(ctx context.Context, api *client.Client, d domain.Decision, valueFrom string) error {
	a, err := api.Action(ctx, d.ActionID)
	if err != nil {
		return listed(err, actionsListed)
	}
	switch {
	case a.DecidedByName != "":
		return domain.Errorf(domain.CodeConflict, "%s has decided this already: it is %s", domain.Visible(a.DecidedByName), a.Status)
	case a.Status != domain.ActionPending:
		return domain.Errorf(domain.CodeConflict, "nobody can decide this any more: it is %s", a.Status)
	}
	fmt.Fprintln(p.out, a.Description)
	asked := a.NeedsValue && d.Status == domain.ActionApproved && !d.Generate
	if asked || valueFrom != "" {
		if d.Value, err = p.secretValue(valueFrom); err != nil {
			return err
		}
	}
	if err := api.Decide(ctx, a, d); err != nil {
		return err
	}
	word, see := "rejected; it will not be run", "actions show"
	if d.Status == domain.ActionApproved {
		word = "approved; it is run now"
		if a.Name == runCommandTool { // its command has the action's id
			see = "agents logs"
		}
	}
	fmt.Fprintf(p.out, "%s: see harvest %s %s\n", word, see, a.ID)
	return nil
}

// runCommandTool is the tool that runs commands on machines; what people run waits as its calls too.
const runCommandTool = "run_command"

// withClient connects for the time of one use.
func (p *program) withClient(use func(*client.Client) error) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	defer api.Close()
	return use(api)
}

// maxInShort is how much of an action's description a list shows, in characters.
const maxInShort = 80

// inShort gives what an action's description says beneath its first line, which names the tool,
// on one line. The description is escaped already.
func inShort(description string) string {
	_, rest, _ := strings.Cut(description, "\n")
	var parts []string
	for line := range strings.Lines(rest) {
		parts = append(parts, strings.TrimSpace(line))
	}
	text := []rune(strings.ReplaceAll(strings.Join(parts, "; "), ":; ", ": "))
	if len(text) > maxInShort {
		return string(text[:maxInShort]) + "…"
	}
	return string(text)
}

func showAction(out io.Writer, a domain.Action) {
	fmt.Fprintf(out, "%s\n\n", a.Description)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(out, "%-12s %s\n", name, value)
		}
	}
	row("action", a.ID)
	row("status", string(a.Status))
	row("project", a.ProjectID)
	row("conversation", a.ConversationID)
	row("turn", a.TurnID)
	row("requester", domain.Visible(cmp.Or(a.RequesterName, a.Requester)))
	row("expires", a.ExpiresAt.Local().Format(time.DateTime))
	row("decided by", domain.Visible(a.DecidedByName))
	row("reason", domain.Visible(a.Reason))
	if a.Reported {
		row("reported", map[bool]string{true: "by a client; the server saw the call", false: "by a client; unverified"}[a.Verified])
	}
	row("outcome", domain.Visible(a.Outcome))
	row("hash", a.Hash)
}

package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) projectSettingsCommand() *cobra.Command {
	var expiry time.Duration
	var approvers, policy string
	var asking, allowed []string
	var asJSON bool
	c := &cobra.Command{
		Use: "settings PROJECT", Short: "Show or change what must be approved in a project, and by whom",
		Args: arguments(1, 1, "name a project, by name or id"),
		Long: `Without flags shows the settings of a project; with flags changes those that are named, and leaves
the others (admins).

Commands that a model wants to run on a machine are judged by --command-policy:
  always      each waits for approval
  changes     those that only read run at once, all others wait
  allow_list  only those that --allow-command lists run at once: "docker restart *" with any one word,
              "make **" with any words, @read-only for all that only read`,
		Example: `  harvest projects settings engine
  harvest projects settings engine --approvers others --confirm-expiry 72h
  harvest projects settings engine --command-policy allow_list --allow-command "docker restart *" --allow-command @read-only`,
		RunE: func(c *cobra.Command, args []string) error {
			return p.withClient(func(api *client.Client) error {
				project, err := projectNamed(c.Context(), api, args[0])
				if err != nil {
					return err
				}
				now, err := api.Settings(c.Context(), project.ID)
				if err != nil {
					return err
				}
				changed := false
				for flag, change := range map[string]func(){
					"approvers":      func() { now.Approvers = domain.Approvers(approvers) },
					"confirm-expiry": func() { now.ConfirmExpiry = wholeSeconds(expiry) },
					"asking-tool":    func() { now.AskingTools = named(asking) },
					"command-policy": func() { now.CommandPolicy = policy },
					"allow-command":  func() { now.AllowedCommands = named(allowed) },
				} {
					if c.Flags().Changed(flag) {
						change()
						changed = true
					}
				}
				switch {
				case changed && asJSON:
					return usageError{errors.New("--json shows the settings: leave out the flags that change them, or --json")}
				case changed:
					if err := api.ChangeSettings(c.Context(), project.ID, now); err != nil {
						return err
					}
					return p.did("changed the settings of the project %s", project.Name)
				case asJSON:
					return p.showJSON(now)
				}
				p.showSettings(now)
				return nil
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&approvers, "approvers", "", "who may approve: members, admins, or others: anyone but who asked")
	flags.DurationVar(&expiry, "confirm-expiry", 0, "how long what asks waits, from 1m to 720h")
	flags.StringArrayVar(&asking, "asking-tool", nil, "tool that asks always (may be repeated; \"\" for none)")
	flags.StringVar(&policy, "command-policy", "", "which commands of models ask: always, changes or allow_list")
	flags.StringArrayVar(&allowed, "allow-command", nil, "pattern of commands that allow_list runs at once (may be repeated; \"\" for none)")
	jsonFlag(c, &asJSON)
	return c
}

// named leaves out what is empty: that stands for nothing at all.
func named(list []string) []string {
	names := []string{}
	for _, name := range list {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (p *program) showSettings(s client.Settings) {
	who := map[domain.Approvers]string{
		domain.ApproveMembers: "members of the project", domain.ApproveAdmins: "admins", domain.ApproveOthers: "members, but not who asked",
	}[s.Approvers]
	ask := map[string]string{
		"always": "always ask", "changes": "ask unless they only read", "allow_list": "ask unless they are allowed: " + strings.Join(s.AllowedCommands, "; "),
	}[s.CommandPolicy]
	p.fields([2]string{"approved by", who}, [2]string{"waits for", domain.Span(time.Duration(s.ConfirmExpiry) * time.Second)},
		[2]string{"always ask", strings.Join(s.AskingTools, ", ")}, [2]string{"commands", ask})
}

package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) projectSettingsCommand() *cobra.Command {
	var f settingsFlags
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
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		return p.withClient(func(api *client.Client) error { return p.projectSettings(c.Context(), api, args[0], f) })
	}
	f.bind(c)
	return c
}

// settingsFlags are the settings that are named, and what they become.
type settingsFlags struct {
	of                *cobra.Command
	expiry            time.Duration
	approvers, policy string
	asking, allowed   []string
	json              bool
}

func (f *settingsFlags) bind(c *cobra.Command) {
	f.of = c
	flags := c.Flags()
	flags.StringVar(&f.approvers, "approvers", "", "who may approve: members, admins, or others: anyone but who asked")
	flags.DurationVar(&f.expiry, "confirm-expiry", 0, "how long what asks waits, from 1m to 720h")
	flags.StringArrayVar(&f.asking, "asking-tool", nil, "tool that asks always (may be repeated; \"\" for none)")
	flags.StringVar(&f.policy, "command-policy", "", "which commands of models ask: always, changes or allow_list")
	flags.StringArrayVar(&f.allowed, "allow-command", nil, "pattern of commands that allow_list runs at once (may be repeated; \"\" for none)")
	jsonFlag(c, &f.json)
}

// change changes what is named, and says whether anything is.
func (f *settingsFlags) change(s *client.Settings) (changed bool) {
	for flag, change := range map[string]func(){
		"approvers":      func() { s.Approvers = domain.Approvers(f.approvers) },
		"confirm-expiry": func() { s.ConfirmExpiry = wholeSeconds(f.expiry) },
		"asking-tool":    func() { s.AskingTools = named(f.asking) },
		"command-policy": func() { s.CommandPolicy = f.policy },
		"allow-command":  func() { s.AllowedCommands = named(f.allowed) },
	} {
		if f.of.Flags().Changed(flag) {
			change()
			changed = true
		}
	}
	return changed
}

func (p *program) projectSettings(ctx context.Context, api *client.Client, name string, f settingsFlags) error {
	project, err := projectNamed(ctx, api, name)
	if err != nil {
		return err
	}
	now, err := api.Settings(ctx, project.ID)
	if err != nil {
		return err
	}
	changed := f.change(&now)
	switch {
	case changed && f.json:
		return usageError{errors.New("--json shows the settings: leave out the flags that change them, or --json")}
	case changed:
		if err := api.ChangeSettings(ctx, project.ID, now); err != nil {
			return err
		}
		return p.did("changed the settings of the project %s", project.Name)
	case f.json:
		return p.showJSON(now)
	}
	p.showSettings(now)
	return nil
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

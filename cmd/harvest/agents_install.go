package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

const installHelp = `The command is printed once: it carries a token that is kept nowhere. It needs root on the
machine: where you are root and there is no sudo, leave that word out. What is said beside it
goes to the standard error, so that it can be sent on:

  harvest agents install --project engine | sed 's/sudo/env/' | ssh root@web1 bash`

func (p *program) installAgentCommand() *cobra.Command {
	return p.installCommand(&cobra.Command{
		Use: "install", Short: "Print the command that joins a machine to a project", Args: noArguments,
		Long: "Makes a command that installs the agent on a machine, which then joins the project. Commands that\nwere made earlier stay good.\n\n" + installHelp,
		Example: `  harvest agents install --project engine
  harvest agents install --project engine --expires 1h --uses 1`,
	}, false)
}

func (p *program) rotateTokenCommand() *cobra.Command {
	return p.installCommand(&cobra.Command{
		Use: "rotate-token", Short: "End all install commands of a project, and print a new one", Args: noArguments,
		Long: "Ends the tokens of all install commands that were made for a project, and makes a new one. Machines\nthat have joined stay.\n\n" + installHelp,
		Example: `  harvest agents rotate-token --project engine
  harvest agents rotate-token --project engine --expires 1h --uses 1`,
	}, true)
}

// installCommand makes a command that prints an install command.
func (p *program) installCommand(c *cobra.Command, rotate bool) *cobra.Command {
	var life time.Duration
	var uses int
	var wget, asJSON bool
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if c.Flags().Changed("expires") && (life < time.Second || life > domain.MaxInstallLife) {
			return usageError{fmt.Errorf("--expires %s: give a time from 1s to %s", domain.Span(life), domain.Span(domain.MaxInstallLife))}
		}
		if c.Flags().Changed("uses") && uses < 1 {
			return usageError{errors.New("--uses must be 1 or more; leave it out for any number of machines")}
		}
		return nil
	}
	c = p.ofProject(c, func(ctx context.Context, api *client.Client, project string, _ []string) error {
		made, err := api.InstallCommand(ctx, project, rotate, life, uses)
		switch {
		case err != nil:
			return err
		case asJSON:
			return p.showJSON(made)
		case wget:
			made.Command = made.Wget
		}
		if rotate {
			fmt.Fprintln(p.errs, "all earlier install commands have ended")
		}
		fmt.Fprintf(p.errs, "run this on the machine; it is good until %s, for %s, and is not shown again:\n\n", when(made.ExpiresAt), machinesFor(made.Uses))
		fmt.Fprintln(p.out, made.Command)
		fmt.Fprintf(p.errs, "\nthe machine is in harvest agents list once it has connected; this removes the agent from it again:\n%s\n", indented(made.Uninstall))
		return nil
	})
	c.Flags().DurationVar(&life, "expires", 0, "how long machines may join by it, such as 1h, at most 720h (default 24h)")
	c.Flags().IntVar(&uses, "uses", 0, "how many machines may join by it (default: any number)")
	c.Flags().BoolVar(&wget, "wget", false, "for a machine that has wget and no curl")
	jsonFlag(c, &asJSON)
	return c
}

// machinesFor says how many machines may join.
func machinesFor(uses *int) string {
	switch {
	case uses == nil:
		return "any number of machines"
	case *uses == 1:
		return "one machine"
	}
	return fmt.Sprintf("%d machines", *uses)
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

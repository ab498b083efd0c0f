package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) createAgentCommand() *cobra.Command {
	var order client.Container
	var asJSON bool
	c := p.ofProject(&cobra.Command{
		Use: "create NAME", Short: "Make a machine in an LXD container", Args: arguments(1, 1, "name the machine that is to be made"),
		Long: `Makes a container on the LXD server that Harvest is configured with, and installs the agent in
it, which joins the project. Where a step fails all that was made is removed again. So it is at
Ctrl-C; a second one lets the making go on. With --json each event is a line of JSON.`,
		Example: `  harvest agents flavors --project engine
  harvest agents create builder --project engine --flavor medium --description "runs the tests"`,
	}, func(ctx context.Context, api *client.Client, project string, args []string) error {
		order.Name = args[0]
		return p.createOn(ctx, api, project, order, asJSON)
	})
	c.PreRunE = func(*cobra.Command, []string) error {
		if order.Flavor == "" {
			return usageError{errors.New("of which size? Name one with --flavor; harvest agents flavors --project PROJECT lists them")}
		}
		return nil
	}
	c.Flags().StringVar(&order.Flavor, "flavor", "", "its size: tiny, small, medium, large or extra-large")
	c.Flags().StringVar(&order.Description, "description", "", "what it is for")
	c.Flags().BoolVar(&asJSON, "json", false, "print each event as a line of JSON")
	return c
}

// createOn orders a container, and shows how it is made.
func (p *program) createOn(ctx context.Context, api *client.Client, project string, order client.Container, asJSON bool) error {
	at, err := api.CreateContainer(ctx, project, order, domain.NewID())
	if err != nil {
		return err
	}
	screen := p.screen(p.errs)
	defer screen.Close()
	api.Waits = screen.Waits
	following, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	defer p.onInterrupt(ctx, following, interrupt{
		of: "it", cancel: func(ctx context.Context) error { return api.CancelContainer(ctx, at) }, note: screen.Line, leave: leave,
	})()
	events := api.FollowContainer(following, at)
	if asJSON {
		return p.printEvents(following, events)
	}
	shown := terminal.NewContainer(screen, order.Name)
	defer screen.Status(nil)
	for event, err := range events {
		if err == nil {
			err = shown.Show(event.Type, event)
		}
		if following.Err() != nil {
			return exitError{exitStopped, errors.New("the making goes on; harvest agents list shows the machine once it has joined")}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *program) flavorsCommand() *cobra.Command {
	var asJSON bool
	c := p.ofProject(&cobra.Command{Use: "flavors", Short: "List the sizes of containers", Args: noArguments, Example: "  harvest agents flavors --project engine"},
		func(ctx context.Context, api *client.Client, project string, _ []string) error {
			list, err := api.Flavors(ctx, project)
			if err != nil {
				return err
			}
			table := listing{head: []string{"flavor", "cores", "memory", ""}, none: "there are none"}
			for _, f := range list {
				table.row(f.ID, strconv.Itoa(f.CPU), fmt.Sprintf("%g GiB", float64(f.MemoryMiB)/1024), f.Label)
			}
			return p.show(table, list, asJSON)
		})
	jsonFlag(c, &asJSON)
	return c
}

// containerCommand makes a command that changes whether a container runs.
func (p *program) containerCommand(verb, short, becomes string) *cobra.Command {
	return p.onAgent(&cobra.Command{
		Use: verb + " MACHINE", Short: short, Args: oneMachine, Long: short + ". It must be one that Harvest made, on LXD.",
		Example: "  harvest agents " + verb + " builder",
	}, func(ctx context.Context, api *client.Client, a client.Agent, _ []string) error {
		if err := api.ChangeContainer(ctx, a, verb); err != nil {
			return err
		}
		return p.did("the container of %s "+becomes, a.Hostname)
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) forwardsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "forwards",
		Short: "Reach services of a machine through Harvest",
		Long: `A port forward gives a port of a machine a name, under which the people of its project reach
it in their browsers at Harvest's own address. Only the machine itself must reach the port.`,
		Example: `  harvest agents forwards add web1 3000 --name grafana
  harvest agents forwards list web1
  harvest agents forwards edit web1 grafana --port 3001
  harvest agents forwards delete web1 grafana`,
	}
	c.AddCommand(p.listForwardsCommand(), p.addForwardCommand(), p.editForwardCommand(), p.deleteForwardCommand())
	return c
}

func (p *program) listForwardsCommand() *cobra.Command {
	var asJSON bool
	c := p.onAgent(&cobra.Command{Use: "list MACHINE", Short: "List the port forwards of a machine", Args: oneMachine, Example: "  harvest agents forwards list web1"},
		func(ctx context.Context, api *client.Client, a client.Agent, _ []string) error {
			list, err := api.PortForwards(ctx, a)
			if err != nil {
				return err
			}
			table := listing{head: []string{"id", "name", "port", "address"}, none: "the machine has no port forwards"}
			for _, f := range list {
				table.row(f.ID, f.RouteName, strconv.Itoa(f.Port), f.URL)
			}
			return p.show(table, list, asJSON)
		})
	jsonFlag(c, &asJSON)
	return c
}

func (p *program) addForwardCommand() *cobra.Command {
	var name string
	c := p.onAgent(&cobra.Command{
		Use: "add MACHINE PORT", Short: "Give a port of a machine a name, and print its address",
		Args:    arguments(2, 2, "name a machine, and the number of one of its ports"),
		Example: "  harvest agents forwards add web1 3000 --name grafana",
	}, func(ctx context.Context, api *client.Client, a client.Agent, args []string) error {
		port, err := portNumber(args[0])
		if err != nil {
			return err
		}
		made, err := api.AddPortForward(ctx, a, port, name)
		if err == nil {
			_, err = fmt.Fprintln(p.out, domain.Visible(made.URL))
		}
		if err != nil {
			return err
		}
		return p.did("people of the project %s reach it there in a browser in which they are signed in", a.ProjectName)
	})
	c.Flags().StringVar(&name, "name", "", "name of the port, a part of its address: lower-case letters, digits and hyphens")
	_ = c.MarkFlagRequired("name") // it is there
	return c
}

func (p *program) editForwardCommand() *cobra.Command {
	var port int
	var name string
	var given func(flag string) bool
	c := p.onAgent(&cobra.Command{
		Use: "edit MACHINE NAME", Short: "Change the port or the name of a port forward", Args: arguments(2, 2, "name a machine, and one of its port forwards"),
		Example: `  harvest agents forwards edit web1 grafana --port 3001
  harvest agents forwards edit web1 grafana --name metrics`,
	}, func(ctx context.Context, api *client.Client, a client.Agent, args []string) error {
		changes := map[string]any{}
		if given("port") {
			if _, err := portNumber(strconv.Itoa(port)); err != nil {
				return err
			}
			changes["port"] = port
		}
		if given("name") {
			changes["route_name"] = name
		}
		if len(changes) == 0 {
			return usageError{errors.New("what is to change? Give --port, --name or both")}
		}
		f, err := forwardNamed(ctx, api, a, args[0])
		if err == nil {
			err = api.ChangePortForward(ctx, a, f.ID, changes)
		}
		if err != nil {
			return err
		}
		return p.did("changed the port forward %s of %s", f.RouteName, a.Hostname)
	})
	given = c.Flags().Changed
	c.Flags().IntVar(&port, "port", 0, "the port of the machine")
	c.Flags().StringVar(&name, "name", "", "the new name; the old address ends")
	return c
}

func (p *program) deleteForwardCommand() *cobra.Command {
	return p.onAgent(&cobra.Command{
		Use: "delete MACHINE NAME", Short: "Remove a port forward", Args: arguments(2, 2, "name a machine, and one of its port forwards"),
		Example: "  harvest agents forwards delete web1 grafana",
	}, func(ctx context.Context, api *client.Client, a client.Agent, args []string) error {
		f, err := forwardNamed(ctx, api, a, args[0])
		if err == nil {
			err = api.DeletePortForward(ctx, a, f.ID)
		}
		if err != nil {
			return err
		}
		return p.did("removed the port forward %s of %s", f.RouteName, a.Hostname)
	})
}

func portNumber(text string) (int, error) {
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return 0, usageError{fmt.Errorf("%q is no port; give a number from 1 to 65535", text)}
	}
	return port, nil
}

// forwardNamed gives the port forward of that name or id.
func forwardNamed(ctx context.Context, api *client.Client, a client.Agent, name string) (domain.PortForward, error) {
	list, err := api.PortForwards(ctx, a)
	if err != nil {
		return domain.PortForward{}, err
	}
	for _, f := range list {
		if f.RouteName == name || f.ID == name {
			return f, nil
		}
	}
	return domain.PortForward{}, domain.NotFound("%s has no port forward %q; harvest agents forwards list %s shows all", domain.Visible(a.Hostname), name, domain.Visible(a.Hostname))
}

package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

func (p *program) agentsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "agents",
		Short: "Join machines to projects, and work on them",
		Long: `A machine joins a project by an agent: a small daemon that connects to Harvest by itself, so
that the machine need not be reachable from outside. What is run there goes on through restarts
of either side, and no result is lost.`,
		Example: `  harvest agents install --project engine
  harvest agents create builder --project engine --flavor small
  harvest agents list
  harvest run web1 -- uptime
  harvest agents console web1
  harvest agents forwards add web1 8080 --name grafana`,
	}
	c.AddCommand(p.listAgentsCommand(), p.showAgentCommand(), p.installAgentCommand(), p.rotateTokenCommand(), p.deleteAgentCommand(),
		p.createAgentCommand(), p.flavorsCommand(),
		p.containerCommand("start", "Start the container of a machine", "starts"),
		p.containerCommand("stop", "Stop the container of a machine", "is stopped"),
		p.containerCommand("restart", "Restart the container of a machine", "restarts"),
		p.commandsCommand(), p.logsCommand(), p.cancelCommandCommand(), p.consoleCommand(), p.forwardsCommand())
	return c
}

// onAgent makes a command about a machine, which its first argument names.
func (p *program) onAgent(c *cobra.Command, run func(ctx context.Context, api *client.Client, agent client.Agent, args []string) error) *cobra.Command {
	var project string
	c.RunE = func(c *cobra.Command, args []string) error {
		return p.withClient(func(api *client.Client) error {
			agent, err := agentNamed(c.Context(), api, project, args[0])
			if err != nil {
				return err
			}
			return run(c.Context(), api, agent, args[1:])
		})
	}
	agentProjectFlag(c, &project)
	return c
}

func agentProjectFlag(c *cobra.Command, project *string) {
	c.Flags().StringVar(project, "project", "", "name or id of the machine's project (default: any of yours)")
}

// agentsIn lists the machines of a project, or without one those of all that the caller sees, by
// project. Never nil: it is shown as JSON too.
func agentsIn(ctx context.Context, api *client.Client, project string) ([]client.Agent, error) {
	if project == "" {
		return api.AllAgents(ctx)
	}
	x, err := projectNamed(ctx, api, project)
	if err != nil {
		return nil, err
	}
	return api.Agents(ctx, x)
}

// agentNamed gives the machine of that id, or of that name where only one has it. A container
// has the name that it was made by, too, without its suffix.
func agentNamed(ctx context.Context, api *client.Client, project, name string) (client.Agent, error) {
	list, err := agentsIn(ctx, api, project)
	if err != nil {
		return client.Agent{}, err
	}
	id, err := pickAgent(list, name)
	for _, a := range list {
		if a.ID == id {
			return a, err
		}
	}
	return client.Agent{}, err
}

func pickAgent(list []client.Agent, name string) (string, error) {
	id, err := pick(entries(list, func(a client.Agent) entry { return entry{a.ID, a.Hostname} }), "machine", name)
	if domain.CodeOf(err) != domain.CodeNotFound {
		return id, err
	}
	return pick(entries(list, func(a client.Agent) entry {
		if suffix, ok := strings.CutPrefix(a.Hostname, name+"-"); ok && a.Provider == domain.ProviderLXD && len(suffix) == 8 && !strings.Contains(suffix, "-") {
			return entry{a.ID, name}
		}
		return entry{a.ID, a.Hostname}
	}), "machine", name)
}

func (p *program) listAgentsCommand() *cobra.Command {
	var project string
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Short: "List machines, and whether they are connected", Args: noArguments,
		Example: `  harvest agents list --project engine
  harvest agents list --json | jq -r '.[] | select(.online) | .hostname'`,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withClient(func(api *client.Client) error {
				list, err := agentsIn(c.Context(), api, project)
				if err != nil {
					return err
				}
				table := listing{head: []string{"id", "machine", "state", "project", "by", "description"},
					none: "there are no machines; harvest agents install --project PROJECT says how one joins"}
				for _, a := range list {
					table.row(a.ID, a.Hostname, agentState(a), a.ProjectName, a.Provider, a.Description)
				}
				return p.show(table, list, asJSON)
			})
		},
	}
	jsonFlag(c, &asJSON)
	c.Flags().StringVar(&project, "project", "", "only those of this project, by name or id")
	return c
}

// agentState says whether a machine is connected, or since when it is not.
func agentState(a client.Agent) string {
	switch {
	case a.Online:
		return "online"
	case a.LastSeen == nil:
		return "never connected"
	}
	return "away since " + when(*a.LastSeen)
}

func (p *program) showAgentCommand() *cobra.Command {
	var asJSON bool
	c := p.onAgent(&cobra.Command{Use: "show MACHINE", Short: "Show a machine", Args: oneMachine, Example: "  harvest agents show web1"},
		func(_ context.Context, _ *client.Client, a client.Agent, _ []string) error {
			if asJSON {
				return p.showJSON(a)
			}
			p.fields([2]string{"machine", a.Hostname}, [2]string{"id", a.ID}, [2]string{"project", a.ProjectName}, [2]string{"state", agentState(a)},
				[2]string{"made by", map[string]string{"lxd": "Harvest, as an LXD container", "manual": "hand"}[a.Provider]},
				[2]string{"description", a.Description}, [2]string{"joined", when(a.CreatedAt)},
				[2]string{"version", cmp.Or(a.Version, "it does not say")}, [2]string{"able to", abilities(a.Capabilities)})
			return nil
		})
	jsonFlag(c, &asJSON)
	return c
}

// abilities says what the capabilities of an agent are good for; see docs/agent-wire.md.
func abilities(capabilities []string) string {
	var list []string
	for _, c := range capabilities {
		if what, known := map[string]string{"ack": "keep results until they are taken", "cancel": "cancel commands", "env": "set variables", "batch": "", "bytes": ""}[c]; !known {
			list = append(list, c)
		} else if what != "" {
			list = append(list, what)
		}
	}
	return cmp.Or(strings.Join(list, ", "), "run commands alone: an agent of another make, with fewer promises")
}

// oneMachine is the check of commands that take a machine alone.
var oneMachine = arguments(1, 1, "name one machine, by its name or id; harvest agents list shows yours")

func (p *program) deleteAgentCommand() *cobra.Command {
	return p.onAgent(&cobra.Command{
		Use: "delete MACHINE", Short: "Remove a machine, and its container where Harvest made it", Args: oneMachine,
		Long: `Removes a machine from its project. Its commands that wait are canceled; of those that run it
can't be known any more how they end. A container that Harvest made is destroyed, with all that
is in it; where that fails the machine stays. From a machine of your own the agent takes itself
off where it is connected.`,
		Example: `  harvest agents delete web1
  harvest agents delete web1 --project engine`,
	}, func(ctx context.Context, api *client.Client, a client.Agent, _ []string) error {
		if err := api.DeleteAgent(ctx, a); err != nil {
			return err
		}
		return p.did("removed the machine %s of the project %s"+map[bool]string{true: ", with its container"}[a.Provider == "lxd"], a.Hostname, a.ProjectName)
	})
}

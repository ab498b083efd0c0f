package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
)

// The exit codes of a command that was run on a machine, beside its own.
const (
	exitUnknown  = 123 // how it ended can't be known
	exitTimedOut = 124 // as timeout(1) gives it
	exitNotRun   = 125 // it never ran
)

// runFlags are what harvest run is given beside the machine and the command.
type runFlags struct {
	order         client.CommandOrder
	project       string
	timeout, wait time.Duration
	env           []string
	asJSON, raw   bool
}

func (p *program) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run MACHINE [flags] -- COMMAND…",
		Short: "Run a command on a machine, and show its output as it comes",
		Long: `Runs a command on a machine. One argument behind -- is a line for bash; several are a program and
its arguments, exactly as they stand. The command goes on whatever becomes of this program, of
the connection or of Harvest; it never runs twice. Where the machine is not connected the command
waits for it.

Ctrl-C asks for the end of the command, and shows how it ends; a second one waits for that no
longer, and says how it can be followed. The exit code is the command's own, or
  123  it ran, and how it ended can't be known
  124  it ran longer than its --timeout, and was ended
  125  it never ran
  130  it was canceled, or its end was no longer waited for

Secrets of the project go into its environment, by --env: the machine gets the values, and the log
never shows them.`,
		Example: `  harvest run web1 -- uptime
  harvest run web1 -- 'df -h | sort -k5 | tail -3'
  harvest run web1 --timeout 5m --env TOKEN=secret://DEPLOY_TOKEN -- ./deploy.sh
  harvest run web1 --detach --timeout 5m -- apt-get -y upgrade`,
		Args: arguments(2, -1, "name a machine, and the command: harvest run MACHINE -- COMMAND"),
		RunE: func(c *cobra.Command, args []string) error {
			f.order.Command = commandLine(args[1:])
			if err := f.read(c.Flags().Changed); err != nil {
				return err
			}
			err := p.withClient(func(api *client.Client) error {
				agent, err := agentNamed(c.Context(), api, f.project, args[0])
				if err != nil {
					return err
				}
				return p.runOn(c.Context(), api, agent, f)
			})
			return runFault(c.Context(), err)
		},
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if unknown := new(pflag.NotExistError); errors.As(err, &unknown) {
			err = fmt.Errorf("%w; flags of the command itself stand behind --: harvest run MACHINE -- COMMAND", err)
		}
		return flagFault(c, err)
	})
	f.add(c)
	return c
}

func (f *runFlags) add(c *cobra.Command) {
	agentProjectFlag(c, &f.project)
	flags := c.Flags()
	flags.DurationVar(&f.timeout, "timeout", 0, "how long it may run, at most 5m (default 30s)")
	flags.DurationVar(&f.wait, "wait", 0, "how long it waits for its machine to connect, at most 24h (default 1m)")
	flags.StringArrayVar(&f.env, "env", nil, "variable of its environment, as NAME=VALUE, or NAME=secret://SECRET for a secret of the project (may be repeated)")
	flags.StringVar(&f.order.Description, "description", "", "what it is for, for those who look at the log or approve it")
	flags.BoolVar(&f.order.Detach, "detach", false, "print its id, and don't wait for it")
	flags.BoolVar(&f.raw, "raw", false, "write its output as it is to a terminal too, where it could do harm")
	flags.BoolVar(&f.asJSON, "json", false, "print the command as JSON when it has ended, as the API gives it")
	exclusive(c, "detach", "json")
}

// read completes the order.
func (f *runFlags) read(given func(flag string) bool) (err error) {
	for flag, times := range map[string][2]time.Duration{"timeout": {f.timeout, domain.MaxCommandTimeout}, "wait": {f.wait, domain.MaxCommandWait}} {
		if given(flag) && (times[0] <= 0 || times[0] > times[1]) {
			return usageError{fmt.Errorf("--%s %s: give a time of more than nothing and at most %s", flag, domain.Span(times[0]), domain.Span(times[1]))}
		}
	}
	f.order.TimeoutSecs, f.order.WaitSecs = wholeSeconds(f.timeout), wholeSeconds(f.wait)
	f.order.Env, err = variables(f.env)
	return err
}

// runFault makes an error that is no command's own end one with an exit code of its own.
func runFault(ctx context.Context, err error) error {
	var usage usageError
	var ended exitError
	if err == nil || ctx.Err() != nil || errors.As(err, &usage) || errors.As(err, &ended) {
		return err
	}
	return exitError{exitNotRun, err}
}

// runOn orders a command, and follows it.
func (p *program) runOn(ctx context.Context, api *client.Client, a client.Agent, f runFlags) error {
	made, err := api.RunCommand(ctx, a, f.order, domain.NewID())
	if err != nil {
		return err
	}
	switch {
	case made.Status == domain.CommandPending:
		fmt.Fprintf(p.errs, "harvest: this waits for approval; whoever may approve it here writes:\n  harvest actions show %s\n  harvest actions approve %[1]s\n", made.ActionID)
	case !a.Online:
		fmt.Fprintf(p.errs, "harvest: %s is not connected; the command waits for it\n", domain.Visible(a.Hostname))
	}
	if f.order.Detach {
		fmt.Fprintln(p.out, made.CommandID)
		return p.did("follow it with: harvest agents logs %s", made.CommandID)
	}
	x := domain.CommandInfo{ID: made.CommandID, ProjectID: a.ProjectID, AgentID: a.ID, Hostname: a.Hostname}
	return p.followRun(ctx, api, x, f.asJSON, f.raw)
}

// plainWord is what bash takes as it stands.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+:,./-]+$`)

// commandLine gives a line for bash: the only argument, or several as the words that they are.
func commandLine(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	words := make([]string, len(args))
	for i, word := range args {
		if words[i] = word; !plainWord.MatchString(word) {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// wholeSeconds rounds up.
func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// variables reads NAME=VALUE.
func variables(list []string) (map[string]string, error) {
	env := map[string]string{}
	for _, text := range list {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, usageError{fmt.Errorf("--env %q: write NAME=VALUE, or NAME=secret://SECRET for a secret of the project", text)}
		}
		env[name] = value
	}
	return env, nil
}

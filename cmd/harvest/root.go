package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitStopped = 130 // by Ctrl-C, as shells give it
)

// defaultConfig is read where --config names no file and it is there.
const defaultConfig = "harvest.toml"

// program is what the commands share.
type program struct {
	in   *os.File
	out  *os.File // answers
	errs *os.File // all else
	env  func(string) (string, bool)
	// interrupts tells of what is typed after a first Ctrl-C; nil for the signals of the process.
	interrupts chan os.Signal

	configPath string
	dataDir    string
	plain      bool
}

// usageError is a command line that can't be understood.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// exitError is an end with an exit code of its own; without an error nothing is said of it.
type exitError struct {
	code int
	error
}

func (e exitError) Error() string {
	if e.error == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.error.Error()
}

func (e exitError) Unwrap() error { return e.error }

func (p *program) run(ctx context.Context, args []string) int {
	root := p.command()
	root.SetArgs(args)
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.errs)
	command, err := root.ExecuteContextC(ctx)
	var usage usageError
	var ended exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &ended):
		if ended.error != nil {
			fmt.Fprintf(p.errs, "harvest: %v\n", ended.error)
		}
		return ended.code
	case errors.As(err, &usage):
		fmt.Fprintf(p.errs, "harvest: %v\nSee: %s --help\n", err, command.CommandPath())
		return exitUsage
	case ctx.Err() != nil && domain.CodeOf(err) == domain.CodeCanceled:
		fmt.Fprintf(p.errs, "harvest: %v\n", err)
		return exitStopped
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(p.errs, "harvest: stopped")
		return exitStopped
	}
	fmt.Fprintf(p.errs, "harvest: %v\n", err)
	return exitFailed
}

func (p *program) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "harvest",
		Short: "Answers questions about code, with citations, durably",
		Long: `Harvest reads repositories into a graph and answers questions about them with citations.
It runs on Temporal and PostgreSQL, which it starts itself where they are not given.

Try it:  harvest demo`,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return requiredFlags(c) },
		SilenceErrors:     true,
		SilenceUsage:      true,
	}
	root.SetFlagErrorFunc(flagFault)
	flags := root.PersistentFlags()
	flags.StringVar(&p.configPath, "config", "", "configuration file (default "+defaultConfig+" where there is one)")
	flags.StringVar(&p.dataDir, "data-dir", "", "folder of all data (default .harvest)")
	flags.BoolVar(&p.plain, "plain", false, "no colours and no moving lines, also on a terminal")
	p.group(root, "use", "Ask, and follow what becomes of it:",
		p.demoCommand(), p.askCommand(), p.turnsCommand(), p.watchCommand(), p.conversationsCommand(), p.actionsCommand(),
		p.loginCommand(), p.logoutCommand(), p.whoamiCommand(), p.apiKeysCommand(), p.uiCommand())
	p.group(root, "team", "Share projects, and say who may do what:",
		p.projectsCommand(), p.artifactsCommand(), p.skillsCommand(), p.memoriesCommand(), p.secretsCommand(), p.usersCommand(), p.groupsCommand(), p.auditCommand())
	run := p.runCommand()
	p.group(root, "machines", "Work on machines:", p.agentsCommand(), run)
	flagsFirst(run)
	p.group(root, "run", "Run Harvest:",
		p.upCommand(), p.ingestCommand(), p.repositoriesCommand(), p.doctorCommand(), p.serveCommand(), p.workerCommand(), p.migrateCommand())
	root.AddCommand(p.versionCommand(), p.readPDF())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	guard(root)
	return root
}

// group puts commands under a title of the help.
func (p *program) group(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
	}
	root.AddCommand(commands...)
}

// arguments makes sure that a command has from least to most arguments; a negative most is no
// bound. Otherwise remedy says what to write.
func arguments(least, most int, remedy string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usageError{errors.New(remedy)}
		}
		return nil
	}
}

// exclusive makes sure that of these flags of a command one at the most is given.
func exclusive(c *cobra.Command, flags ...string) {
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		var given []string
		for _, flag := range flags {
			if c.Flags().Changed(flag) {
				given = append(given, "--"+flag)
			}
		}
		if len(given) > 1 {
			return usageError{fmt.Errorf("%s can't be given together: leave out all but one", strings.Join(given, " and "))}
		}
		if before != nil {
			return before(c, args)
		}
		return nil
	}
}

// configure loads the configuration; flags win over it.
func (p *program) configure() (*config.Config, error) {
	path := p.configPath
	if path == "" {
		if _, err := os.Stat(defaultConfig); err == nil {
			path = defaultConfig
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for %s: %w", defaultConfig, err)
		}
	}
	cfg, err := config.Load(path, p.env)
	if err != nil {
		return nil, err
	}
	if p.dataDir != "" {
		cfg.Data.Dir = p.dataDir
	}
	if cfg.Data.Dir, err = filepath.Abs(cfg.Data.Dir); err != nil {
		return nil, fmt.Errorf("find the data folder: %w", err)
	}
	return cfg, nil
}

// screen opens the terminal for people; close it in the end.
func (p *program) screen(file *os.File) *terminal.Screen {
	_, noColor := p.env("NO_COLOR")
	term, _ := p.env("TERM")
	return terminal.Open(file, p.plain || noColor || term == "dumb")
}

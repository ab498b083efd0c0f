package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/harvest-engine/harvest/internal/agent"
	"github.com/harvest-engine/harvest/internal/agent/settings"
	"github.com/harvest-engine/harvest/internal/agent/setup"
)

// version is set as the binary is linked.
var version = "dev"

const usage = `harvest-agent runs commands on this machine for a Harvest server.

  harvest-agent [run] [-c FILE]   work; FILE is ` + settings.DefaultPath + ` by default
  harvest-agent machine [-c FILE] print the id of this machine; nothing where FILE is another's
  harvest-agent version           print the version
`

// program is the command with its surroundings.
type program struct {
	out  io.Writer
	errs *os.File
	env  []string
}

func (p program) run(args []string) int {
	verb := "run"
	if len(args) > 0 && len(args[0]) > 0 && args[0][0] != '-' {
		verb, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("harvest-agent", flag.ContinueOnError)
	flags.SetOutput(p.errs)
	flags.Usage = func() { fmt.Fprint(p.errs, usage) }
	path := flags.String("config", settings.DefaultPath, "")
	flags.StringVar(path, "c", settings.DefaultPath, "")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	var err error
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("%q is one argument too many", flags.Arg(0))
	case verb == "run":
		err = p.serve(*path)
	case verb == "machine":
		err = p.machine(*path)
	case verb == "version":
		fmt.Fprintln(p.out, version)
	case verb == "help":
		fmt.Fprint(p.out, usage)
	default:
		err = fmt.Errorf("there is no %q; try harvest-agent help", verb)
	}
	if err != nil {
		fmt.Fprintln(p.errs, "harvest-agent:", err)
		return 1
	}
	return 0
}

func (p program) serve(path string) error {
	debug.SetMemoryLimit(48 << 20) // collects earlier; it is no hard limit
	// Of whoever starts it the agent takes over no mask, which commands would work with; its own
	// files name their modes.
	syscall.Umask(0o022)
	file, err := settings.Load(path)
	if err != nil {
		return err
	}
	daemon, err := agent.New(agent.Config{
		Settings: file, Version: version, Env: environment(p.env), Errs: p.errs,
		Log:       slog.New(slog.NewTextHandler(p.errs, nil)),
		Uninstall: func() error { return remove(file) },
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return daemon.Run(ctx)
}

// machine prints the id by which the server knows this machine. It makes none.
func (p *program) machine(path string) error {
	file, err := settings.Load(path)
	if err != nil {
		return err
	}
	folder := file.Values().StateDir
	if _, err := os.Stat(filepath.Join(folder, "machine")); err != nil {
		return fmt.Errorf("this machine has no id yet: %w", err)
	}
	m, err := settings.ReadMachine(folder, "/")
	if err == nil && !m.Copied {
		fmt.Fprintln(p.out, m.ID)
	}
	return err
}

// remove takes the agent off the machine.
func remove(file *settings.File) error {
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	return setup.Of(file.Path(), file.Values().StateDir, binary).Remove()
}

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/cmd/harvest/terminal"
	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/embedded"
	"github.com/harvest-engine/harvest/internal/obs"
)

// uiPath is where the Temporal UI's pages are, here and behind the API.
const uiPath = "/temporal"

// ports are where an own stack listens, on the loopback interface.
type ports struct{ api, ui, temporal, postgres int }

func (o *ports) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.IntVar(&o.api, "port", 0, "port of the API (default 8080)")
	flags.IntVar(&o.ui, "temporal-ui-port", 8233, "port that forwards to the Temporal UI, which is under "+uiPath+"/ of the API")
	flags.IntVar(&o.temporal, "temporal-port", 7233, "port of Temporal")
	flags.IntVar(&o.postgres, "postgres-port", 7432, "port of PostgreSQL")
}

// check refuses, before anything is started, ports that are none and a port that is meant for
// two servers.
func (o ports) check() error {
	flagOf := map[int]string{}
	for _, port := range []struct {
		number int
		flag   string
	}{{o.api, "--port"}, {o.ui, "--temporal-ui-port"}, {o.temporal, "--temporal-port"}, {o.postgres, "--postgres-port"}} {
		if port.number < 0 || port.number > 65535 {
			return domain.Errorf(domain.CodeInvalid, "%s: %d is no port; choose one from 1 to 65535", port.flag, port.number)
		}
		if other, taken := flagOf[port.number]; taken && port.number != 0 {
			return domain.Errorf(domain.CodeInvalid, "%s and %s are both %d; choose two", other, port.flag, port.number)
		}
		flagOf[port.number] = port.flag
	}
	return nil
}

func (p *program) upCommand() *cobra.Command {
	var o ports
	c := &cobra.Command{
		Use:   "up",
		Short: "Run everything: API, worker, Temporal and PostgreSQL",
		Long: `Runs the API and the worker in this process, and Temporal and PostgreSQL as its children, on
this machine only and with all data in one folder. DATABASE_URL and TEMPORAL_ADDRESS name
servers that run already. Ctrl-C stops all in order; what was under way goes on at the next up.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			screen := p.screen(p.errs)
			defer screen.Close()
			return p.up(c.Context(), o, upOptions{service: "up", screen: screen, log: screen})
		},
	}
	o.flags(c)
	return c
}

// upOptions tell up and demo apart.
type upOptions struct {
	service string // names the process in logs
	screen  *terminal.Screen
	log     io.Writer
	// ready is called once everything runs; its error ends it. nil: tell the addresses.
	ready func(ctx context.Context, running instance) error
}

// up starts the servers, runs Harvest on them until ctx ends, and stops all.
func (p *program) up(ctx context.Context, o ports, how upOptions) error {
	cfg, err := p.configure()
	if err != nil {
		return err
	}
	if o.api == 0 {
		o.api = cfg.Server.Port
	}
	if err := o.check(); err != nil {
		return err
	}
	log, err := newLog(cfg, how)
	if err != nil {
		return err
	}
	obs.TakeStandard(log)
	logNotices(log, cfg)
	if how.log != io.Writer(how.screen) {
		showNotices(how.screen, cfg)
	}
	var doors doors
	defer doors.close()
	options := stackOptions(cfg, o, how, log)
	options.Reserve = func() error { return doors.open(o, options.NoTemporal) }
	stack, err := embedded.Start(ctx, options)
	if err != nil {
		return err
	}
	err = whole{cfg: cfg, doors: doors, how: how, log: log, ask: p.askLine()}.run(ctx, stack)
	if ctx.Err() != nil {
		how.screen.Status(func(int) string { return "stopping" })
	}
	if stopErr := stack.Stop(); err == nil {
		err = stopErr
	}
	how.screen.Status(nil)
	return err
}

func newLog(cfg *config.Config, how upOptions) (zerolog.Logger, error) {
	format := cfg.Log.Format
	if format == obs.FormatAuto && how.log == io.Writer(how.screen) && how.screen.Fancy() {
		format = obs.FormatConsole
	}
	return obs.New(how.log, format, cfg.Log.Level, how.service)
}

func stackOptions(cfg *config.Config, o ports, how upOptions, log zerolog.Logger) embedded.Options {
	return embedded.Options{
		DataDir: cfg.Data.Dir, CacheDir: embedded.DefaultCacheDir(),
		DatabaseURL: cfg.Database.URL.Reveal(), NoTemporal: cfg.Temporal.Address != "",
		PostgresPort: o.postgres, TemporalPort: o.temporal, UIPath: uiPath, CodecEndpoint: api.CodecPath,
		Namespace: cfg.Temporal.Namespace,
		Progress:  terminal.NewStart(how.screen).Show, Log: log,
	}
}

// whole is API and worker in one process, on an own stack.
type whole struct {
	cfg   *config.Config
	doors doors
	how   upOptions
	log   zerolog.Logger
	ask   string // the command that asks this Harvest
}

// run runs Harvest on servers that run.
func (w whole) run(ctx context.Context, stack *embedded.Stack) error {
	cfg, log := w.cfg, w.log
	on := servers{dsn: stack.DSN(), temporal: stack.TemporalAddress(), inTheOpen: true, combined: true}
	ui := stack.UIAddress()
	if on.temporal == "" {
		on.temporal, on.inTheOpen, ui = cfg.Temporal.Address, false, cfg.Temporal.UIURL
	}
	a, err := assemble(ctx, cfg, log, on)
	if err != nil {
		return err
	}
	defer a.close()
	token, err := ownerToken(cfg.Data.Dir)
	if err != nil {
		return err
	}
	running := instance{
		PID: os.Getpid(), API: w.doors.address(), Temporal: on.temporal, Version: versionName(), StartedAt: time.Now().UTC(),
	}
	if cfg.Database.URL.Empty() {
		running.Database = stack.DSN()
	}
	if ui != "" {
		running.TemporalUI = running.API + uiPath + "/"
	}
	defer removeInstance(cfg.Data.Dir)
	defer w.doors.forward()()
	return a.run(ctx, halves{
		kind: w.how.service, listener: w.doors.api, token: token, temporalUI: ui, worker: true,
		ready: func(ctx context.Context) error {
			if err := running.write(cfg.Data.Dir); err != nil {
				return err
			}
			log.Info().Str("api", running.API).Str("temporal_ui", running.TemporalUI).Str("data", cfg.Data.Dir).Msg("ready")
			if w.how.ready != nil {
				return w.how.ready(ctx, running)
			}
			tellAddresses(w.how.screen, running, token, w.ask)
			return nil
		},
	})
}

// tellAddresses says where what is.
func tellAddresses(screen *terminal.Screen, running instance, token, ask string) {
	bold := func(text string) string { return screen.Style(terminal.Bold, text) }
	screen.Line("")
	screen.Line("  API          %s", bold(running.API))
	if running.TemporalUI != "" {
		screen.Line("  Temporal UI  %s", bold(running.TemporalUI))
		screen.Line("               %s", screen.Style(terminal.Dim, "sign in with "+api.SignInURL(running.API, token, time.Now())))
	}
	screen.Line("  Ask          %s", bold(ask))
	screen.Line("  Stop         %s\n", bold("Ctrl-C"))
}

// askLine is the command that asks the Harvest of these flags.
func (p *program) askLine() string {
	line := command() + ` ask "…"`
	if p.dataDir != "" {
		line += " --data-dir " + p.dataDir
	}
	return line
}

// command is how this program was called, for commands that people are told to type.
func command() string {
	if dir := filepath.Dir(os.Args[0]); filepath.Base(filepath.Dir(dir)) == "b001" || filepath.Base(dir) == "exe" {
		return "go run ./cmd/harvest"
	}
	return fmt.Sprint(os.Args[0])
}

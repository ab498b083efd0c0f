package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/obs"
)

func (p *program) serveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Run the API alone, on servers that run already",
		Long: `Runs the API without a worker, for production: PostgreSQL and Temporal are named by the
configuration or by DATABASE_URL and TEMPORAL_ADDRESS, and workers run beside it. All of them
need the same encryption keys: under [temporal.codec], or by one data folder.

It listens on [server] host and port. The owner token is in the file owner-token of its data
folder; set HARVEST_URL and HARVEST_TOKEN to use ask, ingest and ui with it.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return p.serve(c.Context()) },
	}
}

func (p *program) serve(ctx context.Context) error {
	cfg, err := p.configure()
	if err != nil {
		return err
	}
	listener, err := listen(cfg.Server.Host, cfg.Server.Port, "the API", "[server] port")
	if err != nil {
		return err
	}
	defer listener.Close() // the API closes it first, where it came to that
	return p.half(ctx, cfg, "serve", func(a *assembly) (halves, error) {
		token, err := ownerToken(cfg.Data.Dir)
		return halves{listener: listener, token: token, temporalUI: cfg.Temporal.UIURL}, err
	})
}

// half runs one half of Harvest on servers that the configuration names.
func (p *program) half(ctx context.Context, cfg *config.Config, service string, choose func(*assembly) (halves, error)) error {
	log, err := obs.New(p.errs, cfg.Log.Format, cfg.Log.Level, service)
	if err != nil {
		return err
	}
	obs.TakeStandard(log)
	logNotices(log, cfg)
	on := servers{dsn: cfg.Database.URL.Reveal(), temporal: cfg.Temporal.Address}
	if on.dsn == "" {
		return domain.Errorf(domain.CodeInvalid, "harvest %s needs a database: set DATABASE_URL (or run everything with: harvest up)", service)
	}
	if on.temporal == "" {
		return domain.Errorf(domain.CodeInvalid, "harvest %s needs Temporal: set TEMPORAL_ADDRESS (or run everything with: harvest up)", service)
	}
	a, err := assemble(ctx, cfg, log, on)
	if err != nil {
		return err
	}
	defer a.close()
	h, err := choose(a)
	if err != nil {
		return err
	}
	h.kind = service
	h.ready = func(context.Context) error {
		entry := log.Info().Int("pid", os.Getpid()).Str("temporal", on.temporal)
		if h.listener != nil {
			entry.Str("api", "http://"+h.listener.Addr().String()).Str("owner_token", filepath.Join(cfg.Data.Dir, tokenFile))
		}
		entry.Msg("ready")
		return nil
	}
	return a.run(ctx, h)
}

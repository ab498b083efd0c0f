package main

import (
	"github.com/spf13/cobra"
)

func (p *program) workerCommand() *cobra.Command {
	var queues []string
	c := &cobra.Command{
		Use:   "worker",
		Short: "Run a worker alone, on servers that run already",
		Long: `Runs a worker without the API, for production. As many may run as are wanted; each serves all
queues, or those that are named: turns, models, tools, ingest, deploy. All processes need the
same encryption keys: under [temporal.codec], or by one data folder.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := p.configure()
			if err != nil {
				return err
			}
			return p.half(c.Context(), cfg, "worker", func(*assembly) (halves, error) {
				return halves{worker: true, queues: queues}, nil
			})
		},
	}
	c.Flags().StringSliceVar(&queues, "queues", nil, "serve these queues only")
	return c
}

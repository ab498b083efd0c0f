package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
)

func (p *program) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database that DATABASE_URL names to this version's schema",
		Long: `Brings a database to the schema of this version, which up, serve and worker also do when they
start. It never removes data, and processes that migrate at once wait for each other.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := p.configure()
			if err != nil {
				return err
			}
			if cfg.Database.URL.Empty() {
				return domain.Errorf(domain.CodeInvalid, "set DATABASE_URL to the database that is to be migrated (harvest up migrates its own)")
			}
			if err := postgres.Migrate(c.Context(), cfg.Database.URL.Reveal()); err != nil {
				return databaseFault(err)
			}
			_, err = fmt.Fprintln(p.errs, "the database has this version's schema")
			return err
		},
	}
}

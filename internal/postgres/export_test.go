package postgres

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"

	"github.com/harvest-engine/harvest/internal/postgres/live"
)

// Statements gives every SQL statement by name.
func Statements() map[string]string { return statements }

// MigrateBy migrates by files that a test changes.
func MigrateBy(ctx context.Context, dsn string, files fs.FS) error { return migrateBy(ctx, dsn, files) }

// MigrationFiles are the files that Migrate goes by.
func MigrationFiles() fs.FS { return migrationFiles }

// MigrateTo brings a schema to the state after the migration of that number.
func MigrateTo(ctx context.Context, conn *pgx.Conn, schema string, number int32) error {
	migrator, err := migrate.NewMigrator(ctx, conn, schema+".schema_version")
	if err != nil {
		return err
	}
	if err := appendMigrations(migrator, migrationFiles); err != nil {
		return err
	}
	if err := migrator.MigrateTo(ctx, number); err != nil {
		return fmt.Errorf("migrate to %d: %w", number, err)
	}
	return nil
}

// Feed opens the feed of a subject, as a reader does.
func (s *Store) Feed(subject string) *live.Feed { return s.hub.Open(subject) }

// SealedColumns names the columns that are sealed, as table.column.
func SealedColumns() (list []string) {
	for _, c := range sealedColumns {
		list = append(list, c.table+"."+c.body)
	}
	return list
}

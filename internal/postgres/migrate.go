package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/tern/v2/migrate"
)

// Each file NNN_name.sql is one migration, run in a transaction. Numbers may leave gaps, but a
// new file's number is always above those that were released: databases are there already.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

var (
	migrationName = regexp.MustCompile(`^(\d{3})_[a-z0-9_]+\.sql$`)
	plainName     = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
)

// Migrate brings the database at dsn to the newest schema, in the first schema of the
// connection's search_path. Processes that migrate at once wait for each other.
func Migrate(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var schema string
	if err := conn.QueryRow(ctx, "select coalesce(current_schema(), '')").Scan(&schema); err != nil {
		return fmt.Errorf("read the search path: %w", err)
	}
	if !plainName.MatchString(schema) {
		return fmt.Errorf("the database's search_path begins with no usable schema (%q)", schema)
	}
	migrator, err := migrate.NewMigrator(ctx, conn, schema+".schema_version")
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	if err := appendMigrations(migrator, migrationFiles); err != nil {
		return err
	}
	if err := migrator.Migrate(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	// Months are made ahead of time, so that one which is being read can wait for the next try.
	if err := ensurePartitions(ctx, conn, time.Now()); err != nil && !busy(err) {
		return err
	}
	return nil
}

// appendMigrations adds the files in order. The version kept in the database is the file's
// number, so gaps are filled with steps that do nothing.
func appendMigrations(migrator *migrate.Migrator, files fs.FS) error {
	entries, err := fs.ReadDir(files, "migrations") // sorted by name
	if err != nil {
		return fmt.Errorf("list migrations: %w", err)
	}
	for _, entry := range entries {
		match := migrationName.FindStringSubmatch(entry.Name())
		if match == nil {
			return fmt.Errorf("migration %s is not named NNN_name.sql", entry.Name())
		}
		number, _ := strconv.Atoi(match[1]) // three digits
		if number <= len(migrator.Migrations) {
			return fmt.Errorf("migration number %s is used twice", match[1])
		}
		for len(migrator.Migrations) < number-1 {
			migrator.AppendMigration("reserved", "select", "")
		}
		sql, err := fs.ReadFile(files, "migrations/"+entry.Name())
		if err != nil {
			return fmt.Errorf("read migration %s: %w", entry.Name(), err)
		}
		migrator.AppendMigration(entry.Name(), string(sql), "")
	}
	return nil
}

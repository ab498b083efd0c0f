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

	"github.com/harvest-engine/harvest/internal/domain"
)

// Each file NNN_name.sql is one migration. Numbers may leave gaps, but a new file's number is
// always above those that were released: databases are there already. None may need to stand
// outside a transaction.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

var (
	migrationName = regexp.MustCompile(`^(\d{3})_[a-z0-9_]+\.sql$`)
	plainName     = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)
)

// migrationLock names the advisory lock of whoever migrates.
const migrationLock = 4917250836142

// Migrate brings the database at dsn to the newest schema, in the first schema of the
// connection's search_path. All that is missing is done in one transaction: where a step fails
// the database stays as it was, and the next call tries again. Processes that migrate at once
// wait for each other. Errors: conflict for a database of a newer version, unprocessable for a
// step that fails, which is named.
func Migrate(ctx context.Context, dsn string) error {
	return migrateBy(ctx, dsn, migrationFiles)
}

func migrateBy(ctx context.Context, dsn string, files fs.FS) error {
	conn, err := Connect(ctx, dsn)
	if err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return fmt.Errorf("wait for other migrations: %w", err)
		}
		return migrateIn(ctx, conn, files)
	})
	if err != nil {
		return err
	}
	// Months are made ahead of time, so that one which is being read can wait for the next try.
	if err := ensurePartitions(ctx, conn, time.Now()); err != nil && !busy(err) {
		return err
	}
	return nil
}

// migrateIn does what is missing, in the transaction that the connection is in.
func migrateIn(ctx context.Context, conn *pgx.Conn, files fs.FS) error {
	var schema string
	if err := conn.QueryRow(ctx, "select coalesce(current_schema(), '')").Scan(&schema); err != nil {
		return fmt.Errorf("read the search path: %w", err)
	}
	if !plainName.MatchString(schema) {
		return fmt.Errorf("the database's search_path begins with no usable schema (%q)", schema)
	}
	// The steps have no transactions of their own: theirs is the one around them all.
	migrator, err := migrate.NewMigratorEx(ctx, conn, schema+".schema_version", &migrate.MigratorOptions{DisableTx: true})
	if err != nil {
		return fmt.Errorf("prepare migrations: %w", err)
	}
	if err := appendMigrations(migrator, files); err != nil {
		return err
	}
	version, err := migrator.GetCurrentVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if known := len(migrator.Migrations); int(version) > known {
		return domain.Errorf(domain.CodeConflict,
			"the database belongs to a newer Harvest: its schema is %d, and this version knows %d at most; run the newer one, or restore what was kept before it was upgraded", version, known)
	}
	if err := migrator.Migrate(ctx); err != nil {
		return domain.Wrap(domain.CodeUnprocessable, err,
			"the database was not upgraded: it stays as it was, at schema %d, and the next start tries again", version)
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
		sql, err := fs.ReadFile(files, "migrations/"+entry.Name())
		if err != nil {
			return fmt.Errorf("read migration %s: %w", entry.Name(), err)
		}
		for len(migrator.Migrations) < number-1 {
			appendMigration(migrator, "reserved", func(context.Context, *pgx.Conn) error { return nil })
		}
		appendMigration(migrator, entry.Name(), step(entry.Name(), string(sql)))
	}
	return nil
}

func appendMigration(migrator *migrate.Migrator, name string, do migrate.MigrationFunc) {
	migrator.Migrations = append(migrator.Migrations, &migrate.Migration{
		Sequence: int32(len(migrator.Migrations)) + 1, Name: name, UpFunc: do,
	})
}

// step runs the SQL of a migration, and tells by its name of a fault.
func step(name, sql string) migrate.MigrationFunc {
	return func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("migration %s: %w", name, err)
		}
		return nil
	}
}

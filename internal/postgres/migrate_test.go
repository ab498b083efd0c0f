package postgres_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// releases gives the folders with the databases that are kept of releases.
func releases(t *testing.T) []string {
	t.Helper()
	kept, err := filepath.Glob("../../cmd/harvest/testdata/databases/*")
	if err != nil || len(kept) == 0 {
		t.Fatalf("no database is kept: %v", err)
	}
	return kept
}

// ancient is a database as it was before a migration.
type ancient struct {
	*testing.T
	dsn  string
	conn *pgx.Conn
}

// emptied gives a database without anything in it.
func emptied(t *testing.T) ancient {
	t.Helper()
	a := ancient{T: t, dsn: testkit.DSN(t)}
	var err error
	if a.conn, err = pgx.Connect(context.Background(), a.dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.conn.Close(context.Background()) })
	a.exec("drop schema public cascade; create schema public")
	return a
}

// of gives a database as a release left it.
func of(t *testing.T, release string) ancient {
	t.Helper()
	a := emptied(t)
	dump, err := os.ReadFile(filepath.Join(release, "dump.sql"))
	if err != nil {
		t.Fatal(err)
	}
	a.exec(string(dump))
	a.exec("reset all") // a dump leaves no search path
	return a
}

func (a ancient) exec(sql string) {
	a.Helper()
	if _, err := a.conn.PgConn().Exec(context.Background(), sql).ReadAll(); err != nil {
		a.Fatal(err)
	}
}

// schema tells of each column, constraint, index and trigger; not of the months of events,
// which depend on the day.
func (a ancient) schema() (lines []string) {
	a.Helper()
	const sql = `
select format('%s.%s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid))
from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and a.attnum > 0 and not a.attisdropped and c.relname !~ '^events_y\d'
union all
select format('%s: %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
where connamespace = 'public'::regnamespace and conrelid::regclass::text !~ '^events_y\d'
union all
select indexdef from pg_indexes where schemaname = 'public' and tablename !~ '^events_y\d'
union all
select pg_get_triggerdef(g.oid) from pg_trigger g join pg_class c on c.oid = g.tgrelid
where not tgisinternal and c.relnamespace = 'public'::regnamespace and c.relname !~ '^events_y\d'
order by 1`
	rows, err := a.conn.Query(context.Background(), sql)
	if err == nil {
		lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		a.Fatal(err)
	}
	return lines
}

func (a ancient) version() (n int) {
	a.Helper()
	if err := a.conn.QueryRow(context.Background(), "select version from schema_version").Scan(&n); err != nil {
		a.Fatal(err)
	}
	return n
}

func (a ancient) migrate(files fs.FS) error {
	return postgres.MigrateBy(context.Background(), a.dsn, files)
}

// An upgraded database is the same as a new one, also where several processes migrate at once.
func TestReleasesAreMigratedToWhatIsNew(t *testing.T) {
	t.Parallel()
	atOnce := func(a ancient) error {
		var all errgroup.Group
		for range 6 {
			all.Go(func() error { return postgres.Migrate(context.Background(), a.dsn) })
		}
		return all.Wait()
	}
	fresh := emptied(t)
	if err := atOnce(fresh); err != nil {
		t.Fatalf("from nothing: %v", err)
	}
	want := fresh.schema()
	moved := 0
	for _, release := range releases(t) {
		old := of(t, release)
		before := old.version()
		if err := atOnce(old); err != nil {
			t.Fatalf("from %s: %v", release, err)
		}
		if diff := cmp.Diff(want, old.schema()); diff != "" {
			t.Errorf("%s is not as a new one (-new +upgraded):\n%s", release, diff)
		}
		if old.version() != fresh.version() {
			t.Errorf("%s went from %d to %d, and not to %d", release, before, old.version(), fresh.version())
		}
		if before < fresh.version() { // nothing may have changed since the newest
			moved++
		}
	}
	if moved < 2 {
		t.Errorf("only %d of the releases had to be migrated", moved)
	}
}

// planted gives the migrations with further ones.
func planted(t *testing.T, more map[string]string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	entries, err := fs.ReadDir(postgres.MigrationFiles(), "migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := "migrations/" + entry.Name()
		sql, err := fs.ReadFile(postgres.MigrationFiles(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: sql}
	}
	for name, sql := range more {
		files["migrations/"+name] = &fstest.MapFile{Data: []byte(sql)}
	}
	return files
}

// A migration that fails leaves all as it was, those before it too; once it is mended, the
// next start does them all.
func TestFailedMigrationsLeaveTheOldState(t *testing.T) {
	t.Parallel()
	for _, release := range releases(t) {
		old := of(t, release)
		before, version := old.schema(), old.version()
		files := planted(t, map[string]string{
			"900_good.sql": "create table good (id int)",
			"910_bad.sql":  "create table half (id int); insert into half values (1); insert into nowhere values (1)",
		})
		err := old.migrate(files)
		if domain.CodeOf(err) != domain.CodeUnprocessable {
			t.Fatalf("a bad migration: %v", err)
		}
		for _, word := range []string{"910_bad.sql", "nowhere", fmt.Sprintf("at schema %d", version), "stays as it was"} {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("the error does not say %q: %v", word, err)
			}
		}
		if diff := cmp.Diff(before, old.schema()); diff != "" || old.version() != version {
			t.Errorf("%s did not stay as it was (-want +got), at %d:\n%s", release, old.version(), diff)
		}
		files["migrations/910_bad.sql"].Data = []byte("create table half (id int)")
		if err := old.migrate(files); err != nil || old.version() != 910 {
			t.Errorf("mended: %v, at %d", err, old.version())
		}
	}
}

// What an older program does not know, it leaves alone.
func TestDatabasesOfNewerVersionsAreRefused(t *testing.T) {
	t.Parallel()
	newer := emptied(t)
	if err := newer.migrate(planted(t, map[string]string{"999_later.sql": "create table later (id int)"})); err != nil {
		t.Fatal(err)
	}
	before := newer.schema()
	err := postgres.Migrate(context.Background(), newer.dsn)
	if domain.CodeOf(err) != domain.CodeConflict || !strings.Contains(err.Error(), "newer Harvest") || !strings.Contains(err.Error(), "999") {
		t.Errorf("an older program: %v", err)
	}
	if diff := cmp.Diff(before, newer.schema()); diff != "" || newer.version() != 999 {
		t.Errorf("it changed something (-want +got), at %d:\n%s", newer.version(), diff)
	}
}

// An address may say how many connections a process takes.
func TestAddressesWithSettingsOfAPoolAreMigrated(t *testing.T) {
	t.Parallel()
	if err := postgres.Migrate(context.Background(), testkit.DSN(t)+"&pool_max_conns=3"); err != nil {
		t.Error(err)
	}
}

func TestMigrationsThatCanNotBeOrdered(t *testing.T) {
	t.Parallel()
	a := emptied(t)
	for name, says := range map[string]string{"001_again.sql": "001", "later.sql": "later.sql"} {
		if err := a.migrate(planted(t, map[string]string{name: "select 1"})); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

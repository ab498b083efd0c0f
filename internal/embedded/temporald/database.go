package main

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql" // the plug-in
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/tools/common/schema"
	"go.temporal.io/server/tools/sql"
	"google.golang.org/protobuf/types/known/durationpb"
)

const plugin = "postgres12_pgx"

// stores are the two databases, and the name of one that exists already.
type stores struct {
	main, visibility config.SQL
	maintenance      string
}

// storesOf reads the address of the database server. Each of the four services inside the
// process opens pools of its own, so that the server holds at most four times both limits.
func storesOf(s Settings) (stores, error) {
	u, err := url.Parse(s.DatabaseURL)
	if err != nil || u.User == nil || !strings.HasPrefix(u.Scheme, "postgres") {
		// The parser's error would repeat the password.
		return stores{}, fmt.Errorf("the database's address must have the form postgres://user:password@host:port/database")
	}
	password, _ := u.User.Password()
	address := u.Host
	if u.Port() == "" {
		address += ":5432"
	}
	sql := config.SQL{
		PluginName: plugin, ConnectProtocol: "tcp", ConnectAddr: address,
		User: url.QueryEscape(u.User.Username()), Password: password,
		ConnectAttributes: map[string]string{},
		MaxConnLifetime:   time.Hour,
	}
	for name, values := range u.Query() {
		sql.ConnectAttributes[name] = values[len(values)-1]
	}
	main, visibility := sql, sql
	main.DatabaseName, main.MaxConns, main.MaxIdleConns = s.Database, s.StoreConnections, s.StoreConnections
	visibility.DatabaseName = s.Visibility
	visibility.MaxConns = max(s.StoreConnections/3, 2)
	visibility.MaxIdleConns = visibility.MaxConns
	return stores{main: main, visibility: visibility, maintenance: strings.TrimPrefix(u.Path, "/")}, nil
}

// prepare makes what is missing: databases, tables and their upgrades, the namespace.
func prepare(s Settings, store stores, logger log.Logger) error {
	quiet := log.NewNoopLogger() // the tools tell every statement
	if err := migrate(store.main, store.maintenance, "postgresql/v12/temporal", quiet); err != nil {
		return fmt.Errorf("prepare database %s: %w", s.Database, err)
	}
	if err := migrate(store.visibility, store.maintenance, "postgresql/v12/visibility", quiet); err != nil {
		return fmt.Errorf("prepare database %s: %w", s.Visibility, err)
	}
	attributes := map[string]enums.IndexedValueType{}
	for _, name := range s.Keywords {
		attributes[name] = enums.INDEXED_VALUE_TYPE_KEYWORD
	}
	for _, name := range s.KeywordLists {
		attributes[name] = enums.INDEXED_VALUE_TYPE_KEYWORD_LIST
	}
	namespace, err := sqlite.NewNamespaceConfig(clusterName, s.Namespace, false, attributes)
	if err != nil {
		return fmt.Errorf("describe namespace %s: %w", s.Namespace, err)
	}
	namespace.Detail.Config.Retention = durationpb.New(s.Retention)
	// In spite of its package's name this works on any SQL store, and leaves a namespace
	// alone that is there.
	main := store.main
	if err := sqlite.CreateNamespaces(&main, namespace); err != nil {
		return fmt.Errorf("make namespace %s: %w", s.Namespace, err)
	}
	return nil
}

// migrate brings one database to the schema of this server, and makes it first where it
// isn't there; maintenance is a database that is.
func migrate(store config.SQL, maintenance, name string, logger log.Logger) error {
	database := store.DatabaseName
	db, err := sql.NewConnection(&store, logger)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if _, err := db.ReadSchemaVersion(); err != nil {
		db.Close()
		admin := store
		made := sql.DoCreateDatabase(&admin, maintenance, logger) // may be refused where it exists already
		if db, err = begin(store, logger); err != nil {
			return errors.Join(err, made)
		}
	}
	defer db.Close()
	update := &schema.UpdateConfig{DBName: database, SchemaName: name}
	if err := schema.NewUpdateSchemaTask(db, update, logger).Run(); err != nil {
		return fmt.Errorf("upgrade its tables: %w", err)
	}
	return nil
}

// begin opens a new database and makes the tables that count its versions.
func begin(store config.SQL, logger log.Logger) (*sql.Connection, error) {
	db, err := sql.NewConnection(&store, logger)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	setup := &schema.SetupConfig{InitialVersion: "0.0"}
	if err := schema.NewSetupSchemaTask(db, setup, logger).Run(); err != nil {
		db.Close()
		return nil, fmt.Errorf("begin its versions: %w", err)
	}
	return db, nil
}

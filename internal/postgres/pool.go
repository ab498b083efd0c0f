package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// maxConns bounds the connections of one process: a server allows 100 in all by default, and
// an API, a worker and Temporal share it.
const maxConns = 24

// Open connects a pool to the database at dsn (a URL or key=value form, with pgx's pool_*
// parameters) and checks that it answers.
func Open(ctx context.Context, dsn string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("read the database address: %w", err)
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = maxConns
	}
	config.MaxConnIdleTime = 5 * time.Minute
	config.HealthCheckPeriod = 15 * time.Second
	config.ConnConfig.DialFunc = dial
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "harvest"
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("reach the database: %w", err)
	}
	return pool, nil
}

// Connect opens one connection by an address that may hold settings of a pool, such as
// pool_max_conns, which the server itself would refuse.
func Connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("read the database address: %w", err)
	}
	config.ConnConfig.DialFunc = dial
	return pgx.ConnectConfig(ctx, config.ConnConfig)
}

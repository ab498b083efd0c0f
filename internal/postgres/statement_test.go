package postgres_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

var argument = regexp.MustCompile(`@([a-z_]+)`)

// Every statement must be valid against the migrated schema.
func TestStatementsPrepare(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, testkit.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if len(postgres.Statements()) < 20 {
		t.Fatalf("only %d statements are registered", len(postgres.Statements()))
	}
	for name, sql := range postgres.Statements() {
		args := pgx.NamedArgs{}
		for _, match := range argument.FindAllStringSubmatch(sql, -1) {
			args[match[1]] = nil
		}
		numbered, _, err := args.RewriteQuery(ctx, conn, sql, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := conn.Prepare(ctx, name, numbered); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

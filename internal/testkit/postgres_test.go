package testkit_test

import (
	"context"
	"testing"

	"github.com/harvest-engine/harvest/internal/testkit"
)

func TestPostgresIsTheTestsOwn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	one, two := testkit.Postgres(t), testkit.Postgres(t)
	if _, err := one.Exec(ctx, "create table only_here (id int)"); err != nil {
		t.Fatal(err)
	}
	var seen bool
	if err := two.QueryRow(ctx, "select to_regclass('only_here') is not null").Scan(&seen); err != nil {
		t.Fatal(err)
	}
	if seen {
		t.Error("a table of one test is visible to another")
	}
}

func TestPostgresKnowsLettersAndTrigrams(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool := testkit.Postgres(t)
	if _, err := pool.Exec(ctx, "create extension if not exists pg_trgm"); err != nil {
		t.Fatal(err)
	}
	var folds bool
	var similarity float64
	err := pool.QueryRow(ctx, "select 'ÄRGER' ilike 'ärger', similarity('größer', 'grösser')").Scan(&folds, &similarity)
	if err != nil {
		t.Fatal(err)
	}
	if !folds || similarity < 0.3 {
		t.Errorf("letters beyond ASCII: fold %v, similarity %.2f", folds, similarity)
	}
}

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestPercentiles(t *testing.T) {
	t.Parallel()
	var list times
	for n := 100; n > 0; n-- {
		list = append(list, time.Duration(n)*time.Millisecond)
	}
	if p50, p95 := list.at(50), list.at(95); p50 != 51 || p95 != 96 {
		t.Errorf("p50 %v, p95 %v", p50, p95)
	}
	if none := (times{}).at(50); none != 0 {
		t.Errorf("no samples give %v", none)
	}
}

func TestRowsHoldWithinTheirLimits(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		row  Row
		want bool
	}{
		"ratio within":   {Row{Ours: 12, Bare: 10, Ratio: 1.2, Limit: 1.3}, true},
		"ratio over":     {Row{Ours: 14, Bare: 10, Ratio: 1.4, Limit: 1.3}, false},
		"figure within":  {Row{Ours: 4, OursP95: 20, Limit: 5, LimitP95: 25}, true},
		"tail over":      {Row{Ours: 4, OursP95: 30, Limit: 5, LimitP95: 25}, false},
		"too slow":       {Row{Ours: 14, AtLeast: 15}, false},
		"ratio reached":  {Row{Ours: 7, Bare: 10, Ratio: 0.7, LeastRatio: 0.6}, true},
		"ratio missed":   {Row{Ours: 5, Bare: 10, Ratio: 0.5, LeastRatio: 0.6}, false},
		"without limits": {Row{Ours: 1e9}, true},
	}
	var report Report
	for name, c := range cases {
		if got := c.row.holds(); got != c.want {
			t.Errorf("%s: holds = %v", name, got)
		}
		report.Rows = append(report.Rows, c.row)
	}
	var out strings.Builder
	report.print(&out)
	if over := strings.Count(out.String(), "over"); over != 4 {
		t.Errorf("the table marks %d rows, want 4:\n%s", over, &out)
	}
}

func TestPlaceCountsRounds(t *testing.T) {
	t.Parallel()
	messages := []domain.Message{
		domain.TextMessage(domain.RoleUser, query("k1", 6)),
		domain.TextMessage(domain.RoleAssistant, "Looking further."),
		{Role: domain.RoleUser, Blocks: []domain.Block{{Type: domain.BlockToolResult, Text: "found"}}},
	}
	key, rounds, round, err := place(messages)
	if key != "k1" || rounds != 6 || round != 1 || err != nil {
		t.Errorf("got %q, %d, %d, %v", key, rounds, round, err)
	}
	if _, _, _, err := place([]domain.Message{domain.TextMessage(domain.RoleUser, "hello")}); err == nil {
		t.Error("a stranger's query must be refused")
	}
}

func TestCounterTellsCommitsFromReads(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	c, conn := newCounter(), &pgx.Conn{}
	say := func(sql string, args ...any) {
		c.TraceQueryStart(ctx, conn, pgx.TraceQueryStartData{SQL: sql, Args: args})
	}
	say("insert into t values ($1)", "not counted: it is off")
	c.on.Store(true)
	say("select 1")
	say("insert into t values (@a)", pgx.NamedArgs{"a": "12345"})
	say("begin")
	say("update t set a = $1", "123")
	say("insert into t values ($1)", []string{"1", "2"})
	say("commit")
	say("begin")
	say("delete from t")
	say("rollback")
	c.TraceBatchQuery(ctx, conn, pgx.TraceBatchQueryData{SQL: "select 1"})
	c.TraceBatchQuery(ctx, conn, pgx.TraceBatchQueryData{SQL: "insert into t values ($1)", Args: []any{"1"}})
	c.TraceBatchEnd(ctx, conn, pgx.TraceBatchEndData{})
	say("select pg_notify('c', body) from unnest($1::text[]) body")
	if got, want := c.of(""), (cost{0, 3, 5 + 3 + 2 + 1}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

package postgres_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// Who removes a row asks of each key that refers to it whether a row does: without an index the
// whole table is read for each. These tables have few rows, or are removed from by hand alone.
var fewReferences = []string{
	"agent_sessions.agent_id", "devices.user_id", "graph_loads.repo_id", "projects.created_by", "secret_offers.project_id", "versions.repo_id",
}

func TestForeignKeysHaveIndexes(t *testing.T) {
	t.Parallel()
	rows, err := testkit.Postgres(t).Query(context.Background(), `
select c.conrelid::regclass || '.' || a.attname
from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
where c.contype = 'f' and not exists (
    select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1]
        and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = '(' || a.attname || ' IS NOT NULL)'))
order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range bare {
		if !slices.Contains(fewReferences, column) {
			t.Errorf("%s refers to another table and has no index", column)
		}
	}
}

// grown are the tables that grow with each command or machine.
var grown = []string{"commands", "command_outputs", "agents", "subjects", "streams", "endings", "provisions"}

// wholeReads are the statements that may read one of them whole: what is done once in the life of
// a project or a key, what housekeeping does each hour, and what has many rows to answer with.
var wholeReads = map[string]string{
	"find the oldest open log":                               "once in each housekeeping",
	"drop old commands":                                      "only where its limit is not known",
	"remove a project's logs":                                "once in the life of a project",
	"remove the logs of a project's commands":                "once in the life of a project",
	"remove the streams of a project's commands":             "once in the life of a project",
	"remove the events of a project's provisions":            "once in the life of a project",
	"remove the logs of a project's provisions":              "once in the life of a project",
	"remove the feeds of a project's provisions":             "once in the life of a project",
	"keep the connections of a process":                      "a process has its share of all agents",
	"list a project's provisions":                            "a project has its share of all provisions",
	"list agents of all projects":                            "answers with all that a person may see",
	"count sealed values by key":                             "asked by an admin",
	"list those of an old key: install token of a container": "asked by an admin",
}

// Statements that are asked again and again read no table whole that grows.
func TestPlansAtScale(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, testkit.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, filled); err != nil {
		t.Fatal(err)
	}
	for name, sql := range postgres.Statements() {
		for _, table := range plan(t, conn, sql).reads() {
			if slices.Contains(grown, table) && wholeReads[name] == "" {
				t.Errorf("%q reads all of %s", name, table)
			}
		}
	}
}

// filled are 50,000 commands on 1,000 machines, of which one in fifty is open.
const filled = `
set plan_cache_mode = force_generic_plan;
insert into users (id, email, name, provider) values ('u', 'u@example.com', 'U', 'local');
insert into projects (id, name, group_id, created_by) select 'p' || n, 'p' || n, 'everyone', 'u' from generate_series(1, 100) n;
insert into agents (id, project_id, hostname, token_hash, machine, instance)
select 'a' || n, 'p' || 1 + n % 100, 'h', int4send(n), 'm' || n, case when n % 10 = 0 then 'i' || n else '' end from generate_series(1, 1000) n;
insert into streams select 'command/' || n, 2 from generate_series(1, 50000) n;
insert into subjects (id, stream_id, last_seq, ended_at) select n, 'command/' || n, 2, case when n % 50 > 0 then now() end from generate_series(1, 50000) n;
insert into commands (id, project_id, agent_id, hostname, command, time_limit, user_id, turn_id, status, created_at, wait, deliver_by, launched_at, told_at, ended_at)
select n, 'p' || 1 + n % 100, 'a' || 1 + n % 1000, 'h', 'uptime', '30s', 'u', 't' || n, case when n % 50 > 0 then 'done' else 'queued' end,
    now() - n * interval '1 s', '10 min', now(), now(), case when n % 50 > 0 then now() end, case when n % 50 > 0 then now() - n * interval '1 s' end
from generate_series(1, 50000) n;
insert into command_outputs (command_id) select id from commands where ended_at is not null;
insert into endings (subject_id, subject_seq, type, payload) select id, 2, 'command_done', '{}' from subjects where ended_at is not null;
insert into events (subject_id, subject_seq, stream_id, seq, type, payload) select id, 1, stream_id, 1, 'command_output', '{}' from subjects;
insert into provisions (id, project_id, user_id, name, flavor, instance, hash, status, ended_at)
select 'v' || n, 'p' || 1 + n % 100, 'u', 'n', 'tiny', 'i' || n, '', 'done', now() from generate_series(1, 5000) n;
analyze`

// planned is a node of a plan.
type planned struct {
	Kind  string    `json:"Node Type"`
	Table string    `json:"Relation Name"`
	Parts []planned `json:"Plans"`
}

// reads gives the tables that are read whole.
func (p planned) reads() (tables []string) {
	if p.Kind == "Seq Scan" {
		tables = append(tables, p.Table)
	}
	for _, part := range p.Parts {
		tables = append(tables, part.reads()...)
	}
	return tables
}

// plan gives how a statement is done whatever its arguments are.
func plan(t *testing.T, conn *pgx.Conn, sql string) planned {
	t.Helper()
	ctx := context.Background()
	named := pgx.NamedArgs{}
	for _, match := range argument.FindAllStringSubmatch(sql, -1) {
		named[match[1]] = nil
	}
	numbered, args, err := named.RewriteQuery(ctx, conn, sql, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := "explain (format json) execute asked"
	if len(args) > 0 {
		call += "(null" + strings.Repeat(", null", len(args)-1) + ")"
	}
	if _, err := conn.Exec(ctx, "prepare asked as "+numbered); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var text []byte
	if err := conn.QueryRow(ctx, call, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if _, err := conn.Exec(ctx, "deallocate asked"); err != nil {
		t.Fatal(err)
	}
	var tops []struct{ Plan planned }
	if err := json.Unmarshal(text, &tops); err != nil {
		t.Fatal(err)
	}
	return tops[0].Plan
}

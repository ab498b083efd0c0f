package postgres_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/internal/domain"
)

// outlives are the tables in which a project's traces stay when it is removed, and why.
var outlives = map[string]string{"audit": "it tells of what is gone"}

// references finds the tables that may hold something of a project: those that refer to it by
// their keys, over however many others, and those that name it, or what it owns, in a column.
const references = `
with recursive owned as (
    select 'projects'::regclass::oid as id
    union
    select f.conrelid from pg_constraint f join owned on f.confrelid = owned.id where f.contype = 'f'
)
select c.relname, c.oid in (select id from owned) or exists (
    select from pg_attribute a where a.attrelid = c.oid and a.attname in
        ('project_id', 'conversation_id', 'conv_id', 'turn_id', 'message_id', 'subject_id', 'stream_id', 'owner', 'artifact_id', 'skill_id', 'action_id', 'last_project_id'))
from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`

// tables gives all tables, and whether they may hold something of a project.
func (h house) tables() map[string]bool {
	h.Helper()
	rows, err := h.pool.Query(context.Background(), references)
	if err != nil {
		h.Fatal(err)
	}
	tables := map[string]bool{}
	var name string
	var holds bool
	if _, err = pgx.ForEachRow(rows, []any{&name, &holds}, func() error { tables[name] = holds; return nil }); err != nil || len(tables) < 20 {
		h.Fatalf("tables %v, %v", tables, err)
	}
	return tables
}

// mentions counts the rows of a table in which one of the texts stands.
func (h house) mentions(table string, texts []string) (n int) {
	h.Helper()
	patterns := make([]string, len(texts))
	for i, text := range texts {
		patterns[i] = "%" + text + "%"
	}
	err := h.pool.QueryRow(context.Background(), "select count(*) from "+pgx.Identifier{table}.Sanitize()+" x where x::text like any ($1)", patterns).Scan(&n)
	if err != nil {
		h.Fatalf("look into %s: %v", table, err)
	}
	return n
}

// furnish gives a project something of everything that a project can own, and names it all.
func (h house) furnish(ada domain.User, project domain.Project, conversation string) []string {
	h.Helper()
	ctx := context.Background()
	req := ask(ada, project, conversation)
	req.IdempotencyKey = "key-of-" + project.ID
	req.Attachments = []domain.Attachment{{Name: "a.txt", MimeType: "text/plain", Data: []byte("attached")}}
	turn := answer(h.T, h.store, req, "One.")
	homeless := create(h.T, h.store, ask(ada, project, "short-lived-"+project.ID))
	if err := h.store.DeleteConversation(ctx, "short-lived-"+project.ID); err != nil {
		h.Fatal(err)
	}
	finish(h.T, h.store, domain.TurnEnd{TurnID: homeless.ID, Status: domain.TurnDone, Reason: domain.EndAnswered, Answer: "Here."})
	id := project.ID
	for _, sql := range []string{
		`insert into event_chunks (subject_id, subject_seq, start_byte, body) values ('` + turn.ID + `', 99, 0, 'open')`,
		`insert into document_texts (owner, sha256, pages, cut, body) select owner, sha256, 1, false, '' from large_values where owner = 'project/` + id + `'`,
		`insert into presence (id, project_id, user_id, name, conv_id) values ('p-` + id + `', '` + id + `', 'ada', 'Ada', '')`,
		`insert into project_settings (project_id) values ('` + id + `')`,
		`insert into actions (id, turn_id, call_id, project_id, requester, tool, input, hash, description, nonce, expires_at)
			values ('a-` + id + `', '` + turn.ID + `', 't1', '` + id + `', 'ada', 'drop', '{}', '', '', '', now())`,
		`insert into performed (user_id, project_id, hash) values ('ada', '` + id + `', '')`,
		`insert into skills (id, project_id, name, description, created_by) values ('s-` + id + `', '` + id + `', 'deploy', '', 'ada')`,
		`insert into skill_versions (skill_id, version, name, content, author) values ('s-` + id + `', 1, 'deploy', '', 'ada')`,
		`insert into artifacts (id, project_id, title, kind, created_by) values ('f-` + id + `', '` + id + `', 'Plan', 'pdf', 'ada')`,
		`insert into artifact_versions (artifact_id, version, title, content, author) values ('f-` + id + `', 1, 'Plan', '', 'ada')`,
		`insert into artifact_renders (artifact_id, version) values ('f-` + id + `', 1)`,
		`insert into memories (id, project_id, title, content, created_by) values ('m-` + id + `', '` + id + `', 'Note', '', 'ada')`,
		`insert into secrets (project_id, name, version) values ('` + id + `', 'KEPT', 1), ('` + id + `', 'OTHER', 2)`,
		`insert into secrets (project_id, name, version, deleted_at) values ('` + id + `', 'DELETED', 1, now())`,
		`insert into secret_versions (project_id, name, version, key, sealed, author) values ('` + id + `', 'KEPT', 1, 'k', '', 'ada')`,
		`insert into secret_offers (turn_id, call_id, project_id, key, sealed) values ('` + turn.ID + `', 't1', '` + id + `', 'k', '')`,
		`insert into secret_generations (project_id, generation) values ('` + id + `', 3)`,
		`insert into audit (id, at, user_id, user_name, key_id, method, route, path, project_id, outcome, status, address, request_id)
			values ('l-` + id + `', now(), '', '', '', '', '', '', '` + id + `', 'done', 200, '', '')`,
		`insert into install_tokens (id, project_id, hash, created_by, expires_at) values ('i-` + id + `', '` + id + `', 'i-` + id + `', 'ada', now())`,
		`insert into agents (id, project_id, hostname, token_hash) values ('agent-` + id + `', '` + id + `', 'web', 'agent-` + id + `')`,
		`insert into agent_connections (agent_id, id, process_id) values ('agent-` + id + `', 'k', 'p')`,
		`insert into agent_sessions (id, agent_id, project_id, kind, process_id, user_id) values ('x-` + id + `', 'agent-` + id + `', '` + id + `', 'console', 'p', 'ada')`,
		`insert into sessions (id, user_id, hash, expires_at) values ('browser-` + ada.ID + `', '` + ada.ID + `', 'browser-` + ada.ID + `', now()) on conflict do nothing`,
		`insert into port_forwards (id, agent_id, port, route_name, created_by) values ('w-` + id + `', 'agent-` + id + `', 80, 'web', 'ada')`,
		`insert into forward_visits (hash, ticket, forward_id, session_id, user_id, expires_at) values ('v-` + id + `', true, 'w-` + id + `', 'browser-` + ada.ID + `', '` + ada.ID + `', now())`,
		`update users set last_project_id = '` + id + `' where id = '` + ada.ID + `'`,
	} {
		h.exec(sql)
	}
	h.command("agent-"+id, id, "command-"+id)
	h.provision(id, "provision-"+id, "")
	h.exec(`insert into command_outputs (command_id) values ('command-` + id + `')`)
	return []string{id, turn.ID, homeless.ID, conversation}
}

// Nothing of a project is left anywhere when it is removed, and other projects keep all that is
// theirs. A new table that may hold something of a project has to be furnished here.
func TestNothingOfAProjectIsLeft(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHouse(t)
	ada, project, c := shared(t, h.store)
	grace, other, d := shared(t, h.store)
	names, theirs := h.furnish(ada, project, c.ID), h.furnish(grace, other, d.ID)
	before := map[string]int{}
	tables := h.tables()
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		before[table] = h.mentions(table, theirs)
		if n := h.mentions(table, names); tables[table] && n == 0 {
			t.Errorf("the test puts nothing of a project into %s", table)
		}
	}
	removed, err := h.store.DeleteProject(ctx, project.ID)
	want := domain.Removed{Conversations: 1, Messages: 2, Turns: 2, Actions: 1, Artifacts: 1, Skills: 1, Memories: 1, Secrets: 2, Agents: 1, Commands: 1}
	if err != nil || removed != want {
		t.Errorf("removed %+v, %v; want %+v", removed, err, want)
	}
	for table := range tables {
		if n := h.mentions(table, names); n != 0 && outlives[table] == "" {
			t.Errorf("%d rows in %s still tell of the project", n, table)
		}
		if n := h.mentions(table, theirs); n != before[table] {
			t.Errorf("of another project's %d rows in %s %d are left", before[table], table, n)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// recordDatabase names the release that a database is kept of.
var recordDatabase = flag.String("record-database", "", "keep the database of this release, such as v0.1.0, for the upgrade test (needs pg_dump)")

// A kept database is a folder of testdata/databases: the dump, the keys that open its
// sealed values, what the release's API said of it, and the sums of the migrations that made it,
// which may not change any more.
const (
	dumpFile = "dump.sql"
	saidFile = "said.json"
	sumFile  = "migrations.sum"
)

// said is what the API tells of a database.
type said struct {
	Turns        []saidTurn      `json:"turns"`
	Repositories json.RawMessage `json:"repositories"`
	Team         *saidTeam       `json:"team,omitempty"` // nil of a release without people
}

type saidTurn struct {
	Turn   domain.Turn `json:"turn"`
	Events []saidEvent `json:"events"`
}

type saidEvent struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// upgradable keeps events for ever: kept databases grow old.
const upgradable = "[data]\nevents_retention = \"0s\"\n" + scriptedModel + "\n[agents]\npublic_url = \"https://harvest.example.com\"\n"

const upgradeScript = `{
	"scenes": [` + teamScene + `, {"question": "What fails?", "rounds": [{"faults": [{"code": "upstream", "message": "no such key", "times": -1}]}]}],
	"rounds": [
		{"thinking": "Let me see.", "text": "I look.", "usage": {"input": 120, "output": 7}, "calls": [
			{"name": "search_symbols", "input": {"query": "Greet"}},
			{"name": "find_callers", "input": {"name": "Greet"}}]},
		{"text": "Greet greets [sample:main:greet.go:4], not [sample:main:greet.go:400].", "usage": {"input": 300, "output": 20}}
	]
}`

// notes are an attachment that is too long to stand in its message.
var notes = strings.Repeat("Take care of what was kept. ", 4_000)

// Databases of every release are brought to the newest schema, and tell the same as before.
func TestDatabasesOfReleasesAreUpgraded(t *testing.T) {
	t.Parallel()
	if *recordDatabase != "" {
		keepDatabase(t, filepath.Join("testdata", "databases", *recordDatabase))
	}
	kept, err := filepath.Glob("testdata/databases/*")
	if err != nil || len(kept) == 0 {
		t.Fatalf("no database is kept: %v", err)
	}
	for _, dir := range kept {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			var before said
			text, err := os.ReadFile(filepath.Join(dir, saidFile))
			if err == nil {
				err = json.Unmarshal(text, &before)
			}
			if err != nil {
				t.Fatal(err)
			}
			r := restored(t, dir)
			for _, turn := range before.Turns {
				if after := r.saysOf(t, turn.Turn.ID); !reflect.DeepEqual(asJSON(t, after), asJSON(t, turn)) {
					t.Errorf("turn %s\nwas %s\n is %s", turn.Turn.ID, asText(t, turn), asText(t, after))
				}
			}
			if after := r.repositories(t); !reflect.DeepEqual(asJSON(t, after), asJSON(t, before.Repositories)) {
				t.Errorf("the repositories\nwere %s\n are %s", before.Repositories, after)
			}
			if before.Team == nil {
				r.belongsToTheOwner(t, before.Turns)
			} else {
				r.isStill(t, before.Team)
			}
			r.opens(t, before.Turns[len(before.Turns)-1].Turn)
			r.goesOn(t, before.Turns[0].Turn)
		})
	}
}

// belongsToTheOwner shows that all there was is the owner's own, and nobody else's.
func (r *rig) belongsToTheOwner(t *testing.T, turns []saidTurn) {
	t.Helper()
	ask := func(key, path string) (int, string) {
		return newVisitor(t, r.base).call(http.MethodGet, r.base+path, "", "Authorization: Bearer "+key)
	}
	if status, text := ask(r.token, "/auth/me"); status != http.StatusOK || !strings.Contains(text, `"id":"owner"`) || !strings.Contains(text, `"role":"admin"`) {
		t.Errorf("the owner: %d %s", status, text)
	}
	ada, err := r.store.CreateUser(t.Context(), domain.NewUser{Email: "ada@example.com", Name: "ada", Provider: "local"})
	if err != nil || ada.Role != domain.UserAdmin || !reflect.DeepEqual(ada.GroupIDs, []string{"everyone"}) {
		t.Fatalf("the first to sign up: %+v, %v", ada, err)
	}
	_, key, err := r.store.CreateKey(t.Context(), domain.NewAPIKey{UserID: ada.ID, Name: "k", Scopes: domain.KeyScopes()})
	if err != nil {
		t.Fatal(err)
	}
	_, list := ask(r.token, "/conversations")
	if _, hers := ask(key, "/conversations"); strings.TrimSpace(hers) != "[]" {
		t.Errorf("somebody new has conversations: %s", hers)
	}
	for _, turn := range turns {
		if status, _ := ask(key, "/turns/"+turn.Turn.ID); status != http.StatusNotFound {
			t.Errorf("somebody new sees the turn %s: %d", turn.Turn.ID, status)
		}
		id := turn.Turn.ConversationID
		if id == "" {
			continue
		}
		if status, _ := ask(key, "/conversations/"+id); status != http.StatusNotFound {
			t.Errorf("somebody new sees the conversation %s: %d", id, status)
		}
		_, text := ask(r.token, "/conversations/"+id)
		if !strings.Contains(list, `"id":"`+id+`"`) || !strings.Contains(text, turn.Turn.Query) || !strings.Contains(text, turn.Turn.Answer) {
			t.Errorf("the conversation %s is not whole: %s in %s", id, text, list)
		}
	}
	var elsewhere int
	if err := r.pool.QueryRow(t.Context(), "select count(*) from turns where user_id <> 'owner' or project_id is not null").Scan(&elsewhere); err != nil || elsewhere != 0 {
		t.Errorf("%d turns are not the owner's, %v", elsewhere, err)
	}
}

// opens shows that what is kept sealed is read as before: an attachment and credentials.
func (r *rig) opens(t *testing.T, attached domain.Turn) {
	t.Helper()
	dialogue, err := r.store.Dialogue(t.Context(), attached.ID)
	if err != nil {
		t.Fatal(err)
	}
	if message := asText(t, dialogue.Message); !strings.Contains(message, base64.StdEncoding.EncodeToString([]byte(notes))) && !strings.Contains(message, notes[:40]) {
		t.Errorf("the attachment is lost: %.300s", message)
	}
	if c, err := r.store.Credentials(t.Context(), "sample"); err != nil || c.Token != "a kept token" {
		t.Errorf("the credentials are lost: %v, %v", c, err)
	}
}

// goesOn shows that an upgraded database is as good as a new one.
func (r *rig) goesOn(t *testing.T, old domain.Turn) {
	t.Helper()
	sites, _, err := r.graph.Callers(t.Context(), graph.SymbolRef{Repo: "sample", Version: "main", Name: "Greet"}, 1, 10)
	if err != nil || len(sites) == 0 || sites[0].Name != "Twice" {
		t.Errorf("Greet is called by %+v, %v", sites, err)
	}
	if _, turn := r.ask(t, client.Query{Query: "And now?", ConversationID: old.ConversationID}); turn.Status != domain.TurnDone || turn.ConversationID != old.ConversationID {
		t.Errorf("a further turn: %+v", turn)
	}
	h := home{dir: t.TempDir()}
	if run := r.read(t, client.Source{URL: h.sample(t), Name: "another"}); run.Status != domain.IngestDone {
		t.Errorf("a further repository: %+v", run)
	}
}

// keepDatabase makes a database in which everything has happened once, and keeps it.
func keepDatabase(t *testing.T, dir string) {
	r := newRig(t, upgradeScript, upgradable)
	h := home{dir: t.TempDir()}
	if run := r.read(t, client.Source{URL: h.sample(t), Name: "sample"}); run.Status != domain.IngestDone {
		t.Fatalf("read: %+v", run)
	}
	var all said
	var turns []string
	for _, query := range []string{"Where is Greet?", "And who calls it?", "What fails?"} {
		_, turn := r.ask(t, client.Query{Query: query, ConversationID: "thread"})
		turns = append(turns, turn.ID)
	}
	status, id, text := r.post(t, domain.NewID(), fmt.Sprintf(
		`{"query": "What do the notes say?", "attachments": [{"name": "notes.txt", "mime_type": "text/plain", "data": %q}]}`,
		base64.StdEncoding.EncodeToString([]byte(notes))))
	if status != http.StatusOK {
		t.Fatalf("with an attachment: %d %s", status, text)
	}
	r.calmDown(t)
	for _, id := range append(turns, id) {
		all.Turns = append(all.Turns, r.saysOf(t, id))
	}
	if err := r.store.SaveCredentials(t.Context(), "sample", domain.Credentials{Token: "a kept token"}); err != nil {
		t.Fatal(err)
	}
	all.Repositories = r.repositories(t)
	all.Team = r.becomeTeam(t)

	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	dump := exec.CommandContext(t.Context(), "pg_dump", "--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=50", r.on.DSN)
	sql, err := dump.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	keys, err := os.ReadFile(filepath.Join(r.cfg.Data.Dir, keyFile))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{dumpFile: plainSQL(sql), keyFile: keys, saidFile: append([]byte(asText(t, all)), '\n'), sumFile: migrationSums(t)} {
		content = bytes.ReplaceAll(content, []byte(h.dir), []byte("/srv/code")) // of no machine
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// migrationSums has a line for each migration, as sha256sum writes them.
func migrationSums(t *testing.T) []byte {
	t.Helper()
	files, err := filepath.Glob("../../internal/postgres/migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no migration is here: %v", err)
	}
	var sums bytes.Buffer
	for _, file := range files {
		sql, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(sql), filepath.Base(file))
	}
	return sums.Bytes()
}

// plainSQL drops what only psql understands.
func plainSQL(dump []byte) []byte {
	return regexp.MustCompile(`(?m)^\\.*\n`).ReplaceAll(dump, nil)
}

// restored runs an assembly on a kept database.
func restored(t *testing.T, dir string) *rig {
	t.Helper()
	on := testkit.Stack(t)
	sql, err := os.ReadFile(filepath.Join(dir, dumpFile))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, on.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	empty := "drop schema public cascade; create schema public;"
	if _, err := conn.PgConn().Exec(ctx, empty+string(sql)).ReadAll(); err != nil {
		t.Fatalf("restore %s: %v", dir, err)
	}
	cfg := rigConfig(t, upgradeScript, upgradable)
	keys, err := os.ReadFile(filepath.Join(dir, keyFile))
	if err == nil {
		err = os.WriteFile(filepath.Join(cfg.Data.Dir, keyFile), keys, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return runRig(t, cfg, on)
}

// saysOf gives what the API tells of a turn.
func (r *rig) saysOf(t *testing.T, turnID string) saidTurn {
	t.Helper()
	turn, err := r.api.Turn(t.Context(), turnID)
	if err != nil {
		t.Fatal(err)
	}
	told := saidTurn{Turn: turn}
	for event, err := range r.api.FollowTurn(t.Context(), turnID) {
		if err != nil {
			t.Fatal(err)
		}
		told.Events = append(told.Events, saidEvent{ID: event.ID, Type: string(event.Type), Data: json.RawMessage(event.Data)})
	}
	return told
}

// repositories gives what the API tells of the repositories.
func (r *rig) repositories(t *testing.T) json.RawMessage {
	t.Helper()
	status, text := newVisitor(t, r.base).call(http.MethodGet, r.base+"/repositories", "", "Authorization: Bearer "+r.token)
	if status != http.StatusOK {
		t.Fatalf("repositories: %d %s", status, text)
	}
	return json.RawMessage(text)
}

// asJSON gives a value as a client reads it.
func asJSON(t *testing.T, value any) any {
	t.Helper()
	var read any
	if err := json.Unmarshal([]byte(asText(t, value)), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func asText(t *testing.T, value any) string {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

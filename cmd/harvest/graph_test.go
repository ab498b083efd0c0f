package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.temporal.io/api/enums/v1"

	"github.com/harvest-engine/harvest/cmd/harvest/client"
	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/graph"
	"github.com/harvest-engine/harvest/internal/testkit"
	"github.com/harvest-engine/harvest/workflows"
)

// cypherRounds look the sample's functions up by hand.
const cypherRounds = `{"rounds": [
	{"text": "I ask the graph.", "calls": [
		{"name": "run_cypher", "input": {"query": "MATCH (f:Function {repo: $repo}) RETURN f.name AS name ORDER BY name", "params": {"repo": "REPO"}}},
		{"name": "find_callers", "input": {"repo": "REPO", "version": "main", "name": "Greet"}}]},
	{"text": "Twice calls Greet [REPO:main:greet.go:6]."}
]}`

func neo4jTOML(server testkit.Neo4jServer) string {
	return fmt.Sprintf("[neo4j]\nuri = %q\nuser = %q\npassword = %q\n", server.URI, server.User, server.Password)
}

// A [neo4j] section keeps the graph there: run_cypher is offered, tools run as activities of
// their own, and /ready asks the server.
func TestNeo4jIsSelectedByItsSection(t *testing.T) {
	t.Parallel()
	server := testkit.Neo4j(t)
	h := home{dir: t.TempDir()}
	h.sample(t)
	repo := "sample-" + domain.NewID()
	r := newRig(t, strings.ReplaceAll(cypherRounds, "REPO", repo), neo4jTOML(server)+scriptedModel)
	if run := r.read(t, client.Source{URL: filepath.Join(h.dir, "sample"), Name: repo}); run.Status != domain.IngestDone {
		t.Fatalf("read: %+v", run)
	}
	events, turn := r.ask(t, client.Query{Query: "Who calls Greet?"})
	if turn.Status != domain.TurnDone || len(turn.Sources) != 1 || !turn.Sources[0].Verified || turn.Sources[0].Symbol != "Twice" {
		t.Errorf("the turn ended %s with %+v: %s", turn.Status, turn.Sources, turn.Error)
	}
	previews := ""
	for _, e := range events {
		if e.Type == domain.EventToolResult {
			previews += string(e.Data) + "\n"
		}
	}
	if strings.Contains(previews, `"error":true`) {
		t.Errorf("tools gave\n%s", previews)
	}
	if got := scheduled(t, r, turn.ID, workflows.RunTool.Name); got != 2 {
		t.Errorf("%d tools ran as activities of their own, want 2", got)
	}
	var ready struct {
		Checks []struct {
			Name string
			OK   bool
		}
	}
	status, text := newVisitor(t, r.base).call(http.MethodGet, r.base+"/ready", "", "Authorization: Bearer "+r.token)
	if err := json.Unmarshal([]byte(text), &ready); err != nil || status != http.StatusOK {
		t.Errorf("ready: %d %s, %v", status, text, err)
	}
	checked := make(map[string]bool)
	for _, c := range ready.Checks {
		checked[c.Name] = c.OK
	}
	for _, name := range []string{"postgres", "graph", "temporal"} {
		if !checked[name] {
			t.Errorf("%s is not ready: %s", name, text)
		}
	}
}

// After the backend was changed, reading a repository again puts its graph into the new one.
func TestAnotherBackendIsFilledByReadingAgain(t *testing.T) {
	t.Parallel()
	server := testkit.Neo4j(t)
	h := home{dir: t.TempDir()}
	h.sample(t)
	repo := "moved-" + domain.NewID()
	source := client.Source{URL: filepath.Join(h.dir, "sample"), Name: repo}
	on := testkit.Stack(t)
	for backend, toml := range []string{"", neo4jTOML(server), ""} {
		t.Run([]string{"postgres", "neo4j", "postgres again"}[backend], func(t *testing.T) {
			r := runRig(t, rigConfig(t, oneRound, toml+scriptedModel), on)
			if backend > 0 {
				_, _, err := r.graph.Callers(t.Context(), graph.SymbolRef{Repo: repo, Version: "main", Name: "Greet"}, 1, 10)
				if domain.CodeOf(err) != domain.CodeNotFound || !strings.Contains(domain.PublicMessage(err), "ingest it again") {
					t.Errorf("before it is read again: %v", err)
				}
				cfg := *r.cfg
				cfg.Database.URL = config.NewSecret(on.DSN)
				found := examineVersions(t.Context(), &cfg)
				if !slices.ContainsFunc(found, func(f finding) bool { return strings.HasPrefix(f.detail, repo+": 1 of 1 versions") }) {
					t.Errorf("the doctor finds %+v", found)
				}
			}
			if run := r.read(t, source); run.Status != domain.IngestDone {
				t.Fatalf("read: %+v", run)
			}
			sites, _, err := r.graph.Callers(t.Context(), graph.SymbolRef{Repo: repo, Version: "main", Name: "Greet"}, 1, 10)
			if err != nil || len(sites) != 1 || sites[0].Name != "Twice" {
				t.Errorf("Greet is called by %+v, %v", sites, err)
			}
		})
	}
}

// scheduled counts the activities of a name in a turn's history.
func scheduled(t *testing.T, r *rig, turnID, activity string) int {
	t.Helper()
	count := 0
	history := r.temporal.GetWorkflowHistory(t.Context(), workflows.TurnWorkflowID(turnID), "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			t.Fatal(err)
		}
		if event.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == activity {
			count++
		}
	}
	return count
}

func TestBackendWinsOverTheSection(t *testing.T) {
	t.Parallel()
	cfg := rigConfig(t, oneRound, "[graph]\nbackend = \"postgres\"\n[neo4j]\nuri = \"bolt://127.0.0.1:1\"\npassword = \"x\"\n"+scriptedModel)
	r := runRig(t, cfg, testkit.Stack(t))
	if _, offered := r.tools.Lookup("run_cypher"); offered {
		t.Error("run_cypher is offered on PostgreSQL")
	}
	if spec, _ := r.tools.Lookup("find_callers"); !spec.Local {
		t.Error("tools on PostgreSQL are not local")
	}
}

// A graph that can't be reached is named at the start and by the doctor.
func TestNeo4jThatIsAway(t *testing.T) {
	t.Parallel()
	toml := "[neo4j]\nuri = \"bolt://127.0.0.1:1\"\npassword = \"s3cret\"\n"
	cfg := rigConfig(t, oneRound, toml+scriptedModel)
	on := testkit.Stack(t)
	_, err := assemble(context.Background(), cfg, zerolog.Nop(), servers{dsn: on.DSN, temporal: on.TemporalAddress, inTheOpen: true, combined: true})
	if domain.CodeOf(err) != domain.CodeUnavailable || !strings.Contains(domain.PublicMessage(err), "Neo4j") {
		t.Errorf("the start ends with %v", err)
	}
	h := home{dir: t.TempDir()}
	h.write(t, defaultConfig, toml)
	out, errs, code := h.run(t, "doctor")
	wantCode(t, exitFailed, code, errs)
	wantParts(t, out, "! graph", "Neo4j", "[neo4j] uri", `backend to "postgres"`)
	if strings.Contains(out+errs, "s3cret") {
		t.Error("the doctor shows the password")
	}
}

func TestNeo4jRefusesThePassword(t *testing.T) {
	t.Parallel()
	server := testkit.Neo4j(t)
	server.Password = "another"
	h := home{dir: t.TempDir()}
	h.write(t, defaultConfig, neo4jTOML(server))
	out, errs, code := h.run(t, "doctor")
	wantCode(t, exitFailed, code, errs)
	wantParts(t, out, "! graph", "refuses the user or the password")
}

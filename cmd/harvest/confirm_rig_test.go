package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// twoDeletions is a model that asks for two things at once, one of them twice.
const twoDeletions = `{"scenes": [
	{"system": "Classify the last message", "rounds": [{"text": "action"}]}
], "rounds": [
	{"text": "I delete both.", "calls": [
		{"name": "delete_artifact", "input": {"id": "PLAN"}},
		{"name": "list_artifacts", "input": {}},
		{"name": "delete_artifact", "input": {"id": "GUIDE", "version": 1}}]},
	{"text": "So be it."}
]}`

// member is somebody who calls the API with a key.
type member struct {
	domain.User
	key string
	rig *rig
}

// do calls the API, and gives status and body.
func (m member) do(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, m.rig.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+m.key)
	apart := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := apart.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// wants calls the API and checks the answer.
func (m member) wants(t *testing.T, status int, says, method, path, body string) string {
	t.Helper()
	got, text := m.do(t, method, path, body)
	if got != status || !strings.Contains(text, says) {
		t.Errorf("%s: %s %s %.200s: %d %.400s, want %d %s", m.Name, method, path, body, got, text, status, says)
	}
	return text
}

// office is a project with two artifacts, that its model wants to delete.
type office struct {
	*rig
	project           domain.Project
	ada, grace, chief member // two members, and the owner
	eve               member // of another group
	plan, guide       string // ids of the artifacts
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{plan: "plan-" + domain.NewID(), guide: "guide-" + domain.NewID()}
	o.rig = newRig(t, strings.NewReplacer("PLAN", o.plan, "GUIDE", o.guide).Replace(twoDeletions), scriptedModel)
	group, err := o.store.CreateGroup(t.Context(), "office-"+domain.NewID(), "")
	if err != nil {
		t.Fatal(err)
	}
	o.ada, o.grace, o.eve = o.person(t, "Ada", group.ID), o.person(t, "Grace", group.ID), o.person(t, "Eve", "")
	o.chief = member{domain.User{ID: domain.OwnerID, Name: "owner"}, o.token, o.rig}
	if o.project, err = o.store.CreateProject(t.Context(), domain.Project{Name: "office", GroupID: group.ID, CreatedBy: o.ada.ID}); err != nil {
		t.Fatal(err)
	}
	for id, title := range map[string]string{o.plan: "Plan\u202e <b>", o.guide: "Guide"} {
		made, err := o.store.CreateArtifact(t.Context(), domain.Artifact{ProjectID: o.project.ID, Title: title, Kind: domain.ArtifactMarkdown, Content: "one"}, domain.Author{UserID: o.ada.ID})
		if err != nil {
			t.Fatal(err)
		}
		// The script names the artifacts before they are there.
		if _, err := o.pool.Exec(t.Context(), `
with moved as (insert into artifacts (id, project_id, title, kind, version, created_by) select $2, project_id, title, kind, version, created_by from artifacts where id = $1 returning id),
v as (insert into artifact_versions (artifact_id, version, title, content, author, turn_id) select $2, version, title, content, author, turn_id from artifact_versions where artifact_id = $1)
delete from artifacts where id = $1`, made.ID, id); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func (r *rig) person(t *testing.T, name, group string) member {
	t.Helper()
	name += " " + domain.NewID()
	u, err := r.store.CreateUser(t.Context(), domain.NewUser{Email: strings.ReplaceAll(name, " ", "-") + "@example.com", Name: name, Provider: "local"})
	if err != nil {
		t.Fatal(err)
	}
	var groups []string
	if group != "" {
		groups = []string{group}
	}
	if err := r.store.SetGroups(t.Context(), u.ID, groups); err != nil {
		t.Fatal(err)
	}
	_, key, err := r.store.CreateKey(t.Context(), domain.NewAPIKey{UserID: u.ID, Name: "test", Scopes: []domain.KeyScope{domain.ScopeRead, domain.ScopeWrite, domain.ScopeAsk, domain.ScopeApprove}})
	if err != nil {
		t.Fatal(err)
	}
	return member{u, key, r}
}

// settle says who decides.
func (o *office) settle(t *testing.T, rule domain.Approvers) {
	t.Helper()
	o.chief.wants(t, 200, "ok", "PUT", "/projects/"+o.project.ID+"/settings", fmt.Sprintf(`{"approvers":%q,"confirm_expiry_seconds":600,"asking_tools":[]}`, rule))
}

// asked is a turn that waits for two decisions.
type asked struct {
	TurnID  string            `json:"turn_id"`
	Status  domain.TurnStatus `json:"status"`
	Actions []domain.Action   `json:"actions"`
	talk    string            // path of the conversation
}

// asks has Ada's model ask.
func (o *office) asks(t *testing.T) (a asked) {
	t.Helper()
	id := domain.NewID()
	text := o.ada.wants(t, 202, `"status":"waiting"`, "POST", "/projects/"+o.project.ID+"/query", `{"query":"Delete both.","conversation_id":"`+id+`"}`)
	if err := json.Unmarshal([]byte(text), &a); err != nil || len(a.Actions) != 2 {
		t.Fatalf("the query answers %s (%v)", text, err)
	}
	a.talk = "/projects/" + o.project.ID + "/conversations/" + id
	return a
}

// yes is the right decision about an action.
func yes(a domain.Action) string { return decision(a, true, a.Nonce, a.Hash) }

func decision(a domain.Action, approved bool, nonce, hash string) string {
	return fmt.Sprintf(`{"id":%q,"approved":%v,"nonce":%q,"hash":%q}`, a.ID, approved, nonce, hash)
}

func decisions(list ...string) string { return `{"decisions":[` + strings.Join(list, ",") + `]}` }

// ends waits for the end of a turn and gives what its actions became.
func (o *office) ends(t *testing.T, a asked) (status []domain.ActionStatus, outcomes []string) {
	t.Helper()
	ctx := t.Context()
	for _, err := range o.store.Follow(ctx, a.TurnID, domain.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, action := range a.Actions {
		now, err := o.store.Action(ctx, action.ID)
		if err != nil {
			t.Fatal(err)
		}
		status, outcomes = append(status, now.Status), append(outcomes, now.Outcome)
	}
	return status, outcomes
}

// left lists the artifacts that are still there.
func (o *office) left(t *testing.T) (titles int) {
	t.Helper()
	list, err := o.store.Artifacts(t.Context(), o.project.ID)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

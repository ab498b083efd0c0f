package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// saidTeam is what people have made in a project, as the API tells the owner of it.
type saidTeam struct {
	ProjectID string                     `json:"project_id"`
	Answers   map[string]json.RawMessage `json:"answers"`           // by path
	Machine   *saidMachine               `json:"machine,omitempty"` // nil of a release without machines
}

// The value of a secret that is kept, and the question that makes another one.
const (
	keptSecret  = "a value that is kept"
	newToken    = "Make a new token"
	teamScene   = `{"question": "` + newToken + `", "rounds": [{"calls": [{"name": "save_secret", "input": {"name": "API_TOKEN", "generate": true}}]}, {"text": "There is a new token."}]}`
	teamSkill   = "# Deploy\n\nAsk first."
	teamVersion = "# Plan\n\nSecond thoughts."
)

// tell makes a call as the owner and gives the answer, which must have the status.
func (r *rig) tell(t *testing.T, want int, method, path string, body any) json.RawMessage {
	t.Helper()
	text := ""
	if body != nil {
		text = asText(t, body)
	}
	status, answer := newVisitor(t, r.base).call(method, r.base+path, text, "Authorization: Bearer "+r.token)
	if status != want {
		t.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	return json.RawMessage(answer)
}

// made makes something and gives its id.
func (r *rig) made(t *testing.T, path string, body any) string {
	t.Helper()
	var thing struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(r.tell(t, http.StatusCreated, http.MethodPost, path, body), &thing); err != nil || thing.ID == "" {
		t.Fatalf("POST %s gives no id: %v", path, err)
	}
	return thing.ID
}

// becomeTeam lets people share a project in which everything has happened once.
func (r *rig) becomeTeam(t *testing.T) *saidTeam {
	t.Helper()
	if _, err := r.store.CreateUser(t.Context(), domain.NewUser{Email: "ada@example.com", Name: "Ada", Provider: "local"}); err != nil {
		t.Fatal(err)
	}
	project := r.made(t, "/projects", map[string]string{"name": "edge", "group_id": "everyone"})
	under := "/projects/" + project
	for _, name := range []string{"KEPT", "API_TOKEN"} {
		r.tell(t, http.StatusCreated, http.MethodPost, under+"/secrets", map[string]string{"name": name, "value": keptSecret})
	}
	artifact := r.made(t, under+"/artifacts", map[string]string{"title": "Plan", "kind": "markdown", "content": "# Plan"})
	r.tell(t, http.StatusOK, http.MethodPut, "/artifacts/"+artifact, map[string]any{"content": teamVersion})
	r.made(t, under+"/memories", map[string]string{"title": "Where it runs", "content": "In the cellar."})
	r.made(t, under+"/skills", map[string]string{"name": "deploy", "description": "How we deploy.", "content": teamSkill})
	talk := under + "/conversations/" + r.made(t, under+"/conversations", map[string]string{})
	r.makeToken(t, under, talk)
	machine, paths := r.hasMachine(t, project)
	told := &saidTeam{ProjectID: project, Answers: map[string]json.RawMessage{}, Machine: machine}
	for _, path := range append(paths,
		"/admin/users", "/admin/groups", "/projects", under, under+"/settings", under+"/usage", under+"/conversations", talk, under+"/actions",
		under+"/secrets", under+"/artifacts", "/artifacts/"+artifact, "/artifacts/"+artifact+"/versions", under+"/memories", under+"/skills",
	) {
		told.Answers[path] = r.tell(t, http.StatusOK, http.MethodGet, path, nil)
	}
	return told
}

// makeToken asks for a new token, approves what that takes, and waits until nothing is left to do.
func (r *rig) makeToken(t *testing.T, under, talk string) {
	t.Helper()
	var waiting struct {
		TurnID  string          `json:"turn_id"`
		Actions []domain.Action `json:"actions"`
	}
	body := map[string]string{"query": newToken, "conversation_id": talk[strings.LastIndex(talk, "/")+1:]}
	if err := json.Unmarshal(r.tell(t, http.StatusAccepted, http.MethodPost, under+"/query", body), &waiting); err != nil || len(waiting.Actions) != 1 {
		t.Fatalf("waiting for %+v, %v", waiting, err)
	}
	a := waiting.Actions[0]
	r.tell(t, http.StatusOK, http.MethodPost, "/actions/"+a.ID+"/decide", map[string]any{"approved": true, "nonce": a.Nonce, "hash": a.Hash})
	r.saysOf(t, waiting.TurnID) // follows it to its end
	if turn := r.saysOf(t, waiting.TurnID); turn.Turn.Status != domain.TurnDone {
		t.Fatalf("the turn: %+v", turn.Turn)
	}
	r.calmDown(t)
}

// calmDown waits until no turn has its afterword before it: that changes titles and usage.
func (r *rig) calmDown(t *testing.T) {
	t.Helper()
	for due := true; due; {
		if err := r.pool.QueryRow(t.Context(), "select exists (select from turns where afterword_due)").Scan(&due); err != nil {
			t.Fatal(err)
		}
	}
}

// isStill shows that all that a team has made is there as it was.
func (r *rig) isStill(t *testing.T, team *saidTeam) {
	t.Helper()
	for path, before := range team.Answers {
		after := r.tell(t, http.StatusOK, http.MethodGet, path+daysOf(t, before), nil)
		if lost := missing("", asJSON(t, before), asJSON(t, after)); lost != "" {
			t.Errorf("GET %s: %s\nwas %s\n is %s", path, lost, before, after)
		}
	}
	secret, err := r.secrets.Get(t.Context(), team.ProjectID, "KEPT")
	if err != nil {
		t.Fatal(err)
	}
	if value, err := r.secrets.Open(t.Context(), team.ProjectID, secret.Ref()); err != nil || value.Reveal() != keptSecret {
		t.Errorf("the secret is lost: %v", err)
	}
	if team.Machine != nil {
		r.comesBack(t, team.Machine)
	}
}

// daysOf gives the query for the days that an answer is of, where it is of days: by itself it
// would be of those up to today.
func daysOf(t *testing.T, answer json.RawMessage) string {
	t.Helper()
	if !bytes.HasPrefix(bytes.TrimSpace(answer), []byte("{")) {
		return ""
	}
	var days struct{ From, To string }
	if err := json.Unmarshal(answer, &days); err != nil {
		t.Fatal(err)
	}
	if days.From == "" {
		return ""
	}
	return "?from=" + days.From + "&to=" + days.To
}

// missing says what of before is not in after; later versions may tell more.
func missing(at string, before, after any) string {
	switch was := before.(type) {
	case map[string]any:
		is, _ := after.(map[string]any)
		for name, value := range was {
			if lost := missing(at+"."+name, value, is[name]); lost != "" {
				return lost
			}
		}
		return ""
	case []any:
		is, _ := after.([]any)
		if len(is) != len(was) {
			return fmt.Sprintf("%s has %d items, had %d", at, len(is), len(was))
		}
		for i, value := range was {
			if lost := missing(fmt.Sprintf("%s[%d]", at, i), value, is[i]); lost != "" {
				return lost
			}
		}
		return ""
	}
	if !reflect.DeepEqual(before, after) {
		return fmt.Sprintf("%s was %v, is %v", at, before, after)
	}
	return ""
}

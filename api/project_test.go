package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestProjects(t *testing.T) {
	t.Parallel()
	f := start(t)
	resp, text := f.call(t, "POST", "/projects", `{"name":" motor ","group_id":"red"}`)
	var made domain.Project
	if err := json.Unmarshal([]byte(text), &made); err != nil || resp.StatusCode != 201 || made.Name != "motor" || made.CreatedBy != domain.OwnerID || made.GroupName != "Red" {
		t.Fatalf("made: %d %s, %v", resp.StatusCode, text, err)
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/groups", "", 200, `[{"id":"red","name":"Red","description":""}]`},
		{"GET", "/projects", "", 200, `"engine"`},
		{"GET", "/projects/" + made.ID, "", 200, `"motor"`},
		{"GET", "/projects/none", "", 404, "there is no project"},
		{"PUT", "/projects/" + made.ID, `{"description":"It moves."}`, 200, `{"ok":true}`},
		{"GET", "/projects/" + made.ID, "", 200, "It moves."},
		{"PUT", "/projects/" + made.ID, `{}`, 400, "give a name or a description"},
		{"PUT", "/projects/" + made.ID, `{"name":" "}`, 400, "name: must have 1 to 100 characters"},
		{"PUT", "/projects/" + made.ID + "/group", `{}`, 400, "group_id: names the group that will share"},
		{"PUT", "/projects/" + made.ID + "/group", `{"group_id":"blue"}`, 200, `{"ok":true}`},
		{"GET", "/projects/" + made.ID, "", 200, `"group_id":"blue"`},
		{"POST", "/projects", `{"name":"x"}`, 400, "group_id: names the group"},
		{"POST", "/projects", `{"name":"` + strings.Repeat("é", 101) + `","group_id":"red"}`, 400, "name: must"},
	} {
		if resp, text := f.call(t, c.method, c.path, c.body); resp.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s %.60s: %d %s", c.method, c.path, c.body, resp.StatusCode, text)
		}
	}
}

package api_test

import (
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
)

func TestActions(t *testing.T) {
	t.Parallel()
	f := start(t)
	hash := domain.ActionHash("drop", []byte(`{"id":"x"}`))
	yes := func(nonce string) string { return `{"approved":true,"nonce":"` + nonce + `","hash":"` + hash + `"}` }
	const resume = "/projects/p1/conversations/c1/confirm-action/resume"
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/actions", "", 200, `"id":"a1"`},
		{"GET", "/actions?status=applied", "", 200, `[]`},
		{"GET", "/actions?status=open", "", 400, "status"},
		{"GET", "/actions?status=pending&tool=drop", "", 200, `[{"id":"a1"`},
		{"GET", "/actions?tool=dig", "", 200, `[]`},
		{"GET", "/actions?limit=1", "", 200, `{"actions":[{"id":"a1"`},
		{"GET", "/actions?limit=0", "", 400, "limit"},
		{"GET", "/projects/p1/actions?cursor=a3", "", 200, `{"actions":[]}`},
		{"GET", "/projects/p1/actions?conversation_id=c1", "", 200, `[{"id":"a3"`},
		{"GET", "/projects/p1/actions?conversation_id=c2", "", 200, `[]`},
		{"GET", "/actions/a1", "", 200, `"nonce":"n-a1"`},
		{"GET", "/actions/a2", "", 404, "there is no action"},
		{"GET", "/actions/a3", "", 200, `"project_id":"p1"`},
		{"GET", "/projects/p1/actions", "", 200, `"id":"a3"`},
		{"GET", "/projects/p1/actions/a3", "", 200, `"id":"a3"`},
		{"GET", "/projects/p1/actions/a1", "", 404, "there is no action"},
		{"GET", "/projects/none/actions", "", 404, "there is no project"},
		{"POST", "/actions/a2/decide", yes("n-a2"), 404, "there is no action"},
		{"POST", "/actions/a1/decide", `{"nonce":"n","hash":"h"}`, 400, "approved"},
		{"POST", "/actions/a1/decide", `{"approved":true}`, 400, "nonce"},
		{"POST", "/actions/a1/decide", yes("n-a3"), 403, "nonce"},
		{"POST", "/actions/a1/decide", yes("n-a1"), 200, `"status":"approved"`},
		{"POST", "/actions/a1/decide", yes("n-a1"), 409, "owner has decided"},
		{"POST", resume, `{}`, 400, "decisions"},
		{"POST", resume, `{"decisions":[{"id":"a1","approved":true,"nonce":"n","hash":"h"}]}`, 404, "no action"},
		{"POST", resume, `{"results":[{"tool_call_id":"c3","status":"maybe"}]}`, 400, "results[0].status"},
		{"POST", resume, `{"results":[{"tool_call_id":"a3","status":"done"},{"tool_call_id":"a3","status":"done"}]}`, 400, "each only once"},
		{"POST", resume, `{"results":[{"tool_call_id":"c3","status":"done","result_text":"gone"}]}`, 200, `"resumed":true`},
		{"POST", resume, `{"decisions":[{"id":"a3","approved":false,"nonce":"n-a3","hash":"h"}]}`, 409, "owner has decided"},
	} {
		if resp, text := f.call(t, c.method, c.path, c.body); resp.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s %.80s: %d %s", c.method, c.path, c.body, resp.StatusCode, text)
		}
	}
	if d := f.actions.decided; len(d) != 2 || d[0].Status != domain.ActionApproved || !d[1].Reported || d[1].Status != domain.ActionApplied {
		t.Errorf("decided %+v", d)
	}
}

// A blocking query whose turn waits for a person is answered at once.
func TestAQueryWhoseTurnWaits(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.engine.onStart = func(id string) {
		f.engine.change(func() {
			turn := f.engine.turns[id]
			turn.Status = domain.TurnWaiting
			f.engine.turns[id] = turn
		})
	}
	resp, text := f.call(t, "POST", "/query", `{"query":"Remove it."}`)
	if resp.StatusCode != 202 || !strings.Contains(text, `{"turn_id":"turn-1","status":"waiting","actions":[{"id":"a1"`) {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	f.engine.failing = &domain.Error{Code: domain.CodeConflict, Message: "chat is locked", Holder: "turn-1", Actions: []string{"a1"}}
	resp, text = f.call(t, "POST", "/query", `{"query":"And now?"}`)
	if resp.StatusCode != 409 || !strings.Contains(text, `"holder":"turn-1","actions":["a1"]`) {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}

func TestProjectSettings(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, c := range []struct {
		method, body string
		status       int
		says         string
	}{
		{"GET", "", 200, `{"approvers":"members","confirm_expiry_seconds":86400,"asking_tools":[],"command_policy":"changes","allowed_commands":[]}`},
		{"PUT", `{"approvers":"anyone","confirm_expiry_seconds":60,"asking_tools":[]}`, 400, "approvers"},
		{"PUT", `{"approvers":"others","confirm_expiry_seconds":59,"asking_tools":[]}`, 400, "confirm_expiry_seconds"},
		{"PUT", `{"approvers":"others","confirm_expiry_seconds":60,"asking_tools":["drop","dug"]}`, 400, `asking_tools[1]: there is no tool \"dug\"; there are: dig, drop`},
		{"PUT", `{"approvers":"others","confirm_expiry_seconds":60,"asking_tools":["dig"]}`, 200, `{"ok":true}`},
		{"GET", "", 200, `{"approvers":"others","confirm_expiry_seconds":60,"asking_tools":["dig"],"command_policy":"changes","allowed_commands":[]}`},
		{"PUT", `{"approvers":"others","confirm_expiry_seconds":60,"asking_tools":[],"command_policy":"never"}`, 400, "command_policy: must be always, changes or allow_list"},
		{"PUT", `{"approvers":"others","confirm_expiry_seconds":60,"asking_tools":[],"command_policy":"allow_list","allowed_commands":["git status","bad"]}`, 400, "allowed_commands[1]: is no pattern"},
		{"PUT", `{"approvers":"others","confirm_expiry_seconds":60,"asking_tools":[],"command_policy":"allow_list","allowed_commands":["git status"]}`, 200, `{"ok":true}`},
		{"PUT", `{"approvers":"admins","confirm_expiry_seconds":60,"asking_tools":[]}`, 200, `{"ok":true}`},
		{"GET", "", 200, `"approvers":"admins","confirm_expiry_seconds":60,"asking_tools":[],"command_policy":"allow_list","allowed_commands":["git status"]}`},
	} {
		if resp, text := f.call(t, c.method, "/projects/p1/settings", c.body); resp.StatusCode != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %.80s: %d %s", c.method, c.body, resp.StatusCode, text)
		}
	}
}

var _ api.Actions = (*fakeActions)(nil)

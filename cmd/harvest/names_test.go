package main

import (
	"net/http"
	"strings"
	"testing"
)

// What people call things holds no value of a secret, wherever it is called so.
func TestNamesHoldNoValues(t *testing.T) {
	t.Parallel()
	r := newVaultRig(t, "", func(p prompted) reply {
		if p.round == 0 && p.tools {
			return reply{calls: []puppetCall{
				{"generate_artifact", `{"title":"By a tool ` + plainValue + `","kind":"markdown","content":"Text."}`},
				{"remember", `{"title":"Noted ` + plainValue + `","content":"It is ` + plainValue + `"}`},
			}}
		}
		return reply{text: "Done."}
	})
	r.keep(t, "PLAIN", plainValue)
	project := "/projects/" + r.project
	c, err := r.api.CreateConversation(t.Context(), r.project, "Made "+plainValue)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []struct {
		method, path string
		body         map[string]any
		want         int
	}{
		{http.MethodPut, project + "/conversations/" + c.ID, map[string]any{"title": "Changed " + plainValue}, http.StatusOK},
		{http.MethodPut, project, map[string]any{"name": "Project " + plainValue, "description": "Of " + plainValue}, http.StatusOK},
		{http.MethodPost, project + "/artifacts", map[string]any{"title": "Artifact " + plainValue, "kind": "markdown", "content": "Text."}, http.StatusCreated},
		{http.MethodPost, project + "/memories", map[string]any{"title": "Memory " + plainValue, "content": "It is " + plainValue}, http.StatusCreated},
	} {
		if status, _, text := r.send(t, call.method, call.path, call.body); status != call.want {
			t.Errorf("%s %s gives %d %s", call.method, call.path, status, text)
		}
	}
	r.query(t, "Write it down.")
	tables := r.everything(t)
	for _, name := range []string{"Changed", "Project", "Of", "Artifact", "Memory", "By a tool", "Noted", "It is"} {
		if !strings.Contains(tables, name+" [secret PLAIN]") {
			t.Errorf("the tables lack what is called %q", name)
		}
	}
	for _, name := range []string{"Made", "Changed", "Project", "Of", "Artifact", "Memory"} {
		if strings.Contains(tables, name+" "+plainValue) {
			t.Errorf("the tables hold the value in %q", name)
		}
	}
}

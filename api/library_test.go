package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/harvest-engine/harvest/api"
	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/library"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/internal/testkit"
)

// withLibrary serves a real library, whose store also keeps the projects.
func withLibrary(t *testing.T) (change func(*api.Config), project string) {
	t.Helper()
	store := postgres.NewStore(testkit.Postgres(t))
	p, err := store.CreateProject(t.Context(), domain.Project{Name: "engine", GroupID: "everyone", CreatedBy: domain.OwnerID})
	if err != nil {
		t.Fatal(err)
	}
	skills := library.NewSkills(store)
	if err := skills.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	artifacts := library.NewArtifacts(store)
	ctx, cancel := context.WithCancel(context.Background())
	rendering := make(chan struct{})
	go func() {
		defer close(rendering)
		artifacts.Render(ctx, func(err error) { t.Error(err) })
	}()
	t.Cleanup(func() { cancel(); <-rendering })
	return func(cfg *api.Config) {
		cfg.Projects, cfg.Skills, cfg.Artifacts, cfg.Memories = store, skills, artifacts, library.NewMemories(store)
	}, p.ID
}

// step is a request and what its answer must be. "{id}" stands for the id that the last
// answer with one gave.
type step struct {
	method, path, body string
	status             int
	says               string
}

// walk does the steps one after the other.
func (f *fixture) walk(t *testing.T, steps []step) {
	t.Helper()
	id := ""
	for _, s := range steps {
		path := strings.ReplaceAll(s.path, "{id}", id)
		resp, text := f.call(t, s.method, path, strings.ReplaceAll(s.body, "{id}", id))
		if resp.StatusCode != s.status || !strings.Contains(text, s.says) {
			t.Errorf("%s %s %.60s: %d %.500s, want %d %s", s.method, path, s.body, resp.StatusCode, text, s.status, s.says)
		}
		var made struct{ ID string }
		if json.Unmarshal([]byte(text), &made) == nil && made.ID != "" {
			id = made.ID
		}
	}
}

func TestSkillRoutes(t *testing.T) {
	t.Parallel()
	change, project := withLibrary(t)
	f := start(t, change)
	of := "/projects/" + project + "/skills"
	f.walk(t, []step{
		{"GET", "/skills", "", 200, `"scope":"global"`},
		{"POST", "/admin/skills", `{"name":"restart","description":"How to restart.","content":"Stop it.\nStart it."}`, 201, `"name":"restart"`},
		{"POST", "/admin/skills", `{"name":"restart","description":"Again.","content":"x"}`, 409, "already"},
		{"POST", "/admin/skills", `{"name":"Not So","description":"x","content":"x"}`, 400, "name: must be small letters"},
		{"POST", "/admin/skills", `{"name":"x","description":"x"}`, 400, "content: must not be empty"},
		{"GET", "/skills/{id}", "", 200, `"content":"---\nname: restart\ndescription: How to restart.\n---\nStop it.\nStart it."`},
		{"PUT", "/admin/skills/{id}", `{"content":"Stop it.\nWait.\nStart it."}`, 200, `{"ok":true}`},
		{"PUT", "/admin/skills/{id}", `{}`, 400, "give a name"},
		{"GET", "/skills/{id}/versions", "", 200, `"version":2`},
		{"GET", "/skills/{id}/versions/1", "", 200, `Stop it.\nStart it.`},
		{"GET", "/skills/{id}/versions/7", "", 404, "no version 7"},
		{"GET", "/skills/{id}/versions/x", "", 400, "is no version"},
		{"GET", "/skills/{id}/diff?from=1&to=2", "", 200, `+Wait.`},
		{"GET", "/skills/{id}/diff?from=1", "", 400, "to:"},
		{"POST", "/admin/skills/{id}/versions/1/restore", "", 200, `{"ok":true}`},
		{"GET", "/skills/{id}", "", 200, `"version":3`},
		{"GET", of + "/{id}", "", 404, "no skill"},
		{"DELETE", "/admin/skills/{id}", "", 204, ""},
		{"DELETE", "/admin/skills/{id}", "", 404, "no skill"},

		{"GET", of, "", 200, `[]`},
		{"POST", of, `{"content":"---\nname: lxd\ndescription: Ours.\n---\nAsk Ada."}`, 201, `"name":"lxd"`},
		{"GET", of, "", 200, `"description":"Ours."`},
		{"GET", of + "?scope=all", "", 200, `"name":"juju"`},
		{"GET", of + "?scope=mine", "", 400, "neither project nor all"},
		{"GET", of + "/{id}", "", 200, `Ask Ada.`},
		{"GET", "/skills/{id}", "", 404, "no skill"},
		{"PUT", of + "/{id}", `{"description":"All ours."}`, 200, `{"ok":true}`},
		{"GET", of + "/{id}/versions", "", 200, `"author":"owner"`},
		{"GET", of + "/{id}/versions/2", "", 200, `description: All ours.`},
		{"GET", of + "/{id}/diff?from=1&to=2", "", 200, `+description: All ours.`},
		{"POST", of + "/{id}/versions/1/restore", "", 200, `{"ok":true}`},
		{"PUT", "/admin/skills/{id}", `{"description":"x"}`, 404, "no skill"},
		{"DELETE", of + "/{id}", "", 204, ""},
		{"GET", "/projects/none/skills", "", 404, "no project"},
	})
}

func TestArtifactRoutes(t *testing.T) {
	t.Parallel()
	change, project := withLibrary(t)
	f := start(t, change)
	of := "/projects/" + project + "/artifacts"
	f.walk(t, []step{
		{"GET", of, "", 200, `[]`},
		{"POST", of, `{"title":"Guide","kind":"markdown","content":"one\ntwo\n"}`, 201, `"kind":"markdown"`},
		{"GET", "/artifacts/{id}", "", 200, `"content":"one\ntwo\n"`},
		{"GET", of, "", 200, `"title":"Guide"`},
		{"PUT", "/artifacts/{id}", `{"title":"Guide","kind":"markdown","content":"one\n2\n"}`, 200, `"version":2`},
		{"PUT", "/artifacts/{id}", `{"content":"x","version":1}`, 409, "has version 2 now"},
		{"PUT", "/artifacts/{id}", `{"kind":"pdf","content":"x"}`, 400, "kind: is markdown"},
		{"PUT", "/artifacts/{id}", `{}`, 400, "give a title"},
		{"GET", "/artifacts/{id}/versions", "", 200, `"author":"owner"`},
		{"GET", "/artifacts/{id}/versions/1", "", 200, `one\ntwo`},
		{"GET", "/artifacts/{id}/diff?from=1&to=2", "", 200, `-two\n+2`},
		{"POST", "/artifacts/{id}/versions/1/restore", "", 200, `"version":3`},
		{"GET", "/artifacts/{id}/download", "", 200, "one\ntwo\n"},
		{"GET", "/artifacts/{id}/download?version=2", "", 200, "one\n2\n"},
		{"GET", "/artifacts/{id}/download?version=9", "", 404, "no version 9"},
		{"DELETE", "/artifacts/{id}", "", 204, ""},
		{"GET", "/artifacts/{id}", "", 404, "no artifact"},

		{"POST", of, `{"title":"Net","kind":"terraform","content":"{\"../main.tf\":\"x\"}"}`, 400, "content: has the path"},
		{"POST", of, `{"title":"Net","kind":"zip","content":"x"}`, 400, "kind: must be"},
		{"POST", of, `{"title":" ","kind":"context","content":"x"}`, 400, "title: must be"},
		{"POST", of, `{"title":"Big","kind":"context","content":"` + strings.Repeat("x", domain.MaxArtifactBytes+1) + `"}`, 413, "2097152 bytes"},
		{"POST", of, `{"title":"Net","kind":"terraform","content":"{\"main.tf\":\"x\"}"}`, 201, `"terraform"`},
	})
}

// What a route does that a tool does too is noted, where it was done, as calls of the tool.
func TestActsAreNoted(t *testing.T) {
	t.Parallel()
	change, project := withLibrary(t)
	f := start(t, change)
	_, text := f.call(t, "POST", "/projects/"+project+"/artifacts", `{"title":"Guide","kind":"markdown","content":"one"}`)
	var a domain.Artifact
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	for range 2 { // of which the second finds nothing
		f.call(t, "DELETE", "/artifacts/"+a.ID, "")
	}
	want := []domain.Performance{{UserID: domain.OwnerID, ProjectID: project, Tool: "delete_artifact", Inputs: []json.RawMessage{
		json.RawMessage(`{"id":"` + a.ID + `"}`), json.RawMessage(`{"id":"` + a.ID + `","version":1}`),
	}}}
	for i := range f.actions.performed {
		for j, input := range f.actions.performed[i].Inputs {
			f.actions.performed[i].Inputs[j] = bytes.TrimSpace(input)
		}
	}
	if diff := cmp.Diff(want, f.actions.performed); diff != "" {
		t.Errorf("noted (-want +got):\n%s", diff)
	}
}

func TestDownloads(t *testing.T) {
	t.Parallel()
	change, project := withLibrary(t)
	f := start(t, change)
	for _, c := range []struct{ kind, content, media, name, begins string }{
		{"markdown", "# A", "text/markdown; charset=utf-8", "release-notes.md", "# A"},
		{"context", "a", "text/markdown; charset=utf-8", "release-notes.md", "a"},
		{"pdf", "# A", "application/pdf", "release-notes.pdf", "%PDF-"},
		{"terragrunt", `{"a.hcl":"x"}`, "application/json", "release-notes.json", "{"},
	} {
		body, _ := json.Marshal(map[string]string{"title": "Release / notes", "kind": c.kind, "content": c.content})
		_, text := f.call(t, "POST", "/projects/"+project+"/artifacts", string(body))
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(text), &made); err != nil {
			t.Fatal(err, text)
		}
		resp, file := f.call(t, "GET", "/artifacts/"+made.ID+"/download", "")
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != c.media || !strings.HasPrefix(file, c.begins) ||
			resp.Header.Get("Content-Disposition") != "attachment; filename="+c.name {
			t.Errorf("%s: %d %v %.20q", c.kind, resp.StatusCode, resp.Header, file)
		}
	}
}

func TestMemoryRoutes(t *testing.T) {
	t.Parallel()
	change, project := withLibrary(t)
	f := start(t, change)
	of := "/projects/" + project + "/memories"
	f.walk(t, []step{
		{"GET", of, "", 200, `[]`},
		{"POST", of, `{"title":"Window","content":"Sunday at six."}`, 201, `"title":"Window"`},
		{"POST", of, `{"title":"Window"}`, 400, "content: must be"},
		{"GET", of, "", 200, `"created_by":"owner"`},
		{"GET", of + "/{id}", "", 200, "Sunday at six."},
		{"PUT", of + "/{id}", `{"content":"Monday."}`, 200, `{"ok":true}`},
		{"PUT", of + "/{id}", `{}`, 400, "give a title"},
		{"GET", of + "/{id}", "", 200, "Monday."},
		{"DELETE", of + "/{id}", "", 204, ""},
		{"GET", of + "/{id}", "", 404, "no memory"},
	})
}

// A change may name the version that it builds on, in its body or by If-Match.
func TestChangesBuildOnTheNewestVersion(t *testing.T) {
	t.Parallel()
	change, pid := withLibrary(t)
	f := start(t, change)
	skill := "---\nname: drain\ndescription: Drain a node.\n---\n"
	for path, bodies := range map[string][2]string{
		"memories": {`{"title":"Window","content":"Sunday"}`, `{"content":"Monday"`},
		"skills":   {`{"content":` + quoted(skill+"One.") + `}`, `{"content":` + quoted(skill+"Two.")},
	} {
		_, text := f.call(t, "POST", "/projects/"+pid+"/"+path, bodies[0])
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(text), &made); err != nil {
			t.Fatal(err)
		}
		item := "/projects/" + pid + "/" + path + "/" + made.ID
		got, _ := f.call(t, "GET", item, "")
		if tag := got.Header.Get("ETag"); tag != `"1"` {
			t.Errorf("%s: ETag %s", path, tag)
		}
		for _, s := range []struct {
			body, match string
			status      int
			says        string
		}{
			{bodies[1] + `,"version":1}`, `"2"`, 400, "version: is another one in If-Match"},
			{bodies[1] + `}`, `"x"`, 400, "If-Match"},
			{bodies[1] + `,"version":-1}`, "", 400, "version"},
			{bodies[1] + `}`, `"1"`, 200, "ok"},
			{bodies[1] + `}`, `"1"`, 409, "has version 2 now, and this change builds on version 1"},
			{bodies[1] + `,"version":1}`, "", 409, "has version 2 now"},
			{bodies[1] + `,"version":2}`, "", 200, "ok"},
			{bodies[1] + `}`, "*", 200, "ok"},
		} {
			resp, text := f.call(t, "PUT", item, s.body, "If-Match: "+s.match)
			if resp.StatusCode != s.status || !strings.Contains(text, s.says) {
				t.Errorf("%s %s If-Match %s: %d %s, want %d %s", path, s.body, s.match, resp.StatusCode, text, s.status, s.says)
			}
		}
	}
}

func quoted(text string) string {
	body, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(body)
}

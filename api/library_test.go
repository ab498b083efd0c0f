package api_test

import (
	"encoding/json"
	"strings"
	"testing"

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
	return func(cfg *api.Config) {
		cfg.Projects, cfg.Skills = store, skills
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

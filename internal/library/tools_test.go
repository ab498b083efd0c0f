package library_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/library"
	"github.com/harvest-engine/harvest/tools"
)

// desk is the tools of the library in a turn of a project.
type desk struct {
	*testing.T
	registry *tools.Registry
	scope    domain.Scope
	calls    int
}

func (d *desk) run(name, input string) domain.ToolResult {
	d.Helper()
	d.calls++
	d.scope.CallID = fmt.Sprint("c", d.calls)
	res, err := d.registry.Run(d.Context(), d.scope, name, json.RawMessage(input))
	if err != nil {
		d.Fatalf("%s %s: %v", name, input, err)
	}
	return res
}

// says expects a result, or an error result, with some words.
func (d *desk) says(name, input string, failed bool, words ...string) domain.ToolResult {
	d.Helper()
	res := d.run(name, input)
	if res.Error != failed {
		d.Errorf("%s %s: error %v: %s", name, input, res.Error, res.Text)
	}
	for _, w := range words {
		if !strings.Contains(res.Text, w) {
			d.Errorf("%s %s gives no %q: %.500s", name, input, w, res.Text)
		}
	}
	return res
}

func TestModelsLoadSkills(t *testing.T) {
	t.Parallel()
	store, project := shelf(t)
	skills := library.NewSkills(store)
	if err := skills.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := skills.Create(t.Context(), domain.Skill{ProjectID: project, Name: "lxd", Description: "Ours.", Content: "Ask Ada."}); err != nil {
		t.Fatal(err)
	}
	d := &desk{T: t, registry: tools.NewRegistry(tools.SkillTools(skills)...), scope: domain.Scope{ProjectID: project}}
	d.says("list_skills", `{}`, false, "lxd (project): Ours.", "juju (global): Deploy")
	d.says("load_skill", `{"name":"lxd"}`, false, "Ask Ada.")
	whole := d.says("load_skill", `{"name":"ceph"}`, false, "## Rollback", "## Never without a person's approval")
	if whole.Truncated || whole.Preview != "Playbook ceph, version 1" {
		t.Errorf("loaded %q, cut: %v", whole.Preview, whole.Truncated)
	}
	d.says("load_skill", `{"name":"nope"}`, true, "list_skills")
	d.scope.ProjectID = ""
	d.says("load_skill", `{"name":"lxd"}`, false, "## Snapshots")
}

func TestModelsKeepArtifacts(t *testing.T) {
	t.Parallel()
	store, project := shelf(t)
	artifacts := library.NewArtifacts(store)
	d := &desk{T: t, registry: tools.NewRegistry(tools.ArtifactTools(artifacts)...), scope: domain.Scope{ProjectID: project, UserID: "ada", TurnID: "t"}}
	d.says("list_artifacts", `{}`, false, "no artifacts")
	made := d.says("generate_artifact", `{"title":"Net","kind":"terraform","files":{"main.tf":"a\n","old.tf":"secret words\n"}}`, false, "2 files", "version 1")
	if strings.Contains(made.Preview+made.Text, "secret") {
		t.Error("the result repeats the content")
	}
	list, err := artifacts.List(t.Context(), project)
	if err != nil || len(list) != 1 || list[0].CreatedBy != "ada" {
		t.Fatalf("%+v, %v", list, err)
	}
	id := list[0].ID
	input := func(format string) string { return fmt.Sprintf(format, id) }
	d.says("list_artifacts", `{}`, false, id+" terraform, version 1", ": Net")
	d.says("get_artifact", input(`{"id":"%s"}`), false, "main.tf (2 bytes)")
	d.says("get_artifact", input(`{"id":"%s","file":"main.tf"}`), false, "\na")
	d.says("get_artifact", input(`{"id":"%s","file":"none"}`), true, "no file")
	d.says("update_artifact", input(`{"id":"%s","version":1,"files":{"main.tf":"b\n","old.tf":null}}`), false, "1 files", "version 2")
	d.says("update_artifact", input(`{"id":"%s","version":1,"files":{"main.tf":"c\n"}}`), true, "newer version", "get_artifact")
	d.says("update_artifact", input(`{"id":"%s","version":2,"files":{"../x":"c\n"}}`), true, "files", "relative")
	d.says("update_artifact", input(`{"id":"%s","version":2,"files":{"none":null}}`), true, "does not have")
	d.says("update_artifact", input(`{"id":"%s","version":2}`), true, "nothing would change")
	d.says("get_artifact", input(`{"id":"%s","version":1,"file":"old.tf"}`), false, "secret words")
	d.says("generate_artifact", `{"title":"Net","kind":"terraform","files":{"/abs":"a"}}`, true, "files", "relative")
	d.says("generate_artifact", `{"title":"Net","kind":"exe","content":"a"}`, true, "kind")

	other := *d
	other.scope.ProjectID = "other"
	other.says("get_artifact", input(`{"id":"%s"}`), true, "no artifact")
	other.says("delete_artifact", input(`{"id":"%s"}`), true, "no artifact")
	other.scope.ProjectID = ""
	other.says("list_artifacts", `{}`, true, "no project")

	if spec, _ := d.registry.Lookup("delete_artifact"); spec.Policy != domain.PolicyAlways {
		t.Errorf("delete_artifact: %s", spec.Policy)
	}
	d.says("delete_artifact", input(`{"id":"%s"}`), false, "Deleted", "2 versions")
	d.says("get_artifact", input(`{"id":"%s"}`), true, "no artifact")
}

// A call that is run again, since its outcome was lost, writes nothing twice.
func TestARepeatedCallWritesOnce(t *testing.T) {
	t.Parallel()
	store, project := shelf(t)
	artifacts := library.NewArtifacts(store)
	registry := tools.NewRegistry(tools.ArtifactTools(artifacts)...)
	scope := domain.Scope{ProjectID: project, UserID: "ada", TurnID: "t", CallID: "c1"}
	var texts []string
	for range 2 {
		res, err := registry.Run(t.Context(), scope, "generate_artifact", json.RawMessage(`{"title":"Guide","kind":"markdown","content":"one\n"}`))
		if err != nil || res.Error {
			t.Fatalf("%+v, %v", res, err)
		}
		texts = append(texts, res.Text)
	}
	list, err := artifacts.List(t.Context(), project)
	if err != nil || len(list) != 1 || texts[0] != texts[1] {
		t.Fatalf("%d artifacts, %q, %v", len(list), texts, err)
	}
	scope.CallID = "c2"
	for range 2 {
		res, err := registry.Run(t.Context(), scope, "update_artifact", json.RawMessage(`{"id":"`+list[0].ID+`","version":1,"content":"two\n"}`))
		if err != nil || res.Error || !strings.Contains(res.Text, "version 2") {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

package library_test

import (
	"context"
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

// approved runs a call as an action that somebody approved.
func (d *desk) approved(name, input string, failed bool, words ...string) {
	d.Helper()
	d.scope.ActionID = "a"
	d.says(name, input, failed, words...)
	d.scope.ActionID = ""
}

// Who decides a deletion is told what it would delete, whatever its title looks like.
func TestADeletionIsExplained(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	store, project := shelf(t)
	artifacts := library.NewArtifacts(store)
	registry := tools.NewRegistry(tools.ArtifactTools(artifacts)...)
	a, err := artifacts.Create(ctx, domain.Artifact{ProjectID: project, Title: "Plan\u202e\\n  versions: 0", Kind: domain.ArtifactMarkdown, Content: "one"}, ada)
	if err != nil {
		t.Fatal(err)
	}
	text := "two"
	if a, err = artifacts.Update(ctx, a.ID, domain.ArtifactChange{Content: &text, Author: ada}); err != nil {
		t.Fatal(err)
	}
	describe := func(project, input string) string {
		scope := domain.Scope{ProjectID: project}
		return domain.DescribeAction("delete_artifact", json.RawMessage(input), registry.Explain(ctx, scope, "delete_artifact", json.RawMessage(input))...)
	}
	of := fmt.Sprintf(`{"id":%q}`, a.ID)
	want := "Run delete_artifact with:\n  id: " + a.ID + "\nThis is about:\n  artifact: Plan\\u{202e}\\\\n  versions: 0\n  kind: markdown\n  versions: 2, the newest of " +
		a.UpdatedAt.Format("2006-01-02 15:04 UTC")
	if got := describe(project, of); got != want {
		t.Errorf("described as\n%s\nwant\n%s", got, want)
	}
	for _, c := range []struct{ project, input string }{{"other", of}, {"", of}, {project, `{"id":"none"}`}, {project, `{}`}} {
		if got := describe(c.project, c.input); strings.Contains(got, "Plan") || !strings.Contains(got, "\n  artifact: none") {
			t.Errorf("%s in project %q is described as\n%s", c.input, c.project, got)
		}
	}
	if about := registry.Explain(ctx, domain.Scope{ProjectID: project}, "list_artifacts", nil); about != nil {
		t.Errorf("a tool that knows no more explains %v", about)
	}
	gone, stop := context.WithCancel(ctx)
	stop()
	if about := registry.Explain(gone, domain.Scope{ProjectID: project}, "delete_artifact", json.RawMessage(of)); len(about) != 1 || about[0].Name != "unknown" {
		t.Errorf("what can't be looked up is explained as %v", about)
	}
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
	d.says("update_artifact", input(`{"id":"%s","version":1,"files":{"main.tf":"c\n"}}`), true, "has version 2 now", "get_artifact")
	d.says("update_artifact", input(`{"id":"%s","version":2,"files":{"../x":"c\n"}}`), true, "files", "relative")
	d.says("update_artifact", input(`{"id":"%s","version":2,"files":{"none":null}}`), true, "does not have")
	d.says("update_artifact", input(`{"id":"%s","version":2}`), true, "nothing would change")
	d.says("get_artifact", input(`{"id":"%s","version":1,"file":"old.tf"}`), false, "secret words")
	d.says("generate_artifact", `{"title":"Net","kind":"terraform","files":{"/abs":"a"}}`, true, "files", "relative")
	d.says("generate_artifact", `{"title":"Net","kind":"exe","content":"a"}`, true, "kind")

	other := *d
	other.scope.ProjectID = "other"
	other.says("get_artifact", input(`{"id":"%s"}`), true, "no artifact")
	other.approved("delete_artifact", input(`{"id":"%s"}`), true, "no artifact")
	other.scope.ProjectID = ""
	other.says("list_artifacts", `{}`, true, "no project")

	if spec, _ := d.registry.Lookup("delete_artifact"); spec.Policy != domain.PolicyAlways {
		t.Errorf("delete_artifact: %s", spec.Policy)
	}
	d.says("delete_artifact", input(`{"id":"%s"}`), true, "nobody has approved")
	d.approved("delete_artifact", input(`{"id":"%s","version":1}`), true, "newer version")
	d.approved("delete_artifact", input(`{"id":"%s","version":2}`), false, "Deleted", "2 versions")
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

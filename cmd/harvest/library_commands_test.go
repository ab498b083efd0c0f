package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

const simpleModel = "[[llm]]\nprovider = \"scripted\"\nmodel = \"s\"\nscript = SCRIPT\n"

// crew is somebody at a terminal, on a server with a project "engine".
func crew(t *testing.T, script string) (*rig, *teamProgram) {
	t.Helper()
	r := newRig(t, script, simpleModel)
	ada := newTeamProgram(t, map[string]string{urlVariable: r.base, tokenVariable: r.token})
	ada.run(exitOK, "", "projects", "create", "engine")
	return r, ada
}

// says runs a command and checks that its output, and what it says beside it, have these parts.
func (p *teamProgram) says(want int, input string, parts []string, args ...string) string {
	p.t.Helper()
	out, errs := p.run(want, input, args...)
	for _, part := range parts {
		if !strings.Contains(out+errs, part) {
			p.t.Errorf("harvest %s lacks %q:\n%s%s", strings.Join(args, " "), part, out, errs)
		}
	}
	return strings.TrimSpace(out)
}

// in are the arguments of a command about the project.
func in(args ...string) []string { return append(args, "--project", "engine") }

func (p *teamProgram) file(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func TestSkillsByCommands(t *testing.T) {
	t.Parallel()
	_, ada := crew(t, `{"rounds":[{"text":"Yes."}]}`)
	ada.says(exitOK, "", []string{"NAME", "juju", "everybody"}, "skills", "list")
	ada.says(exitOK, "", []string{"name: juju"}, "skills", "show", "juju")
	text := "---\nname: deploy\ndescription: How we deploy\n---\n\n# Deploy\n\nBy hand.\n"
	id := ada.says(exitOK, text, nil, in("skills", "add")...)
	ada.says(exitOK, "", []string{id, "deploy", "the project", "How we deploy", "juju"}, in("skills", "list")...)
	ada.says(exitOK, "", nil, in("skills", "edit", "deploy", "--from", ada.file("deploy.md", strings.ReplaceAll(text, "By hand.", "By the pipeline.")))...)
	ada.says(exitOK, "", []string{"-By hand.", "+By the pipeline."}, in("skills", "diff", "deploy")...)
	ada.says(exitOK, "", []string{"VERSION", "2", "1"}, in("skills", "versions", id)...)
	ada.says(exitFailed, text, []string{"version 2 now"}, in("skills", "edit", "deploy", "--from", "-", "--version", "1")...)
	ada.says(exitOK, "", []string{"By hand."}, in("skills", "show", "deploy", "--version", "1")...)
	ada.says(exitOK, "", []string{"repeats version 1"}, in("skills", "restore", "deploy", "1")...)
	ada.says(exitOK, "", []string{"By hand."}, in("skills", "show", "deploy")...)
	ada.says(exitUsage, "", []string{"no version"}, in("skills", "restore", "deploy", "first")...)
	ada.says(exitUsage, "", []string{"--from"}, in("skills", "edit", "deploy")...)
	ada.says(exitOK, "", []string{"removed"}, in("skills", "delete", "deploy")...)
	ada.says(exitFailed, "", []string{"there is no skill", "harvest skills list"}, in("skills", "show", "deploy")...)
}

func TestArtifactsByCommands(t *testing.T) {
	t.Parallel()
	_, ada := crew(t, `{"rounds":[{"text":"Yes."}]}`)
	ada.says(exitUsage, "", []string{"--project", "harvest projects list"}, "artifacts", "list")
	ada.says(exitOK, "", []string{"no artifacts"}, in("artifacts", "list")...)
	id := ada.says(exitOK, "# Plan\n\nOne.\n", nil, in("artifacts", "add", "Plan", "--from", "-")...)
	ada.says(exitOK, "", []string{"changed"}, in("artifacts", "edit", "Plan", "--title", "The plan", "--from", ada.file("plan.md", "# Plan\n\nTwo.\n"))...)
	ada.says(exitOK, "", []string{id, "markdown", "The plan"}, in("artifacts", "list")...)
	ada.says(exitOK, "", []string{"-One.", "+Two."}, in("artifacts", "diff", "The plan", "1", "2")...)
	var shown domain.Artifact
	if out := ada.says(exitOK, "", nil, in("artifacts", "show", id, "--json")...); json.Unmarshal([]byte(out), &shown) != nil || shown.Version != 2 || shown.Content != "# Plan\n\nTwo.\n" {
		t.Errorf("as JSON: %s", out)
	}
	to := filepath.Join(ada.dir, "got.md")
	ada.says(exitOK, "", []string{to}, in("artifacts", "download", "The plan", "--to", to, "--version", "1")...)
	if got, err := os.ReadFile(to); err != nil || !strings.Contains(string(got), "One.") {
		t.Errorf("downloaded %q, %v", got, err)
	}
	ada.says(exitFailed, "", []string{"there already", "--to"}, in("artifacts", "download", "The plan", "--to", to)...)
	ada.says(exitOK, "", []string{"Two."}, in("artifacts", "download", "The plan", "--to", "-")...)
	ada.says(exitOK, "", nil, in("artifacts", "restore", "The plan", "1")...)
	ada.says(exitOK, "", []string{"REPEATS", "The plan"}, in("artifacts", "versions", "Plan")...) // with the title of that version

	ada.file("cluster/main.tf", "resource \"a\" \"b\" {}\n")
	ada.file("cluster/modules/net/main.tf", "# net\n")
	ada.file("cluster/.terraform/junk", "junk")
	bundle := in("artifacts", "add", "Cluster", "--kind", "terraform", "--from", filepath.Join(ada.dir, "cluster"))
	ada.says(exitOK, "", nil, bundle...)
	if out := ada.says(exitOK, "", []string{"==> main.tf <==", "==> modules/net/main.tf <==", "# net"}, in("artifacts", "show", "Cluster")...); strings.Contains(out, "junk") {
		t.Errorf("hidden files are kept:\n%s", out)
	}
	ada.says(exitOK, "", nil, bundle...)
	ada.says(exitFailed, "", []string{"2 of them are called", "harvest artifacts list"}, in("artifacts", "show", "Cluster")...)
	ada.says(exitFailed, "", []string{"nowhere.md", "there is none"}, in("artifacts", "add", "X", "--from", "nowhere.md")...)
	ada.says(exitFailed, "x", []string{"kind"}, in("artifacts", "add", "X", "--kind", "poem")...)
	ada.says(exitOK, "", nil, in("artifacts", "delete", id)...)
	ada.says(exitFailed, "", []string{"there is no artifact"}, in("artifacts", "show", id)...)
}

func TestMemoriesByCommands(t *testing.T) {
	t.Parallel()
	_, ada := crew(t, `{"rounds":[{"text":"Yes."}]}`)
	id := ada.says(exitOK, "", nil, in("memories", "add", "Releases", "They are made by hand.")...)
	ada.says(exitOK, "On Mondays.", nil, in("memories", "add", "When")...)
	ada.says(exitOK, "", []string{id, "a person", "Releases", "When"}, in("memories", "list")...)
	ada.says(exitOK, "By a pipeline.", nil, in("memories", "edit", "Releases", "--from", "-")...)
	ada.says(exitOK, "", []string{"By a pipeline."}, in("memories", "show", "Releases")...)
	ada.says(exitOK, "", nil, in("memories", "delete", id)...)
	ada.says(exitFailed, "", []string{"there is no memory", "harvest memories list"}, in("memories", "show", "Releases")...)
	ada.says(exitUsage, "", []string{"--project"}, "memories", "list")
}

func TestSecretsByCommands(t *testing.T) {
	t.Parallel()
	_, ada := crew(t, `{"rounds":[{"text":"Yes."}]}`)
	ada.says(exitUsage, "", []string{"--project"}, "secrets", "list")
	ada.says(exitOK, "", []string{"no secrets"}, in("secrets", "list")...)
	ada.says(exitOK, "a value of this test\n", []string{"saved PASSWORD, version 1"}, in("secrets", "set", "password")...)
	ada.says(exitOK, "", []string{"version 2"}, in("secrets", "set", "PASSWORD", "--from", ada.file("value", "another value of it\n"))...)
	ada.says(exitOK, "", []string{"saved SESSION"}, in("secrets", "set", "SESSION", "--generate")...)
	ada.says(exitUsage, "", []string{"--from and --generate", "leave out"}, in("secrets", "set", "SESSION", "--generate", "--from", "-")...)
	ada.says(exitFailed, "", []string{"nowhere"}, in("secrets", "set", "SESSION", "--from", "nowhere")...)
	ada.says(exitFailed, "a fine value here", []string{"name"}, in("secrets", "set", "1 and 2")...)
	ada.says(exitOK, "", []string{"models may see the value of the secret PASSWORD"}, in("secrets", "permit", "PASSWORD")...)
	list := ada.says(exitOK, "", []string{"PASSWORD", "see it", "SESSION", "get a handle"}, in("secrets", "list")...)
	ada.says(exitOK, "", []string{"models get a handle for the value"}, in("secrets", "forbid", "PASSWORD")...)
	if after := ada.says(exitOK, "", nil, in("secrets", "list")...); strings.Contains(list+after, "value of") || strings.Contains(after, "see it") {
		t.Errorf("the lists are\n%s\n%s", list, after)
	}
	ada.says(exitOK, "", []string{"sealed 0 values anew"}, "secrets", "rotate")
	ada.says(exitOK, "", []string{"removed the secret PASSWORD"}, in("secrets", "delete", "PASSWORD")...)
	ada.says(exitFailed, "", []string{"there is no secret"}, in("secrets", "delete", "PASSWORD")...)
	ada.says(exitFailed, "", []string{"there is no project", "harvest projects list"}, "secrets", "list", "--project", "none")
}

func TestAskWithFiles(t *testing.T) {
	t.Parallel()
	r, ada := crew(t, `{"rounds":[{"text":"I see."}]}`)
	ask := in("ask", "--json", "What is wrong?", "--attach", ada.file("trace.log", "it broke\n"), "--attach", ada.file("empty.png", "\x89PNG\r\n\x1a\n"))
	ada.says(exitOK, "", []string{"I see."}, ask...)
	var n int
	if err := r.pool.QueryRow(t.Context(), "select count(*) from value_uses").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d files are kept, %v", n, err)
	}
	for _, c := range [][2]string{{"nowhere", "there is none"}, {ada.dir, "is no file"}, {ada.file("empty", ""), "is empty"}} {
		ada.says(exitFailed, "", []string{c[1]}, in("ask", "--json", "What?", "--attach", c[0])...)
	}
}

func TestActionsAreListedInPages(t *testing.T) {
	t.Parallel()
	r, ada := crew(t, `{"rounds":[{"text":"Yes."}]}`)
	project, err := r.api.Projects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range [][2]string{{"act-1", "drop"}, {"act-2", "wipe"}, {"act-3", "drop"}} {
		if _, err := r.pool.Exec(t.Context(), `insert into actions (id, turn_id, call_id, project_id, requester, tool, input, hash, description, nonce, expires_at)
values ($1, $1, 'c', $2, 'owner', $3, '{}', '', '', '', now() + interval '1 hour')`, a[0], project[0].ID, a[1]); err != nil {
			t.Fatal(err)
		}
	}
	if out := ada.says(exitOK, "", []string{"act-3", "act-2", "--before act-2"}, in("actions", "list", "--limit", "2")...); strings.Contains(out, "act-1") {
		t.Errorf("the first page is\n%s", out)
	}
	if out := ada.says(exitOK, "", []string{"act-1"}, in("actions", "list", "--limit", "2", "--before", "act-2")...); strings.Contains(out, "act-3") {
		t.Errorf("the next page is\n%s", out)
	}
	if out := ada.says(exitOK, "", []string{"act-2"}, in("actions", "list", "--tool", "wipe", "--status", "pending")...); strings.Contains(out, "act-1") {
		t.Errorf("of one tool:\n%s", out)
	}
	ada.says(exitUsage, "", []string{"--limit"}, in("actions", "list", "--limit", "0")...)
	ada.says(exitFailed, "", []string{"status"}, in("actions", "list", "--status", "odd")...)
}

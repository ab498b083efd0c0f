package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// teamProgram runs commands as somebody at a terminal of their own.
type teamProgram struct {
	t   *testing.T
	dir string
	env map[string]string
}

func newTeamProgram(t *testing.T, env map[string]string) *teamProgram {
	t.Helper()
	dir := t.TempDir()
	env[configVariable] = dir
	return &teamProgram{t, dir, env}
}

// run gives what a command writes to its output and beside it.
func (p *teamProgram) run(want int, input string, args ...string) (out, errs string) {
	p.t.Helper()
	file := func(name, text string) *os.File {
		f, err := os.OpenFile(filepath.Join(p.dir, name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err == nil {
			_, err = f.WriteString(text)
		}
		if err == nil {
			_, err = f.Seek(0, 0)
		}
		if err != nil {
			p.t.Fatal(err)
		}
		p.t.Cleanup(func() { f.Close() })
		return f
	}
	prog := &program{dataDir: filepath.Join(p.dir, "data"), in: file("in", input), out: file("out", ""), errs: file("errs", ""),
		env: func(name string) (string, bool) { value, ok := p.env[name]; return value, ok }}
	code := prog.run(p.t.Context(), args)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil {
			p.t.Fatal(err)
		}
		return string(text)
	}
	out, errs = read("out"), read("errs")
	if code != want {
		p.t.Errorf("harvest %s: %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out, errs
}

func TestATeamSetsItselfUpByCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t, `{"rounds":[]}`, "[auth]\nsetup_token = \"the setup token of this test\"\n[[llm]]\nprovider = \"scripted\"\nmodel = \"s\"\nscript = SCRIPT\n")
	ada := newTeamProgram(t, map[string]string{})
	ada.run(exitFailed, "a good sentence\n", "login", r.base, "--register", "--email", "ada@example.com", "--name", "Ada")
	ada.env[setupVariable] = "the setup token of this test"
	if _, said := ada.run(exitOK, "a good sentence\n", "login", r.base, "--register", "--email", "ada@example.com", "--name", "Ada"); !strings.Contains(said, "as Ada") {
		t.Errorf("registered: %s", said)
	}
	grace := newTeamProgram(t, map[string]string{})
	grace.run(exitOK, "grace@example.com\nGrace\na better sentence\n", "login", r.base, "--register")
	if _, said := grace.run(exitFailed, "", "users", "list"); !strings.Contains(said, "only admins") {
		t.Errorf("who is no admin is told %q", said)
	}
	if out, _ := grace.run(exitOK, "", "groups", "list"); !strings.Contains(out, "everyone") || strings.Contains(out, "NEW PEOPLE") {
		t.Errorf("groups, for who is no admin:\n%s", out)
	}
	grace.says(exitFailed, "", []string{"there is no group", "harvest groups list"}, "projects", "create", "x", "--group", "secret")
	id, _ := ada.run(exitOK, "", "groups", "create", "platform", "--description", "who runs the clusters")
	ada.run(exitUsage, "", "users", "groups", "Grace@example.com")
	ada.run(exitUsage, "", "users", "groups", "Grace@example.com", "everyone", "--none")
	ada.says(exitOK, "", []string{"Grace@example.com is in no group now"}, "users", "groups", "Grace@example.com", "--none")
	ada.says(exitOK, "", []string{"is in platform, everyone now"}, "users", "groups", "Grace@example.com", "platform", "everyone")
	ada.says(exitOK, "", []string{"is an admin now"}, "users", "role", "grace@example.com", "admin")
	ada.says(exitOK, "", []string{"new people join the group platform"}, "groups", "default", "platform", "on")
	ada.run(exitUsage, "", "groups", "default", "platform", "maybe")
	ada.run(exitFailed, "", "users", "role", "grace@example.com", "king")
	ada.run(exitFailed, "", "users", "role", "nobody@example.com", "admin")
	out, _ := grace.run(exitOK, "", "users", "list")
	for _, shown := range []string{"E-MAIL", "grace@example.com", "Grace", "admin", "platform"} {
		if !strings.Contains(out, shown) {
			t.Errorf("the list lacks %q:\n%s", shown, out)
		}
	}
	var users []domain.User
	if out, _ = ada.run(exitOK, "", "users", "list", "--json"); json.Unmarshal([]byte(out), &users) != nil || len(users) != 2 {
		t.Errorf("as JSON: %s", out)
	}
	if out, _ = ada.run(exitOK, "", "groups", "list"); !strings.Contains(out, strings.TrimSpace(id)) || !strings.Contains(out, "join") {
		t.Errorf("groups:\n%s", out)
	}
	ada.says(exitUsage, "", []string{"--since -1h0m0s", "more than nothing"}, "audit", "--since", "-1h")
	out, said := ada.run(exitOK, "", "audit", "--since", "1h", "--limit", "2")
	if strings.Count(out, "\n") != 3 || !strings.Contains(out, "Ada (by a key)") || !strings.Contains(said, "--before") {
		t.Errorf("audit:\n%s%s", out, said)
	}
	if out, _ = ada.run(exitOK, "", "audit", "--outcome", "denied"); !strings.Contains(out, "GET /admin/users") || !strings.Contains(out, "Grace") {
		t.Errorf("what was denied:\n%s", out)
	}
	if out, _ = ada.run(exitOK, "", "audit", "--user", "Grace@example.com"); !strings.Contains(out, "Grace") || strings.Contains(out, "Ada") {
		t.Errorf("of one person:\n%s", out)
	}
	ada.says(exitFailed, "", []string{"nobody@example.com", "harvest users list"}, "audit", "--user", "nobody@example.com")
	ada.says(exitFailed, "", []string{`"engin"`, "harvest projects list"}, "audit", "--project", "engin")
	ada.says(exitOK, "", []string{"there are no such entries"}, "audit", "--project", "01a22f21-0288-70df-a97b-98e6560bf773")
	ada.says(exitOK, "", []string{"removed the group platform"}, "groups", "delete", "platform")

	ada.says(exitOK, "", []string{"is shut out now"}, "users", "disable", "grace@example.com")
	if _, said := grace.run(exitFailed, "", "users", "list"); !strings.Contains(said, "key") {
		t.Errorf("by the key of who is disabled: %s", said)
	}
	if _, said := grace.run(exitFailed, "a better sentence\n", "login", r.base, "--email", "grace@example.com"); !strings.Contains(said, "disabled") {
		t.Errorf("who is disabled is told %q", said)
	}
	if out, _ = ada.run(exitOK, "", "users", "list"); !strings.Contains(out, "disabled") {
		t.Errorf("with a disabled person:\n%s", out)
	}
	if _, said := ada.run(exitFailed, "", "users", "disable", "ada@example.com"); !strings.Contains(said, "last admin") {
		t.Errorf("the last admin is told %q", said)
	}
	ada.run(exitFailed, "", "users", "role", "ada@example.com", "regular")
	ada.run(exitOK, "", "users", "enable", "grace@example.com")
	grace.run(exitOK, "", "users", "list")
	ada.says(exitOK, "a third sentence\n", []string{"grace@example.com has a new password"}, "users", "password", "grace@example.com")
	grace.run(exitFailed, "a better sentence\n", "login", r.base, "--email", "grace@example.com")
	grace.says(exitFailed, "a better sentence\na fourth sentence\n", []string{"password"}, "users", "password")
	grace.says(exitOK, "a third sentence\na fourth sentence\n", []string{"your password is changed"}, "users", "password")
	grace.run(exitOK, "a fourth sentence\n", "login", r.base, "--email", "grace@example.com")
}

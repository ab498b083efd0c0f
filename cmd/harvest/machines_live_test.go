package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

// crewOf is somebody at a terminal on r, with a key of a person.
func crewOf(t *testing.T, r *rig, key string) *teamProgram {
	t.Helper()
	return newTeamProgram(t, map[string]string{urlVariable: r.base, tokenVariable: key})
}

// The commands of a terminal on a real machine: its own output and exit code, in both
// directions, whatever way it ends.
func TestAMachineByCommands(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	r := newRig(t, upgradeScript, machinesTOML(t, f.URL))
	s := newMachineSite(t, r, f)
	agent := s.install(t, r)
	host := agent.Hostname
	chief := crewOf(t, r, r.token)
	chief.says(exitOK, "", []string{host, "online", "yard"}, "agents", "list")

	out, errs := chief.run(7, "", "run", host, "--description", "a try", "--", `printf 'a\0b\377c\n'; echo oops >&2; exit 7`)
	if out != "a\x00b\xffc\n" || errs != "oops\n" {
		t.Errorf("%q, %q", out, errs)
	}
	if out, _ := chief.run(exitOK, "", "run", host, "--", "printf", "%s|", "it's", "$HOME", "a  b"); out != "it's|$HOME|a  b|" {
		t.Errorf("words are %q", out)
	}
	var numbers strings.Builder
	for i := range 300_000 { // of more than is told as it comes, and not more than is kept
		fmt.Fprintln(&numbers, i+1)
	}
	if out, errs := chief.run(exitOK, "", "run", host, "--", "seq 300000"); out != numbers.String() || strings.Contains(errs, "left out") {
		t.Errorf("%d bytes of %d: %s", len(out), numbers.Len(), errs)
	}
	out, errs = chief.run(exitOK, "", "run", host, "--", "seq 900000")
	if !strings.HasPrefix(out, "1\n2\n") || !strings.HasSuffix(out, "\n900000\n") || len(out) != 2<<20 || !strings.Contains(errs, "bytes of the standard output are left out") {
		t.Errorf("%d bytes …%q: %s", len(out), out[max(0, len(out)-20):], errs)
	}
	chief.run(exitOK, "the value of this test\n", "secrets", "set", "LOCK", "--project", "yard")
	if out, _ := chief.run(exitOK, "", "run", host, "--env", "KEY=secret://LOCK", "--", `echo "${#KEY} $KEY"`); out != "22 [secret LOCK]\n" {
		t.Errorf("with a secret: %q", out)
	}
	chief.says(exitTimedOut, "", []string{"time limit", "--timeout"}, "run", host, "--timeout", "1s", "--", "sleep 60")
	chief.says(exitNotRun, "", []string{"variable"}, "run", host, "--env", "1=secret://LOCK", "--", "ls")

	id := chief.says(exitOK, "", nil, "run", host, "--detach", "--", "echo begun; sleep 60")
	shows, _ := chief.watching("agents", "logs", id)
	shows("begun")
	chief.says(exitOK, "", []string{"harvest agents logs " + id}, "agents", "cancel", id)
	chief.says(exitStopped, "", []string{"begun", "canceled"}, "agents", "logs", id)
	chief.says(exitFailed, "", []string{"ended already"}, "agents", "cancel", id)
	chief.says(exitOK, "", []string{id, "canceled", "timed out", "seq 900000"}, "agents", "commands", host)
	if said := chief.at(5, "exit 5\n", "agents", "console", host); said != "" {
		t.Errorf("the console says %q", said)
	}
}

// Where others approve, a command waits for them; one whose machine stays away never runs.
func TestCommandsThatWait(t *testing.T) {
	t.Parallel()
	f := newFront(t)
	r := newRig(t, upgradeScript, machinesTOML(t, f.URL))
	s := newMachineSite(t, r, f)
	host := s.install(t, r).Hostname
	chief := crewOf(t, r, r.token)
	chief.says(exitOK, "", []string{"changed"}, "projects", "settings", "yard", "--approvers", "others", "--command-policy", "always")
	chief.says(exitOK, "", []string{"not who asked", "always ask"}, "projects", "settings", "yard")
	project, err := r.store.Project(t.Context(), s.project)
	if err != nil {
		t.Fatal(err)
	}
	grace, ada := crewOf(t, r, r.person(t, "Grace", project.GroupID).key), crewOf(t, r, r.person(t, "Ada", project.GroupID).key)

	seen := filepath.Join(s.root, "seen")
	over := ada.beside(t.Context(), nil, "run", host, "--", "echo done > "+seen+"; echo ran")
	id := grace.pending(t)
	if _, err := os.Stat(seen); err == nil {
		t.Error("it ran before it was approved")
	}
	grace.says(exitOK, "", []string{host, seen, "asked for it, and may not approve"}, "actions", "show", id)
	grace.says(exitOK, "", []string{"approved; it is run now", "harvest agents logs " + id}, "actions", "approve", id)
	if code, text := over(); code != exitOK || !strings.Contains(text, "waits for approval") || !strings.Contains(text, "harvest actions approve "+id) || !strings.HasSuffix(text, "ran\n") {
		t.Errorf("%d:\n%s", code, text)
	}
	over = ada.beside(t.Context(), nil, "run", host, "--", "true")
	grace.says(exitOK, "", []string{"rejected"}, "actions", "reject", grace.pending(t), "--reason", "not today")
	if code, text := over(); code != exitNotRun || !strings.Contains(text, "it never ran. The reason given") || !strings.Contains(text, "not today") {
		t.Errorf("%d:\n%s", code, text)
	}

	chief.says(exitOK, "", nil, "projects", "settings", "yard", "--approvers", "members")
	if _, err := r.pool.Exec(t.Context(), `insert into agents (id, project_id, hostname, token_hash) values ($1, $2, 'ghost', $1::text::bytea)`, domain.NewID(), s.project); err != nil {
		t.Fatal(err)
	}
	chief.says(exitNotRun, "", []string{"ghost is not connected; the command waits for it", "never ran", "--wait"}, "run", "ghost", "--wait", "1s", "--", "true")
	chief.says(exitOK, "", []string{"removed the machine ghost"}, "agents", "delete", "ghost")
}

// pending waits for the one action of the project that waits, and gives its id.
func (p *teamProgram) pending(t *testing.T) string {
	t.Helper()
	for t.Context().Err() == nil {
		out, _ := p.run(exitOK, "", "actions", "list", "--project", "yard", "--status", "pending")
		if _, row, found := strings.Cut(out, "\n"); found {
			id, _, _ := strings.Cut(row, " ")
			return id
		}
	}
	return ""
}

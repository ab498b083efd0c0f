package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestATeamUsesProjectsByCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t, `{"rounds":[{"text":"In turns."}]}`, "[[llm]]\nprovider = \"scripted\"\nmodel = \"s\"\nscript = SCRIPT\n")
	ada := newTeamProgram(t, map[string]string{urlVariable: r.base, tokenVariable: r.token})
	if _, said := ada.run(exitOK, "", "projects", "list"); !strings.Contains(said, "there are no projects") {
		t.Errorf("before: %s", said)
	}
	id, _ := ada.run(exitOK, "", "projects", "create", "engine", "--description", "The engine.")
	if list, _ := ada.run(exitOK, "", "projects", "list"); !strings.Contains(list, strings.TrimSpace(id)+"  engine") {
		t.Errorf("list: %s", list)
	}
	if shown, _ := ada.run(exitOK, "", "projects", "show", "engine"); !strings.Contains(shown, `"description": "The engine."`) {
		t.Errorf("shown: %s", shown)
	}
	made, _ := ada.run(exitOK, "", "conversations", "create", "--project", "engine", "Storage of turns")
	made = strings.TrimSpace(made)
	if list, _ := ada.run(exitOK, "", "conversations", "list", "--project", "engine"); !strings.Contains(list, made) || !strings.Contains(list, "Storage of turns") {
		t.Errorf("conversations: %s", list)
	}
	if _, said := ada.run(exitOK, "", "conversations", "list"); !strings.Contains(said, "there are no conversations") {
		t.Errorf("own conversations: %s", said)
	}
	if text, _ := ada.run(exitOK, "", "conversations", "export", made, "--project", "engine"); !strings.HasPrefix(text, "# Storage of turns\n") {
		t.Errorf("export: %s", text)
	}
	if answer, _ := ada.run(exitOK, "", "ask", "--json", "--project", "engine", "--conversation", made, "Where are turns stored?"); !strings.Contains(answer, "In turns.") {
		t.Errorf("answer: %s", answer)
	}
	if text, _ := ada.run(exitOK, "", "--plain", "ask", "--project", "engine", "And runs?"); !strings.Contains(text, "In turns.") {
		t.Errorf("shown: %s", text)
	}
	if text, _ := ada.run(exitOK, "", "conversations", "export", made, "--project", "engine"); !strings.Contains(text, "Where are turns stored?") || !strings.Contains(text, "In turns.") {
		t.Errorf("export after the turn: %s", text)
	}
	lookBack(ada, made)
	ada.run(exitOK, "", "groups", "create", "motors")
	ada.says(exitOK, "", []string{"the project engine belongs to the group motors now"}, "projects", "move", "engine", "motors")
	if shown, _ := ada.run(exitOK, "", "projects", "show", "engine"); !strings.Contains(shown, `"group_name": "motors"`) {
		t.Errorf("moved: %s", shown)
	}
	ada.run(exitFailed, "", "projects", "move", "engine", "nobodys")
	ada.run(exitUsage, "", "conversations", "export", made, "--format", "pdf")
	ada.run(exitFailed, "", "conversations", "export", made)
	ada.run(exitFailed, "", "conversations", "list", "--project", "none")
	if said, _ := ada.run(exitOK, "", "projects", "delete", "engine"); !strings.Contains(said, "removed: 2 conversations, 4 messages, 2 turns, of which 0 ran, 0 machines, 0 commands") {
		t.Errorf("deleted: %s", said)
	}
	ada.run(exitFailed, "", "projects", "show", "engine")
}

// lookBack sees what was said in a conversation, and what it took.
func lookBack(ada *teamProgram, conversation string) {
	ada.t.Helper()
	for _, name := range []string{conversation, "Storage of turns"} {
		ada.says(exitOK, "", []string{"# Storage of turns", "Where are turns stored?", "Harvest", "In turns."}, in("conversations", "show", name)...)
	}
	ada.says(exitOK, "", []string{"And runs?"}, in("conversations", "show")...)
	ada.says(exitFailed, "", []string{"there is no conversation", "harvest conversations list"}, in("conversations", "show", "nothing")...)
	ada.says(exitFailed, "", []string{"there are no conversations", "--project"}, "conversations", "show")
	var whole struct {
		ID       string            `json:"id"`
		Messages []json.RawMessage `json:"messages"`
	}
	if out := ada.says(exitOK, "", nil, in("conversations", "show", conversation, "--json")...); json.Unmarshal([]byte(out), &whole) != nil || whole.ID != conversation || len(whole.Messages) != 2 {
		ada.t.Errorf("as JSON: %s", out)
	}
	if out := ada.says(exitOK, "", []string{conversation, "Storage of turns"}, in("conversations", "search", "turns", "stored")...); strings.Count(out, "\n") != 1 {
		ada.t.Errorf("found:\n%s", out)
	}
	ada.says(exitOK, "", []string{`"conversation_id": "` + conversation}, in("conversations", "search", "stored", "--json")...)
	ada.says(exitOK, "", []string{"nothing was found"}, in("conversations", "search", "elsewhere")...)
	ada.says(exitUsage, "", []string{"look for"}, in("conversations", "search")...)

	var sums domain.ProjectUsage
	if out := ada.says(exitOK, "", nil, "projects", "usage", "engine", "--json"); json.Unmarshal([]byte(out), &sums) != nil || sums.Total.Turns != 2 {
		ada.t.Errorf("usage as JSON: %s", out)
	}
	ada.says(exitOK, "", []string{"BY", "OUTPUT TOKENS", "day     " + sums.To, "person  ", "model   s", "all     "}, "projects", "usage", "engine")
	ada.says(exitOK, "", []string{"no turns from 2020-01-01 to 2020-01-02"}, "projects", "usage", "engine", "--from", "2020-01-01", "--to", "2020-01-02")
	ada.says(exitFailed, "", []string{"is not a day"}, "projects", "usage", "engine", "--from", "yesterday")
}
